import { readBodyBy } from '../../formats/parse-json-object.ts'
import { listShape, namedShape, objectShape } from '../../shapes/containers.ts'
import {
  eitherShape,
  flagShape,
  integerShape,
  mapShape,
  nullOr,
  numberShape,
  textShape,
  type ValueShape,
} from '../../shapes/shape.ts'
import { readControlBody, type BodyTimes } from '../entrance/read-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { checkEditor, type EditorCheck } from './owner-check.ts'
import type {
  AccessCheckAnswer,
  AccessFileAnswer,
  AccessFileChange,
  LimitDraftAnswer,
  LimitDraftChange,
} from './page-api.ts'

/** A file of 1 MiB, with its quotes and line breaks escaped. */
const bodyBytesMax = 3 * 1024 * 1024
/** A lone surrogate would be written as another character. */
const text = textShape({ allowed: 'the text of the file, in Unicode', pattern: /^\P{Cs}*$/u, lengthMax: bodyBytesMax })
const version = textShape({ allowed: 'the fingerprint of the text that was read', pattern: /^/, lengthMax: 128 })
const checkShape = objectShape({ text }, { isOpen: true, required: ['text'] })
const changeShape = objectShape({ version, text }, { isOpen: true, required: ['version', 'text'] })

const draftBytesMax = 64 * 1024
const word = textShape({ allowed: 'text in Unicode', pattern: /^\P{Cs}*$/u, lengthMax: 1_024 })
/** One entry of `limits`; the whole file is checked with it. */
export const limitShape = mapShape(
  namedShape(
    eitherShape(
      {
        string: word,
        number: numberShape(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
        boolean: flagShape,
        array: listShape(word, { max: 1_000 }),
      },
      'a text, a number, true, false or a list of texts',
    ),
    { max: 20 },
  ),
  (members) => Object.fromEntries(members),
)
const draftShape = objectShape({ version, place: integerShape(0, 1_000), limit: nullOr(limitShape) }, { isOpen: true })

/** Options of {@link accessFileApi}. All functions may throw {@link WireError}. */
export interface AccessFileApiOptions extends EditorCheck {
  readonly read: () => Promise<AccessFileAnswer>
  readonly check: (text: string) => Promise<AccessCheckAnswer>
  readonly draft: (draft: LimitDraftChange) => Promise<LimitDraftAnswer>
  /** Resolves when the change has been applied. */
  readonly change: (change: AccessFileChange, user: string | undefined) => Promise<AccessFileAnswer>
  /** Time limits of request bodies. */
  readonly bodyTimes: BodyTimes
}

/** `/api/limits/file`, `check` and `draft`: owners read, check and replace access.json (docs/limits.md). */
export function accessFileApi(options: AccessFileApiOptions): readonly Route[] {
  const { read, check, draft, change, bodyTimes } = options
  const checkMayEdit = (context: HandlerContext): void =>
    checkEditor(options, context, 'Limits are changed', 'access.json')
  const bodyOf = async <Value>({ request }: HandlerContext, shape: ValueShape<Value>, bytesMax = bodyBytesMax) =>
    readBodyBy(await readControlBody(request, { bytesMax, ...bodyTimes }), shape)

  return [
    {
      method: 'GET',
      path: '/api/limits/file',
      isPublic: false,
      async handle(context) {
        checkMayEdit(context)
        return jsonResponse(await read(), context.id)
      },
    },
    {
      method: 'POST',
      path: '/api/limits/file',
      isPublic: false,
      body: changeShape,
      async handle(context) {
        checkMayEdit(context)
        const wanted = await bodyOf(context, changeShape)
        return jsonResponse(await change(wanted, context.caller.name), context.id)
      },
    },
    {
      method: 'POST',
      path: '/api/limits/check',
      isPublic: false,
      body: checkShape,
      async handle(context) {
        checkMayEdit(context)
        const { text: given } = await bodyOf(context, checkShape)
        return jsonResponse(await check(given), context.id)
      },
    },
    {
      method: 'POST',
      path: '/api/limits/draft',
      isPublic: false,
      body: draftShape,
      async handle(context) {
        checkMayEdit(context)
        return jsonResponse(await draft(await bodyOf(context, draftShape, draftBytesMax)), context.id)
      },
    },
  ]
}
