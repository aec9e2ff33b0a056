import { ConfigError, type ConfigFault } from '../config/config.ts'

/** Why a file was not taken over, in a form that passes between processes. */
export type FileFault =
  | { readonly kind: 'faults'; readonly faults: readonly ConfigFault[] }
  | { readonly kind: 'other'; readonly message: string }

/** What can be said of an error in another process. */
export function toFileFault(error: unknown): FileFault {
  if (error instanceof ConfigError) return { kind: 'faults', faults: error.faults }
  return { kind: 'other', message: error instanceof Error ? error.message : String(error) }
}

/** The error again. */
export function fromFileFault(fault: FileFault): Error {
  return fault.kind === 'faults' ? new ConfigError(fault.faults) : new Error(fault.message)
}
