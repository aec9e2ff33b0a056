import type { Installed } from '../installed.ts'
import type { RunningProgram } from '../processes.ts'
import type { ProgramName } from '../programs.ts'

/** Parameters of the start of a proxy. */
export interface ProxySetting {
  /** Port of the mock upstream on 127.0.0.1. */
  readonly upstreamPort: number
  /** Core of the proxy. */
  readonly core: number
  /** Empty directory for its configuration and output. */
  readonly directory: string
  /** Called with each process as it starts, so that it is ended after a failure too. */
  readonly register: (program: RunningProgram) => void
}

/** A started proxy; it may not listen yet. */
export interface RunningProxy {
  readonly program: RunningProgram
  readonly port: number
  /** Request headers that select the upstream. */
  readonly headers: Readonly<Record<string, string>>
  /** Path of chat completions. Default: the usual one. */
  readonly path?: string
}

/**
 * `service`: svc. `gateway`: parses requests for models, as svc does. `relay`: passes HTTP on without parsing bodies.
 * `floor`: no product, but a lower bound of the runtime.
 */
export type ProxyKind = 'service' | 'gateway' | 'relay' | 'floor'

/** A proxy of the bench. */
export interface Proxy {
  /** Name in `--peers` and in tables. */
  readonly name: string
  readonly kind: ProxyKind
  /** Version source and settings, for the report. */
  readonly setup: string
  readonly needs: readonly ProgramName[]
  /** Installs its dependencies beyond programs of the system. @throws ProgramError when that fails */
  readonly prepare: () => Promise<void>
  /** Its name and version. Call after `prepare`. */
  readonly version: () => Promise<string>
  /** Measures its size on disk. Call after `prepare`. Absent where it has none. @throws ProgramError when that fails */
  readonly installed?: () => Promise<Installed>
  /** Starts it, without waiting until it listens. */
  readonly launch: (setting: ProxySetting) => Promise<RunningProxy>
}
