import { ConfigError, formatFault } from '../config/config.ts'
import type { ReloadNotice } from '../http/page-api.ts'
import { harmless } from '../observe/text.ts'

/**
 * What owners are told when a changed file was not taken over. Faults hold no secrets; of anything else only the log
 * tells more.
 *
 * @param time Unix milliseconds
 */
export function reloadNotice(error: unknown, time: number): ReloadNotice {
  const faults =
    error instanceof ConfigError
      ? error.faults.map((fault) => harmless(formatFault(fault)))
      : ['the service could not take it over; its log tells more']
  return { time, faults }
}
