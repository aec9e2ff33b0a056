import { basename } from 'node:path'
import { errorCode } from '../../base/error-code.ts'
import { harmless } from '../../base/shown-text.ts'
import { WireError } from '../../formats/error.ts'
import { LedgerUnavailable, type AuditMark, type Ledger, type NewEntry } from '../../ledger/ledger.ts'
import type { Logger } from '../../observe/log.ts'
import { ConfigError, formatFault } from '../config.ts'
import { readConfigText } from '../file/read-text.ts'
import { fingerprint } from '../watch/fingerprint.ts'
import { ConfigChangedError, writeConfig } from './write-config.ts'

/** A change of a configuration file on the page. */
export interface PageFileChange {
  /** Path of the file. */
  readonly file: string
  /** Fingerprint of the text that the change is based on. */
  readonly version: string
  readonly user: string | undefined
  /** Makes the new text of the present one; `undefined`: there is no file. @throws {WireError} when it is not valid */
  readonly edit: (present: string | undefined) => string | Promise<string>
  /** Called instead of comparing versions when there is no file. Absent: versions are compared. @throws {WireError} */
  readonly missing?: (() => never) | undefined
  /** Further fields of the log line. */
  readonly fields?: Readonly<Record<string, string>>
}

export interface FileRecording {
  /** `undefined`: no changes are recorded. */
  readonly record: () => Ledger['record'] | undefined
  /** Unix milliseconds. */
  readonly now: () => number
  readonly log: Pick<Logger, 'info'>
}

/**
 * Changes a configuration file, if it still has the expected version. The change is recorded before the file is
 * written, by fingerprints only, since files have names and addresses. A text that stays the same is not written.
 *
 * @returns whether the file was changed
 * @throws {WireError} 409 `conflict`, `faulty_file`, `not_writable`; 503 when the change cannot be recorded; errors of
 *   `edit`
 */
export async function changePageFile(change: PageFileChange, recording: FileRecording): Promise<boolean> {
  const { file, version, user, edit, missing, fields = {} } = change
  const { conflict, asFaults, asRefusal } = fileRefusals(basename(file))
  const present = await readConfigText(file).catch(asFaults)
  if (present === undefined) missing?.()
  if (fingerprint(present) !== version) throw conflict()
  const edited = await edit(present)
  if (edited === present) return false
  const facts = { before: { fingerprint: version }, after: { fingerprint: fingerprint(edited) } }
  const mark = await recordEdit({ object: basename(file), ...facts }, user, recording)
  await writeConfig(file, edited, version).catch(asRefusal)
  recording.log.info(`${basename(file)} was changed on the page`, {
    ...fields,
    ...(user === undefined ? {} : { user }),
    ...(mark === undefined ? {} : { audit: mark.seq, chain: mark.chain }),
  })
  return true
}

/** Records a change of a file. @throws {WireError} 503: it cannot be recorded, and must not be made */
export async function recordEdit(
  change: Pick<NewEntry, 'object' | 'before' | 'after'>,
  user: string | undefined,
  { record, now }: Pick<FileRecording, 'record' | 'now'>,
): Promise<AuditMark | undefined> {
  try {
    return await record()?.({
      time: now(),
      actor: user ?? 'without sign-in',
      via: 'page',
      action: 'file.changed',
      ...change,
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
