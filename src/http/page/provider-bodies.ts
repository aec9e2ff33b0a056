import type { TextRule } from '../../base/text-rule.ts'
import { invalidRequest } from '../../formats/error.ts'
import { readBodyBy } from '../../formats/parse-json-object.ts'
import { listShape, objectShape } from '../../shapes/containers.ts'
import { integerShape, nullOr, numberShape, secretShape, textShape, wordShape } from '../../shapes/shape.ts'
import type { ProviderChange, ProviderLookRequest, ProviderTestRequest } from './page-api.ts'

/** Text without control characters. */
function lineRule(lengthMax: number): TextRule {
  const allowed = `text of 1 to ${lengthMax} characters, none of them a control character`
  return { allowed, pattern: /^[^\0-\x1f\x7f\p{Cs}]+$/u, lengthMax }
}

const idRule = lineRule(64)
const id = textShape(idRule)
const url = textShape(lineRule(2_048))
const name = textShape(lineRule(256))
const names = listShape(name, { min: 1, max: 500, noun: 'names', allowed: 'a list of 1 to 500 names' })
const ms = integerShape(1, 86_400_000)
const usd = numberShape(0, 1_000_000)
const price = objectShape({ input: usd, output: usd }, { isOpen: true, required: ['input', 'output'] })
const timeouts = objectShape({ connectMs: ms, firstTokenMs: ms, idleMs: ms, attemptMs: ms }, { isOpen: true })

/** Faults do not quote it. */
const typedKey = secretShape(
  textShape({
    allowed: 'a key: 1 to 8,192 visible ASCII characters without spaces, not beginning with "$"',
    pattern: /^(?!\$)[\u0021-\u007e]+$/,
    lengthMax: 8_192,
  }),
)

/** What a value means is checked where the entry is made. */
const entry = objectShape(
  {
    brand: id,
    baseUrl: url,
    protocol: wordShape(['openai', 'anthropic', 'gemini']),
    ...{ keyVariable: name, key: typedKey, models: names, timeouts },
  },
  { isOpen: true },
)

/** `null` for a key or models is a value of its own. */
const edit = objectShape(
  { baseUrl: url, keyVariable: nullOr(name), key: typedKey, models: nullOr(names), timeouts, price },
  { isOpen: true },
)

const place = integerShape(0, 10_000)
const changeMembers = {
  ...{ version: textShape(lineRule(128)), id },
  change: wordShape(['enable', 'disable', 'up', 'down', 'remove', 'move', 'add', 'edit']),
}
const changeRules = { isOpen: true, required: ['version', 'id', 'change'] } as const
const changeShape = objectShape(changeMembers, changeRules)
const moveShape = objectShape({ to: place }, { isOpen: true, required: ['to'] })
const addShape = objectShape({ entry, to: place }, { isOpen: true, required: ['entry'] })
const entryShape = objectShape({ entry }, { isOpen: true, required: ['entry'] })
const editShape = objectShape({ edit }, { isOpen: true, required: ['edit'] })
const idShape = objectShape({ id }, { isOpen: true, required: ['id'] })
/** The body of `POST /api/providers/test`. */
export const providerTestShape = objectShape({ id, model: name }, { isOpen: true, required: ['id'] })

/** The body of `POST /api/providers`, of any change. */
export const providerChangeShape = objectShape({ ...changeMembers, entry, edit, to: place }, changeRules)
/** The body of `POST /api/providers/look`, of either kind. */
export const providerLookShape = objectShape({ id, entry, edit }, { isOpen: true, required: ['id'] })

/** Reads the body of `POST /api/providers`. @throws {WireError} 400 */
export function parseProviderChange(body: Uint8Array): ProviderChange {
  const { change, ...given } = readBodyBy(body, changeShape)
  switch (change) {
    case 'move':
      return { ...given, change, ...readBodyBy(body, moveShape) }
    case 'add':
      return { ...given, change, ...readBodyBy(body, addShape) }
    case 'edit':
      return { ...given, change, ...readBodyBy(body, editShape) }
    default:
      return { ...given, change }
  }
}

/** Reads the body of `POST /api/providers/look`: it has `edit`, or `entry`. @throws {WireError} 400 */
export function parseProviderLook(body: Uint8Array): ProviderLookRequest {
  const given = readBodyBy(body, idShape)
  const { edit: edits } = readBodyBy(body, objectShape({ edit }, { isOpen: true }))
  return edits === undefined ? { ...given, ...readBodyBy(body, entryShape) } : { ...given, edit: edits }
}

/** Reads the body of `POST /api/providers/test`. @throws {WireError} 400 */
export function parseProviderTest(body: Uint8Array): ProviderTestRequest {
  return readBodyBy(body, providerTestShape)
}

/** Reads the query of `GET /api/providers/settings`. @throws {WireError} 400 */
export function parseSettingsId(target: URL): string {
  const text = target.searchParams.get('id')
  if (text === null) throw invalidRequest('missing_required_parameter', "'id' is required.", 'id')
  if (text.length <= idRule.lengthMax && idRule.pattern.test(text)) return text
  throw invalidRequest('invalid_value', `'id' must be ${idRule.allowed}.`, 'id')
}
