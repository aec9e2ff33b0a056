import type { Host } from '../../extensions/extension.ts'
import { invalidRequest, WireError } from '../../formats/error.ts'
import { readBodyBy } from '../../formats/parse-json-object.ts'
import { endKey, makeKey, parseKeyRequest, type MadeKey } from '../../people/keys/manage-keys.ts'
import { recordedChanges, type KeyLedger } from '../../people/keys/recorded-change.ts'
import { noSuchTeam, parsed, uncachedJson, withLedger } from '../../people/keys/responses.ts'
import { objectShape } from '../../shapes/containers.ts'
import { ClientLeft, readControlBody, type BodyTimes } from '../entrance/read-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import type { Route } from '../route.ts'
import { limitShape } from './access-file-api.ts'
import { checkEditor, checkOwner, type EditorCheck } from './owner-check.ts'
import type { AccessFileAnswer, AccessFileChange, LimitDraftAnswer, ProgramKeyChange } from './page-api.ts'

const bodyBytesMax = 64 * 1024
/** Members of both are texts, numbers, flags and lists. */
const bodyShape = objectShape({ key: limitShape, limit: limitShape }, { isOpen: true, required: ['key'] })
/** The line of a key that is not made yet. */
const unusedLine = 999_999_999_999_999

type Limit = NonNullable<ProgramKeyChange['limit']>

/** access.json, into which the limit is written. All functions may throw {@link WireError}. */
interface LimitEditor {
  draft(
    draft: { readonly limit: Limit },
    version: undefined,
  ): Promise<Pick<LimitDraftAnswer, 'base' | 'text' | 'faults'>>
  change(change: AccessFileChange, user: string | undefined): Promise<AccessFileAnswer>
}

/** Options of {@link programKeyApi}. */
export interface ProgramKeyApiOptions extends EditorCheck {
  /** `undefined`: the service has no keys. */
  readonly keys: () => KeyLedger | undefined
  readonly hasTeam: (name: string) => boolean
  readonly editor: LimitEditor
  readonly log: Host['log']
  /** Unix milliseconds. */
  readonly now: () => number
  /** Time limits of request bodies. */
  readonly bodyTimes: BodyTimes
}

/** `POST /api/program-keys`: owners make a key of a program with its limit, or neither (docs/keys.md). */
export function programKeyApi(options: ProgramKeyApiOptions): readonly Route[] {
  const { keys, hasTeam, bodyTimes, isOwner } = options
  return [
    {
      method: 'POST',
      path: '/api/program-keys',
      isPublic: false,
      body: bodyShape,
      async handle(context) {
        checkOwner(isOwner, context)
        const body = await readControlBody(context.request, { bytesMax: bodyBytesMax, ...bodyTimes })
        const { key, limit } = readBodyBy(body, bodyShape)
        if (limit !== undefined) checkEditor(options, context, 'Limits are changed', 'access.json')
        const ledger = keys()
        if (ledger === undefined) throw noKeys()
        const request = parsed(parseKeyRequest, key)
        if (request.team !== undefined && !hasTeam(request.team)) throw noSuchTeam()
        // Checked before there is a key.
        if (limit !== undefined) await drafted(options.editor, limit, unusedLine)
        return uncachedJson(await withLedger(() => keyWithLimit(context, { ...options, ledger, request, limit })))
      },
    },
  ]
}

interface WantedKey extends ProgramKeyApiOptions {
  readonly ledger: KeyLedger
  readonly request: ReturnType<typeof parseKeyRequest>
  readonly limit: Limit | undefined
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
  limit: Limit,
  line: number,
): Promise<Pick<LimitDraftAnswer, 'base' | 'text'>> {
  if ('for' in limit) throw invalidRequest('invalid_value', "'limit.for' is the key itself: leave it out", 'limit')
  const { faults, ...draft } = await editor.draft({ limit: { for: `key:${line}`, ...limit } }, undefined)
  if (faults.length === 0) return draft
  throw invalidRequest('invalid_value', faults.map(({ message }) => message).join(' '), 'limit')
}

/** 404. */
function noKeys(): WireError {
  return new WireError(404, 'invalid_request_error', 'no_keys', 'The service has no keys: start it with --auth keys')
}
