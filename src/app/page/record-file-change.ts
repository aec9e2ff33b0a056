import { WireError } from '../../formats/error.ts'
import { LedgerUnavailable, type AuditMark, type Ledger } from '../../ledger/ledger.ts'

/** A change of a file by the page. */
export interface FileChange {
  /** Name of the file. */
  readonly object: string
  /** Fingerprints. */
  readonly before: string
  readonly after: string
  readonly user: string | undefined
}

/** Options of {@link recordFileChange}. */
export interface FileRecording {
  /** `undefined`: no changes are recorded. */
  readonly record: () => Ledger['record'] | undefined
  /** Unix milliseconds. */
  readonly now: () => number
}

/**
 * Records a change before the file is written, by fingerprints only: files have names and addresses.
 *
 * @throws {WireError} 503: it cannot be recorded, and must not be made
 */
export async function recordFileChange(
  { object, before, after, user }: FileChange,
  { record, now }: FileRecording,
): Promise<AuditMark | undefined> {
  try {
    return await record()?.({
      time: now(),
      actor: user ?? 'without sign-in',
      via: 'page',
      action: 'file.changed',
      object,
      before: { fingerprint: before },
      after: { fingerprint: after },
    })
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    const message = 'The file was not changed, since the change cannot be recorded now; see the service log'
    throw new WireError(503, 'overloaded_error', 'store_unavailable', message, {
      headers: { 'retry-after': '1' },
      cause: error,
    })
  }
}
