import { invalidRequest, WireError } from './error.ts'
import { checkUtf8, JsonCursor, JsonSyntaxError } from './json-cursor.ts'
import { runInSlices, runThrough, skip, sliceBytes } from './pace.ts'
import type { Pace, Walk } from './pace.ts'
import { missing } from './request-fault.ts'
import {
  checkChoice,
  checkNumber,
  checkStop,
  fieldNames,
  fieldRules,
  fields,
  readBoolean,
  readModel,
  readStreamOptions,
} from './request-fields.ts'
import { checkMessages } from './request-messages.ts'
import { join, splice } from './splice.ts'
import type { Edit } from './splice.ts'
import { encode } from './text.ts'

/** A member of the request's top-level object and where it stands in the bytes. Ends are exclusive. */
export interface Member {
  /** Decoded; empty when it takes more than 1,024 bytes. */
  readonly name: string
  /** Offset of the name's opening quote. */
  readonly start: number
  readonly valueStart: number
  /** Offset after the value. */
  readonly end: number
}

/**
 * A request that was checked (docs/api.md). The caller's bytes travel on; only what the gateway needs is read out of
 * them.
 */
export interface ChatRequest {
  /** The caller's bytes, complete. */
  readonly body: Uint8Array
  /** What the caller asked for. */
  readonly model: string
  readonly stream: boolean
  /** `stream_options.include_usage`. */
  readonly includeUsage: boolean
  /** Top-level members in the order they stand in the bytes. */
  readonly members: readonly Member[]
}

/** How a request differs for one upstream. Names are of top-level members; `model` is only changed by `model`. */
export interface ChatRequestChanges {
  /** The upstream's name for the model. */
  readonly model: string
  /** Name, as the upstream calls it → JSON value. Replaces what the caller sent, or is added. */
  readonly overrides?: Readonly<Record<string, unknown>>
  /** The caller's name → the upstream's. A member is left out when another one has the upstream's name already. */
  readonly rename?: Readonly<Record<string, string>>
  /** The caller's names of what is left out. */
  readonly drop?: readonly string[]
}

/**
 * Checks a request (docs/api.md) and reads what the gateway needs of it, without building the rest. For bodies up to 1
 * MiB; parseLargeChatRequest takes larger ones without holding up the others. Members that docs/api.md does not name
 * are not looked at, but there may be at most 10,000. Of a known member that stands twice the last counts and all are
 * checked; `model` may stand only once, since two readers might take different ones.
 *
 * @throws {WireError} 400: `invalid_json` before anything else, then the first fault as it stands in the body
 */
export function parseChatRequest(body: Uint8Array): ChatRequest {
  const cursor = new JsonCursor(body)
  try {
    const request = runThrough(readRequest(cursor, { limit: Infinity }))
    cursor.finish()
    return request
  } catch (error) {
    throw runThrough(faultOf(body, error, { limit: Infinity }))
  }
}

/**
 * As parseChatRequest, awaiting `pause` between pieces of work of a few milliseconds.
 *
 * @throws {WireError} as parseChatRequest
 */
export async function parseLargeChatRequest(body: Uint8Array, pause: () => Promise<void>): Promise<ChatRequest> {
  const cursor = new JsonCursor(body)
  const pace = { limit: sliceBytes }
  try {
    const request = await runInSlices(readRequest(cursor, pace), pause)
    if (cursor.hasHighBytes) await runInSlices(checkUtf8(body, pace), pause)
    return request
  } catch (error) {
    throw await runInSlices(faultOf(body, error, { limit: sliceBytes }), pause)
  }
}

/**
 * The request's body for one upstream, in pieces: the caller's bytes but for `model` and what else `changes` says. When
 * the model keeps its name and nothing else changes, it is the caller's bytes.
 */
export function encodeChatRequest(request: ChatRequest, changes: ChatRequestChanges): readonly Uint8Array[] {
  const { body, members } = request
  const { model, overrides = {}, rename = {}, drop = [] } = changes
  const hasNewNames = drop.length > 0 || Object.keys(rename).length > 0
  const names = hasNewNames ? upstreamNames(members, rename, drop) : members.map(({ name }) => name)
  const forced = Object.entries(overrides).filter(([name, value]) => name !== 'model' && value !== undefined)
  const edits: Edit[] = []
  let isFirst = true
  members.forEach((member, index) => {
    const { start, valueStart, end } = member
    const name = names[index]
    if (name === undefined) {
      // The comma before it goes with it, or the one after it when nothing before it stays. `model` always stays.
      if (isFirst) edits.push({ start, end: members[index + 1]?.start ?? end, replacement: nothing })
      else edits.push({ start: members[index - 1]?.end ?? start, end, replacement: nothing })
      return
    }
    isFirst = false
    if (name === 'model') {
      if (model !== request.model) edits.push({ start: valueStart, end, replacement: encodeJson(model) })
      const added = forced.filter(([forcedName]) => !names.includes(forcedName))
      if (added.length > 0) edits.push({ start: end, end, replacement: encodeMembers(added) })
      return
    }
    if (name !== member.name) edits.push({ start, end: nameEnd(body, start), replacement: encodeJson(name) })
    const override = forced.find(([forcedName]) => forcedName === name)
    if (override !== undefined) edits.push({ start: valueStart, end, replacement: encodeJson(override[1]) })
  })
  return splice(body, edits)
}

/** The request with one more message, given as JSON, after its last. */
export function appendMessage(request: ChatRequest, message: Uint8Array): ChatRequest {
  const last = request.members.findLast((member) => member.name === 'messages')
  if (last === undefined) return request
  const place = last.end - 1
  const replacement = join([comma, message])
  const added = replacement.length
  const members = request.members.map((member) => {
    if (member.end <= place) return member
    if (member === last) return { ...member, end: member.end + added }
    return {
      name: member.name,
      start: member.start + added,
      valueStart: member.valueStart + added,
      end: member.end + added,
    }
  })
  const body = join(splice(request.body, [{ start: place, end: place, replacement }]))
  return { ...request, body, members }
}

/** The name each member goes by upstream; undefined for those that are left out. */
function upstreamNames(
  members: readonly Member[],
  rename: Readonly<Record<string, string>>,
  drop: readonly string[],
): readonly (string | undefined)[] {
  const isDropped = (name: string) => name !== 'model' && drop.includes(name)
  const present = new Set(members.map(({ name }) => name))
  return members.map(({ name }) => {
    if (isDropped(name)) return undefined
    const target = name !== 'model' && Object.hasOwn(rename, name) ? rename[name] : undefined
    if (target === undefined || target === name) return name
    return present.has(target) && !isDropped(target) ? undefined : target
  })
}

function encodeMembers(members: readonly (readonly [string, unknown])[]): Uint8Array {
  return encode(members.map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`).join(''))
}

function encodeJson(value: unknown): Uint8Array {
  return encode(JSON.stringify(value))
}

function nameEnd(body: Uint8Array, start: number): number {
  const cursor = new JsonCursor(body)
  cursor.position = start
  cursor.skip()
  return cursor.position
}

const comma = encode(',')
const nothing = new Uint8Array(0)

/** Far more than any client sends; the place of each is remembered. */
const membersMax = 10_000
/** Names longer than this are not decoded. */
const nameBytesMax = 1024

function* readRequest(cursor: JsonCursor, pace: Pace): Walk<ChatRequest> {
  if (cursor.peek() !== 'object') throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
  const members: Member[] = []
  let model: string | undefined
  let hasMessages = false
  let stream = false
  let includeUsage = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const start = cursor.nameStart
    const code = cursor.nameCode(fields)
    const rule = fieldRules[code]
    const name = fieldNames[code] ?? (cursor.nameEnd - start <= nameBytesMax ? cursor.name() : '')
    const valueStart = cursor.position
    switch (rule?.kind) {
      case undefined:
        if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
        break
      case 'model':
        if (model !== undefined) throw invalidRequest('invalid_value', "The body has more than one 'model'.", 'model')
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        model = readModel(cursor, valueStart)
        break
      case 'messages':
        yield* checkMessages(cursor, pace)
        hasMessages = true
        break
      case 'stop':
        yield* checkStop(cursor, pace)
        break
      case 'stream_options':
        includeUsage = yield* readStreamOptions(cursor, pace)
        break
      case 'boolean': {
        const value = readBoolean(cursor, name)
        if (name === 'stream') stream = value
        break
      }
      case 'choice':
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        checkChoice(cursor, valueStart, name, rule.values)
        break
      case 'number':
      case 'integer':
        checkNumber(cursor, name, rule)
        break
      default:
        rule satisfies never
    }
    if (members.length === membersMax) {
      throw invalidRequest('invalid_value', `The request body has more than ${membersMax} members.`)
    }
    members.push({ name, start, valueStart, end: cursor.position })
    if (cursor.position >= pace.limit) yield pace
  }
  cursor.end()
  if (model === undefined) throw missing('model')
  if (!hasMessages) throw missing('messages')
  return { body: cursor.bytes, model, stream, includeUsage, members }
}

/** What to throw for what went wrong while the body was read. */
function* faultOf(body: Uint8Array, error: unknown, pace: Pace): Walk<unknown> {
  if (error instanceof JsonSyntaxError) return notJson(error)
  if (!(error instanceof WireError)) return error
  // What is wrong with a value is only worth saying of a body that is JSON to its end.
  const whole = new JsonCursor(body)
  try {
    yield* skip(whole, pace)
    whole.end()
    if (whole.hasHighBytes) yield* checkUtf8(body, pace)
    return error
  } catch (cause) {
    return cause instanceof JsonSyntaxError ? notJson(cause) : cause
  }
}

function notJson(cause: JsonSyntaxError): WireError {
  if (cause.position === 0 && cause.reason === 'unexpected end')
    return invalidRequest('invalid_json', 'The request body is empty.')
  return invalidRequest('invalid_json', `The request body is not valid JSON: ${cause.message}.`)
}
