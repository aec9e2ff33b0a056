import type { Host } from '../../extensions/extension.ts'
import { invalidRequest } from '../../formats/error.ts'
import { endKey, makeKey, parseKeyRequest, type MadeKey } from '../../people/keys/manage-keys.ts'
import { recordedChanges, type KeyLedger } from '../../people/keys/recorded-change.ts'
import { noSuchTeam, parsed, uncachedJson, withLedger } from '../../people/keys/responses.ts'
import { ClientLeft } from '../entrance/read-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import type { AccessFileAnswer, AccessFileChange, LimitDraftAnswer, ProgramKeyChange } from './page-api.ts'

/** The line of a key that is not made yet. */
const unusedLine = 999_999_999_999_999

/** The limit of a key, without the key. */
type LimitOfKey = NonNullable<ProgramKeyChange['limit']>

/** access.json, into which the limit is written. All functions may throw {@link WireError}. */
interface LimitEditor {
  draft(
    draft: { readonly limit: LimitOfKey },
    version: undefined,
  ): Promise<Pick<LimitDraftAnswer, 'base' | 'text' | 'faults'>>
  change(change: AccessFileChange, user: string | undefined): Promise<AccessFileAnswer>
}

/** What the keys of programs are made with. */
export interface KeyMaking {
  readonly hasTeam: (name: string) => boolean
  readonly editor: LimitEditor
  readonly log: Host['log']
  /** Unix milliseconds. */
  readonly now: () => number
}

/** A key of a program that an owner asks for. */
interface AskedKey extends KeyMaking {
  readonly ledger: KeyLedger
  /** As it was sent. */
  readonly key: unknown
  readonly limit: LimitOfKey | undefined
}

interface WantedKey extends AskedKey {
  readonly request: ReturnType<typeof parseKeyRequest>
}

/** Makes a key with its limit, or neither. @throws {WireError} */
export async function makeProgramKey(context: HandlerContext, asked: AskedKey): Promise<Response> {
  const { key, limit, editor, hasTeam } = asked
  const request = parsed(parseKeyRequest, key)
  if (request.team !== undefined && !hasTeam(request.team)) throw noSuchTeam()
  // Checked before there is a key.
  if (limit !== undefined) await drafted(editor, limit, unusedLine)
  return uncachedJson(await withLedger(() => keyWithLimit(context, { ...asked, request })))
}

/** Makes both. The key ends again when the limit is not written, or the caller leaves before the answer. */
async function keyWithLimit(context: HandlerContext, wanted: WantedKey): Promise<MadeKey> {
  const { ledger, request, limit, editor, log, now } = wanted
  const { caller, left = context.request.signal } = context
  const maker = () => ({ by: caller.name ?? 'an owner', now: now() })
  const changeBy = recordedChanges(ledger, 'page', log)
  const change = changeBy(context)
  const made = await makeKey(change.keys, request, maker())
  change.noted('a key was made', made.id)
  try {
    if (left.aborted) throw new ClientLeft()
    if (limit === undefined) return made
    const { base, text } = await drafted(editor, limit, made.line)
    const { version } = await editor.change({ version: base.version, text }, caller.name)
    if (!left.aborted) return made
    await editor.change({ version, text: base.text ?? '{}\n' }, caller.name)
    throw new ClientLeft()
  } catch (error) {
    const ending = changeBy(context)
    try {
      await endKey(ending.keys, made.id, maker())
      ending.noted('a key was ended: its limit was not written, or its maker left', made.id)
    } catch (reason) {
      // Its text was shown to no one.
      log.error('a key without its limit was not ended', { key: made.id, reason: String(reason) })
    }
    throw error
  }
}

/** access.json with the limit of a key. @throws {WireError} 400 for faults */
async function drafted(
  editor: LimitEditor,
  limit: LimitOfKey,
  line: number,
): Promise<Pick<LimitDraftAnswer, 'base' | 'text'>> {
  if ('for' in limit) throw invalidRequest('invalid_value', "'limit.for' is the key itself: leave it out", 'limit')
  const { faults, ...draft } = await editor.draft({ limit: { for: `key:${line}`, ...limit } }, undefined)
  if (faults.length === 0) return draft
  throw invalidRequest('invalid_value', faults.map(({ message }) => message).join(' '), 'limit')
}
