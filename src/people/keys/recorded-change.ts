import type { Host, RouteContext } from '../../extensions/extension.ts'
import type { AuditMark, ChangeVia, KeyTable, Ledger } from '../../ledger/ledger.ts'

/** The keys of a ledger, for routes that change them. */
export type KeyLedger = Pick<Ledger, 'keys' | 'keysVia'>

/** A change of keys by one request. */
export interface RecordedChange {
  readonly keys: KeyTable
  /** Logs the change, with its entry in the audit. @param id of the key */
  noted(message: string, id: number): void
}

/** Makes changes that are recorded, and logged. */
export function recordedChanges(
  ledger: KeyLedger,
  via: ChangeVia,
  log: Host['log'],
): (context: Pick<RouteContext, 'id' | 'caller'>) => RecordedChange {
  return ({ id: request, caller: { name: by } }) => {
    let entry: AuditMark | undefined
    return {
      keys: ledger.keysVia(via, (written) => {
        entry = written
      }),
      noted(message, id) {
        const audit = entry === undefined ? {} : { audit: entry.seq, chain: entry.chain }
        log.info(message, { request, key: id, by, ...audit })
      },
    }
  }
}
