import type { JsonCursor } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import { utf8 } from '../../bytes/text.ts'
import type { Member, RelayName } from '../ask.ts'
import type { RequestWalk } from '../check-body.ts'
import { CheckedNames, MemberList, memberName } from '../checked-names.ts'
import { namesOfLimit } from '../demand.ts'
import { invalidRequest } from '../error.ts'
import { readModel } from '../fields.ts'
import { missing } from '../request-fault.ts'
import { checkValue, shapeWalk } from '../request-shape.ts'
import { anyAnswers, type JsonRequests, type RelayEndpoint } from './endpoint.ts'
import { relayRequest, type ModelPlace, type RelayRequest } from './request.ts'

const membersMax = 1_000
/** Values that select the kind of an answer are at most this long. */
const selectorBytesMax = 64

/** Returns a check of JSON requests in place. */
export function jsonCheck(
  format: RelayName,
  endpoint: RelayEndpoint,
  { fields, required }: JsonRequests,
): RequestWalk<RelayRequest> {
  const shapes = Object.values(fields)
  const checked = new CheckedNames(['model', ...Object.keys(fields), ...costNames(endpoint)])
  const { names, table } = checked

  return function* readRequest(cursor: JsonCursor, pace: Pace): Walk<RelayRequest> {
    if (cursor.peek() !== 'object') throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
    const walk = shapeWalk(cursor, pace)
    const list = new MemberList(checked, membersMax)
    const { members } = list
    let model: string | undefined
    for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
      const start = cursor.nameStart
      const code = cursor.nameCode(table)
      const name = memberName(cursor, names, code)
      const shape = shapes[code - 1]
      const valueStart = cursor.position
      if (code === 0) {
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        model = readModel(cursor, valueStart, model)
      } else if (shape !== undefined) yield* checkValue(walk, shape, name, undefined, required.includes(name))
      else if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
      list.add({ name, start, valueStart, end: cursor.position }, code)
      if (cursor.position >= pace.limit) yield pace
    }
    cursor.end()
    const asked = model ?? endpoint.defaultModel
    if (asked === undefined) throw missing('model')
    const absent = required.find((name) => members.every((member) => member.name !== name))
    if (absent !== undefined) throw missing(absent)
    return relayRequest(format, endpoint, {
      body: cursor.bytes,
      model: asked,
      members,
      modelAt: placeOf(members),
      textOf: (name) =>
        shortText(
          cursor,
          members.findLast((member) => member.name === name),
        ),
    })
  }
}

/** Members that decide the kind of the answer, or its cost. */
function costNames({ demand = anyAnswers, stream, media }: RelayEndpoint): readonly string[] {
  const { answers = [], prompts, otherLimits = [] } = demand
  const kinds = [stream?.member, media?.asked?.member, prompts].filter((name) => name !== undefined)
  return [...namesOfLimit(demand), ...otherLimits, ...answers, ...kinds, 'service_tier']
}

/** A model that is added goes before the first member. */
function placeOf(members: readonly Member[]): ModelPlace {
  const own = members.find(({ name }) => name === 'model')
  if (own !== undefined) return { start: own.valueStart, end: own.end, before: '', after: '', isJson: true }
  const start = members[0]?.start ?? 0
  return { start, end: start, before: '"model":', after: ',', isJson: true }
}

/** A boolean as text, or a short string. */
function shortText(cursor: JsonCursor, member: Member | undefined): string | undefined {
  if (member === undefined || member.end - member.valueStart > selectorBytesMax) return undefined
  const { valueStart, end } = member
  const written = utf8(cursor.bytes, valueStart, end)
  return written.startsWith('"') ? cursor.stringAt(valueStart, end) : written
}
