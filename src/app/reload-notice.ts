import { ConfigError, formatFault } from '../config/config.ts'
import type { ReloadNotice } from '../http/page/page-api.ts'
import { harmless } from '../observe/text.ts'

/**
 * The notice to owners that a reload failed. Faults contain no secrets; other errors are only in the log.
 *
 * @param time Unix milliseconds
 */
export function reloadNotice(error: unknown, time: number): ReloadNotice {
  const faults =
    error instanceof ConfigError
      ? error.faults.map((fault) => harmless(formatFault(fault)))
      : ['internal error; see the service log']
  return { time, faults }
}
