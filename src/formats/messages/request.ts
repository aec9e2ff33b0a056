import type { JsonCursor } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import type { Ask, Member } from '../ask.ts'
import type { RequestWalk } from '../check-body.ts'
import { CheckedNames, MemberList, memberName } from '../checked-names.ts'
import { invalidRequest } from '../error.ts'
import { readBoolean, readModel } from '../fields.ts'
import { sealMark } from '../opaque-seal.ts'
import { beginsWith, isBlank, reasoningFact, reasoningOf, type ReasoningSpan } from '../reasoning-spans.ts'
import { missing } from '../request-fault.ts'
import { checkValue, shapeWalk, type KeptObject } from '../request-shape.ts'
import { requestShapes } from './request-shapes.ts'

/** A checked request (docs/api.md). The caller's bytes pass through; only these facts are read from them. */
export interface MessagesRequest extends Ask {
  readonly format: 'messages' | 'count_tokens'
  /** Thinking of earlier answers, in the order of the bytes. */
  readonly reasoning: readonly ReasoningSpan[]
}

const ownNames = ['model', 'stream']
const shapedNames = Object.keys(requestShapes)
const shapes = Object.values(requestShapes)
/** Fields that only tune the answer of Anthropic. */
const untranslatedNames = [
  'cache_control',
  'context_management',
  'diagnostics',
  'inference_geo',
  'metadata',
  'service_tier',
  'speed',
]
const unshapedNames = untranslatedNames.filter((name) => !shapedNames.includes(name))
const checked = new CheckedNames([...ownNames, ...shapedNames, ...unshapedNames])
const { names, table } = checked

/** The bit of a name among those that were seen. There are fewer than 31 names. */
const bitOf = (name: string): number => 1 << names.indexOf(name)
const mayBeUntranslated = ['tools', ...untranslatedNames].reduce((bits, name) => bits | bitOf(name), 0)

/** Limit of top-level members. */
const membersMax = 10_000

/**
 * Returns a check of requests in place. Unknown members pass unread; checked ones must not be repeated, nor be spelled
 * in another way ({@link CheckedNames}).
 */
export function messagesCheck(
  format: MessagesRequest['format'],
  required: readonly string[],
  headers: Ask['headers'],
): RequestWalk<MessagesRequest> {
  return function* readRequest(cursor: JsonCursor, pace: Pace): Walk<MessagesRequest> {
    if (cursor.peek() !== 'object') throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
    const walk = shapeWalk(cursor, pace)
    const list = new MemberList(checked, membersMax)
    const { members } = list
    let model: string | undefined
    let stream = false
    let seen = 0
    for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
      const start = cursor.nameStart
      const code = cursor.nameCode(table)
      const name = memberName(cursor, names, code)
      const shape = shapes[code - ownNames.length]
      seen |= 1 << code
      const valueStart = cursor.position
      if (code === 0) {
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        model = readModel(cursor, valueStart, model)
      } else if (code === 1) stream = readBoolean(cursor, name)
      else if (shape !== undefined) yield* checkValue(walk, shape, name, undefined, required.includes(name))
      else if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
      list.add({ name, start, valueStart, end: cursor.position }, code)
      if (cursor.position >= pace.limit) yield pace
    }
    cursor.end()
    if (model === undefined) throw missing('model')
    const absent = required.find((name) => (seen & bitOf(name)) === 0)
    if (absent !== undefined) throw missing(absent)
    const reasoning = reasoningOf(walk.found.objects, (block) => isForeign(cursor.bytes, block))
    return {
      format,
      body: cursor.bytes,
      model,
      stream: stream && format === 'messages',
      members,
      reasoning,
      ...reasoningFact(reasoning),
      ...(headers === undefined ? {} : { headers }),
      ...untranslatedIn(cursor.bytes, members, seen),
    }
  }
}

/** Anthropic refuses thinking without a signature, and cannot read what this service has wrapped. */
function isForeign(body: Uint8Array, { members: { signature, data } }: KeptObject): boolean {
  const opaque = signature ?? data
  return isBlank(body, opaque) || beginsWith(body, opaque, sealMark)
}

/** The fields and tools that other providers do not get, if there are any. */
function untranslatedIn(body: Uint8Array, members: readonly Member[], seen: number): Pick<Ask, 'untranslated'> {
  if ((seen & mayBeUntranslated) === 0) return {}
  const untranslated = [
    ...untranslatedNames.filter((name) => (seen & bitOf(name)) !== 0),
    ...((seen & bitOf('tools')) === 0 ? [] : ownTools(body, members)),
  ]
  return untranslated.length === 0 ? {} : { untranslated }
}

/** Kinds of Anthropic's own tools that are left out for other providers. */
const ownToolKinds = ['web_search', 'web_fetch', 'tool_search_tool'] as const
/** The beginning of a type with a version. Inside of a string its quotes would be escaped. */
const typeBeginnings = ownToolKinds.map((kind) => [`"type":"${kind}_`, `"type": "${kind}_`])

/** The names in `tools` of Anthropic's own tools, for the header of the answer. */
function ownTools(body: Uint8Array, members: readonly Member[]): readonly string[] {
  const tools = members.findLast(({ name }) => name === 'tools')
  if (tools === undefined) return []
  const bytes = Buffer.from(body.buffer, body.byteOffset + tools.valueStart, tools.end - tools.valueStart)
  return ownToolKinds
    .filter((_, index) => typeBeginnings[index]?.some((beginning) => bytes.includes(beginning)) === true)
    .map((kind) => `tools.${kind}`)
}
