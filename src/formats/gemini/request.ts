import type { JsonCursor } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import type { Ask, FormatName } from '../ask.ts'
import type { RequestWalk } from '../check-body.ts'
import { CheckedNames, MemberList, memberName } from '../checked-names.ts'
import { invalidRequest } from '../error.ts'
import { checkedModel } from '../fields.ts'
import type { Envelope } from '../format.ts'
import { sealMark } from '../opaque-seal.ts'
import { beginsWith, reasoningFact, type ReasoningSpan } from '../reasoning-spans.ts'
import { missing } from '../request-fault.ts'
import { checkValue, shapeWalk, type KeptObject, type Shape, type Span } from '../request-shape.ts'
import { modelNote } from './request-shapes.ts'
import { sealedBeginning } from './sealed-thoughts.ts'

/** A checked request (docs/api.md). The caller's bytes pass through; only these facts are read from them. */
export interface GeminiRequest extends Ask {
  /** Offsets of the names of the model inside of members. */
  readonly modelNames: readonly Span[]
  readonly reasoning: readonly GeminiSignature[]
}

/** The value of a signature. */
interface GeminiSignature extends ReasoningSpan {
  readonly isOfCall: boolean
}

/** Limit of top-level members. */
const membersMax = 10_000

/**
 * Returns a check of requests in place. The model and the kind of answer are in the path. Unknown members pass unread;
 * checked ones must not be repeated, in either spelling, nor be spelled in another way ({@link CheckedNames}).
 *
 * @param shapes shapes of top-level members
 * @throws {WireError} 400 for the path and the query
 */
export function geminiCheck(
  format: FormatName,
  shapes: Readonly<Record<string, Shape>>,
  required: readonly string[],
): (envelope: Envelope) => RequestWalk<GeminiRequest> {
  const checked = new CheckedNames([...Object.keys(shapes), 'model'], true)
  const { names, table } = checked

  return (envelope) => {
    const model = modelIn(envelope.path)
    const stream = isStream(envelope)
    return function* readRequest(cursor: JsonCursor, pace: Pace): Walk<GeminiRequest> {
      if (cursor.peek() !== 'object') throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
      const walk = shapeWalk(cursor, pace)
      const list = new MemberList(checked, membersMax)
      const { members } = list
      for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
        const start = cursor.nameStart
        const code = cursor.nameCode(table)
        const name = memberName(cursor, names, code)
        const shape = code === -1 ? undefined : shapes[name]
        const valueStart = cursor.position
        if (shape !== undefined) yield* checkValue(walk, shape, name, undefined, required.includes(name))
        else if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
        list.add({ name, start, valueStart, end: cursor.position }, code)
        if (cursor.position >= pace.limit) yield pace
      }
      cursor.end()
      const absent = required.find((name) => members.every((member) => member.name !== name))
      if (absent !== undefined) throw missing(absent)
      const { notes, objects } = walk.found
      const untranslated = new Set(notes.map(({ note }) => note).filter((note) => note !== modelNote))
      const reasoning = objects.map((each) => signatureOf(cursor.bytes, each))
      return {
        format,
        body: cursor.bytes,
        model,
        stream,
        members,
        modelNames: notes.filter(({ note }) => note === modelNote),
        reasoning,
        ...reasoningFact(reasoning),
        ...(untranslated.size === 0 ? {} : { untranslated: [...untranslated] }),
      }
    }
  }
}

function signatureOf(body: Uint8Array, { members }: KeptObject): GeminiSignature {
  const value = members['thoughtSignature'] ?? members['thought_signature'] ?? { start: 0, end: 0 }
  return {
    ...value,
    isForeign: beginsWith(body, value, sealedBeginning) || beginsWith(body, value, sealMark),
    isOfCall: (members['functionCall'] ?? members['function_call']) !== undefined,
  }
}

/** The model in a path: between `/models/` and the action, with or without `models/` before it. */
function modelIn(path: string): string {
  const start = path.indexOf('/models/') + '/models/'.length
  const name = path.slice(start, path.lastIndexOf(':'))
  let decoded: string
  try {
    decoded = decodeURIComponent(name)
  } catch {
    throw invalidRequest('invalid_value', 'The model in the path has malformed escapes.', 'model')
  }
  return checkedModel(decoded.replace(/^models\//, ''))
}

/** @throws {WireError} for a stream in another form than events */
function isStream(envelope: Envelope): boolean {
  if (!envelope.path.endsWith(':streamGenerateContent')) return false
  if (envelope.parameter('alt') === 'sse') return true
  throw invalidRequest(
    'invalid_value',
    'Streams are server-sent events here, not a JSON array: add ?alt=sse to the address.',
    'alt',
  )
}
