import type { JsonCursor } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import type { Ask, Member } from '../ask.ts'
import type { RequestWalk } from '../check-body.ts'
import { CheckedNames, MemberList, memberName } from '../checked-names.ts'
import { editAsk, type EditedAsk } from '../edit-ask.ts'
import { invalidRequest } from '../error.ts'
import { readModel } from '../fields.ts'
import { sealMark } from '../opaque-seal.ts'
import {
  beginsWith,
  isBlank,
  movedSpans,
  reasoningFact,
  reasoningOf,
  removeElements,
  type ReasoningSpan,
} from '../reasoning-spans.ts'
import { missing } from '../request-fault.ts'
import { checkValue, shapeWalk, type KeptObject, type Span } from '../request-shape.ts'
import { requestShape } from './request-fields.ts'

/** A checked request for a Response (docs/api.md). */
export interface ResponsesRequest extends Ask {
  readonly format: ResponsesFormatName
  /** Offsets of the lists of tools that it declares: `tools`, and those of items. */
  readonly toolLists: readonly Span[]
  /** A tool that it declares has another name or kind at providers of other formats. */
  readonly renamesTools: boolean
  /** Reasoning of earlier answers, in the order of the bytes. */
  readonly reasoning: readonly ReasoningSpan[]
}

/** The formats with requests of this shape. */
export type ResponsesFormatName = 'responses' | 'input_tokens' | 'compact'

const membersMax = 10_000
const renamed = ['custom', 'namespace', 'tool_search'] as const

/** Fields that only providers of the same format get: they tune the answer, or are for the vendor's own use. */
const ownFields: ReadonlySet<string> = new Set([
  'client_metadata',
  'context_management',
  'max_tool_calls',
  'metadata',
  'moderation',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
  'stream_options',
  'truncation',
])
/** Declared tools that only providers of the same format get. */
const ownTools = ['web_search', 'web_search_preview', 'web_search_preview_2025_03_11', 'web_search_2025_08_26']

/** Checks requests of a format; see {@link readRequest}. Only those for a response may ask for a stream. */
export function requestReader(format: ResponsesFormatName): RequestWalk<ResponsesRequest> {
  return (cursor, pace) => readRequest(cursor, pace, format)
}

const checked = new CheckedNames([...requestShape.names, 'model'])

/**
 * Checks a request in place. Unknown members pass unread; 10,000 members at most. Checked members must not be repeated,
 * nor be spelled in another way ({@link CheckedNames}).
 */
function* readRequest(cursor: JsonCursor, pace: Pace, format: ResponsesFormatName): Walk<ResponsesRequest> {
  if (cursor.peek() !== 'object') throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
  const { names, table } = checked
  const { shapes } = requestShape
  const list = new MemberList(checked, membersMax)
  const { members } = list
  const walk = shapeWalk(cursor, pace)
  const { found } = walk
  let model: string | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const start = cursor.nameStart
    const code = cursor.nameCode(table)
    const name = memberName(cursor, names, code)
    const kind = cursor.peek()
    const valueStart = cursor.position
    const shape = shapes[code]
    if (name === 'model') {
      if (kind === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
      model = readModel(cursor, valueStart, model)
    } else if (shape === undefined) {
      if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    } else yield* checkValue(walk, shape, name, undefined)
    list.add({ name, start, valueStart, end: cursor.position }, code)
    if (cursor.position >= pace.limit) yield pace
  }
  cursor.end()
  if (model === undefined) throw missing('model')
  const firstOf = (name: string) => firstByteOf(cursor.bytes, members, name)
  if ((firstOf('input') ?? letterN) === letterN) throw missing('input')
  const reasoning = reasoningOf(found.objects, (object) => isForeign(cursor.bytes, object))
  return {
    format,
    body: cursor.bytes,
    model,
    stream: format === 'responses' && firstOf('stream') === letterT,
    members,
    toolLists: found.lists,
    renamesTools: renamed.some((type) => found.types.has(type)),
    reasoning,
    ...reasoningFact(reasoning),
    untranslated: [
      ...new Set(members.map(({ name }) => name).filter((name) => ownFields.has(name))),
      ...(ownTools.some((type) => found.types.has(type)) ? ['tools.web_search'] : []),
    ],
  }
}

/** The first byte of the value of a member, which tells its kind. `undefined` without one. */
function firstByteOf(body: Uint8Array, members: readonly Member[], name: string): number | undefined {
  const member = members.findLast((each) => each.name === name)
  return member && body[member.valueStart]
}

/** No other service can read what this one has wrapped, nor knows the ids that it has made up. */
function isForeign(body: Uint8Array, { members: { encrypted_content: encrypted, id } }: KeptObject): boolean {
  return beginsWith(body, encrypted, sealMark) || (isBlank(body, encrypted) && beginsWith(body, id, ownReasoningId))
}

/** A request whose bytes were edited, with its offsets. */
export function movedRequest(
  request: ResponsesRequest,
  { changed, moved }: EditedAsk,
  reasoning = request.reasoning,
): ResponsesRequest {
  return {
    ...request,
    ...changed,
    ...reasoningFact(reasoning),
    toolLists: movedSpans(request.toolLists, moved),
    reasoning: movedSpans(reasoning, moved),
  }
}

/**
 * Removes reasoning of earlier answers: all, or only that of providers of other formats.
 *
 * @returns `undefined` without one
 */
export function responsesWithoutReasoning(
  request: ResponsesRequest,
  which: 'all' | 'foreign',
): ResponsesRequest | undefined {
  const { body, reasoning } = request
  const removed = which === 'all' ? reasoning : reasoning.filter(({ isForeign: isOther }) => isOther)
  if (removed.length === 0) return undefined
  const edited = editAsk(request, removeElements(body, removed, noItems))
  return movedRequest(
    request,
    edited,
    reasoning.filter((span) => !removed.includes(span)),
  )
}

const noItems = new Uint8Array()

/** The beginning of ids that this service makes up for reasoning. */
export const ownReasoningId = 'rs_svc1_'

const letterN = 0x6e
const letterT = 0x74
