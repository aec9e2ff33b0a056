import { nameTable, type JsonCursor } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import { encode, utf8 } from '../../bytes/text.ts'
import type { Ask, Member, RelayName } from '../ask.ts'
import type { RequestWalk } from '../check-body.ts'
import { invalidRequest } from '../error.ts'
import { readModel } from '../fields.ts'
import { missing } from '../request-fault.ts'
import { addMember, memberName } from '../request-members.ts'
import { checkValue, shapeWalk } from '../request-shape.ts'
import type { RelayEndpoint } from './endpoint.ts'

/** A checked request of a relayed endpoint. */
export interface RelayRequest extends Ask {
  readonly format: RelayName
  readonly modelAt: ModelPlace
}

/** The place of a model's name in a body; empty where the caller gave none. */
export interface ModelPlace {
  readonly start: number
  readonly end: number
  /** Bytes around a name that is added. */
  readonly before: Uint8Array
  readonly after: Uint8Array
}

const membersMax = 1_000
/** The model of a request that names none goes before its first member. */
const modelBefore = encode('"model":')
const modelAfter = encode(',')
const nothing = new Uint8Array()

/** Returns a check of JSON requests in place. Members that the endpoint does not name pass unread. */
export function jsonCheck(format: RelayName, endpoint: RelayEndpoint): RequestWalk<RelayRequest> {
  const { fields, required, defaultModel, stream } = endpoint
  const names = ['model', ...Object.keys(fields)]
  const shapes = Object.values(fields)
  const table = nameTable(names)

  return function* readRequest(cursor: JsonCursor, pace: Pace): Walk<RelayRequest> {
    if (cursor.peek() !== 'object') throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
    const walk = shapeWalk(cursor, pace)
    const members: Member[] = []
    let model: string | undefined
    for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
      const start = cursor.nameStart
      const code = cursor.nameCode(table)
      const name = names[code] ?? memberName(cursor)
      const shape = shapes[code - 1]
      const valueStart = cursor.position
      if (code === 0) {
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        model = readModel(cursor, valueStart, model)
      } else if (shape !== undefined)
        yield* checkValue(walk, shape, { name, within: undefined }, required.includes(name))
      else if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
      addMember(members, { name, start, valueStart, end: cursor.position }, membersMax)
      if (cursor.position >= pace.limit) yield pace
    }
    cursor.end()
    const asked = model ?? defaultModel
    if (asked === undefined) throw missing('model')
    const absent = required.find((name) => members.every((member) => member.name !== name))
    if (absent !== undefined) throw missing(absent)
    const { bytes: body } = cursor
    const mark = members.findLast((member) => member.name === stream?.member)
    return {
      format,
      body,
      model: asked,
      stream: mark !== undefined && utf8(body, mark.valueStart, mark.end) === stream?.value,
      members,
      modelAt: placeOf(members),
    }
  }
}

function placeOf(members: readonly Member[]): ModelPlace {
  const own = members.find(({ name }) => name === 'model')
  if (own !== undefined) return { start: own.valueStart, end: own.end, before: nothing, after: nothing }
  const [first] = members
  const start = first?.start ?? 0
  return { start, end: start, before: modelBefore, after: modelAfter }
}

/** The caller's bytes with this name of the model, in pieces. */
export function withModel({ body, model: asked, modelAt }: RelayRequest, name: string): readonly Uint8Array[] {
  const { start, end, before, after } = modelAt
  if (name === asked && start < end) return [body]
  return [body.subarray(0, start), before, encode(JSON.stringify(name)), after, body.subarray(end)].filter(
    ({ length }) => length > 0,
  )
}
