import type { JsonObject } from '../../base/json-value.ts'
import { invalidRequest, WireError } from '../../formats/error.ts'
import type { AccessCheckAnswer, AccessFileAnswer, AccessFileChange } from '../../http/page/page-api.ts'
import type { AccessPolicy } from '../../limits/access-policy.ts'
import { ConfigError, formatFault } from '../config.ts'
import { configBytesMax, tooLarge } from '../file/parse-config.ts'
import { readConfigText } from '../file/read-text.ts'
import { fingerprint } from '../watch/fingerprint.ts'
import { changePageFile, faultsInWords, fileRefusals, type FileRecording } from './change-page-file.ts'
import { concurrencyLimit } from './concurrency-limit.ts'
import { limitAt, withLimit, type LimitDraft } from './limit-draft.ts'

const waitingMax = 100
const { asFaults, conflict } = fileRefusals('access.json')

/** access.json, as owners edit it on the page. */
export interface AccessEditor {
  /** The file as it is, whether its text is valid or not. @throws {WireError} 409 `no_folder`, `faulty_file` */
  read(): Promise<AccessFileAnswer>
  /** The faults of a text. Nothing is written. @throws {WireError} 409 `no_folder` */
  check(text: string): Promise<AccessCheckAnswer>
  /**
   * The text with a limit added, changed or removed, and its faults. Nothing is written.
   *
   * @param version the draft is made only of the file with this fingerprint; absent: of any
   * @throws {WireError} 409 `no_folder`, `faulty_file`, `conflict`; 404 for a place without a limit
   */
  draft(draft: LimitDraft, version: string | undefined): Promise<DraftedAccess>
  /**
   * Replaces the file, or makes it. Resolves when all processes use it, and not the one before. Changes are serialized.
   *
   * @throws {WireError} 400 for a text with faults; 409 `no_folder`; 503 `not_active`; as `changePageFile` does
   */
  change(change: AccessFileChange, user: string | undefined): Promise<AccessFileAnswer>
}

/** access.json with a limit that is not saved yet. */
export interface DraftedAccess {
  readonly base: AccessFileAnswer
  /** The entry as it is in the file; absent: it is a new one. */
  readonly entry?: JsonObject
  readonly text: string
  readonly faults: AccessCheckAnswer['faults']
  /** Absent: the text has faults. */
  readonly policy?: AccessPolicy
}

/** access.json, which the service follows. */
export interface FollowedAccess {
  /** Checks a text as a reload does, and applies nothing. @throws {ConfigError} */
  check(text: string): Promise<AccessPolicy>
  /** @returns whether no process of the service uses another content any more */
  reload(): Promise<boolean>
}

export interface AccessEditorOptions extends FileRecording {
  /** Path of access.json; `undefined` without a home folder. */
  readonly file: string | undefined
  /** The active limits; `undefined`: they follow no file. */
  readonly access: () => FollowedAccess | undefined
}

/** Lets owners read, check and replace access.json. */
export function accessEditor({ file, access, ...recording }: AccessEditorOptions): AccessEditor {
  const oneChange = concurrencyLimit({ concurrentMax: 1, waitingMax })

  /** @throws {WireError} 409 */
  function followed(): { readonly path: string; readonly active: FollowedAccess } {
    const active = access()
    if (file !== undefined && active !== undefined) return { path: file, active }
    throw new WireError(
      409,
      'invalid_request_error',
      'no_folder',
      'There is no home folder for access.json: set SVC_HOME to a folder for the files of svc, and start svc again',
    )
  }

  /** @throws {ConfigError} */
  async function checkText(text: string): Promise<AccessPolicy> {
    const { path, active } = followed()
    const bytes = Buffer.byteLength(text)
    if (bytes > configBytesMax) throw new ConfigError([tooLarge(path, bytes)])
    return active.check(text)
  }

  async function faultsOf(text: string): Promise<Pick<DraftedAccess, 'faults' | 'policy'>> {
    try {
      return { faults: [], policy: await checkText(text) }
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return { faults: error.faults.map(faultEntry) }
    }
  }

  async function read(): Promise<AccessFileAnswer> {
    const { path } = followed()
    const text = await readConfigText(path).catch(asFaults)
    return { file: path, version: fingerprint(text), ...(text === undefined ? {} : { text }) }
  }

  return {
    read,
    async check(text) {
      const { faults } = await faultsOf(text)
      return { faults }
    },
    async draft(draft, version) {
      const base = await read()
      if (version !== undefined && version !== base.version) throw conflict()
      if (base.text !== undefined) await checkText(base.text).catch(asFaults)
      const entry = limitAt(base.text, draft.place)
      if (entry === undefined && draft.place !== undefined) throw noLimit(draft.place)
      const text = withLimit(base.text, draft)
      return { base, text, ...(entry === undefined ? {} : { entry }), ...(await faultsOf(text)) }
    },
    change: ({ version, text }, user) =>
      oneChange(async () => {
        const { path, active } = followed()
        const edit = async (): Promise<string> => {
          await checkText(text).catch(refuse)
          return text
        }
        await changePageFile({ file: path, version, user, edit }, recording)
        if (!(await active.reload())) throw notActive()
        return read()
      }),
  }
}

function noLimit(place: number): WireError {
  const message = `access.json has no limits[${place}]: look at the limits as they are now`
  return new WireError(404, 'invalid_request_error', 'not_found', message)
}

function notActive(): WireError {
  return new WireError(
    503,
    'overloaded_error',
    'not_active',
    'access.json is written, but not every process uses it: keys and limits of the file before may still count. ' +
      'The service log says why; SIGHUP makes svc load the file again',
  )
}

/** @throws {WireError} 400 for faults of the text */
function refuse(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error
  throw invalidRequest('invalid_value', `access.json was left as it is: ${faultsInWords(error)}.`, 'text')
}

function faultEntry({ line, column, ...fault }: ConfigError['faults'][number]): AccessCheckAnswer['faults'][number] {
  const message = formatFault({ ...fault, file: '' }).replace(/^: /, '')
  return line === undefined ? { message } : { line, column: column ?? 1, message }
}
