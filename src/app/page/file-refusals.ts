import { errorCode } from '../../base/error-code.ts'
import { ConfigError, formatFault } from '../../config/config.ts'
import { ConfigChangedError } from '../../config/edit/write-config.ts'
import { WireError } from '../../formats/error.ts'
import { harmless } from '../../observe/text.ts'

const faultsShownMax = 5

/** Errors for changes of a configuration file on the page. */
export interface FileRefusals {
  /** 409: the file was changed in the meantime. */
  conflict(): WireError
  /** Turns a ConfigError into 409 `faulty_file`. @throws always */
  asFaults(error: unknown): never
  /** Turns errors of writing into 409. @throws always */
  asRefusal(error: unknown): never
}

/** Returns the errors of one file. @param name such as `providers.json` */
export function fileRefusals(name: string): FileRefusals {
  const conflict = (): WireError =>
    new WireError(
      409,
      'invalid_request_error',
      'conflict',
      `${name} was changed in the meantime: look at it as it is now, then change it`,
    )
  return {
    conflict,
    asFaults(error) {
      if (!(error instanceof ConfigError)) throw error
      throw new WireError(
        409,
        'invalid_request_error',
        'faulty_file',
        `${name} has faults, and was left as it is: ${faultsInWords(error)}`,
        { cause: error },
      )
    },
    asRefusal(error) {
      if (error instanceof ConfigChangedError) throw conflict()
      const code = errorCode(error)
      if (code === undefined) throw error
      throw new WireError(
        409,
        'invalid_request_error',
        'not_writable',
        `${name} cannot be written (${code}): change it by hand, or let this service's user write it and its folder`,
        { cause: error },
      )
    },
  }
}

/** The first faults, in one line. */
export function faultsInWords({ faults }: ConfigError): string {
  const shown = faults.slice(0, faultsShownMax).map(formatFault)
  const more = faults.length - shown.length
  return harmless([...shown, ...(more > 0 ? [`${more} more`] : [])].join('; '))
}
