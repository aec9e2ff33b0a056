import { WireError, invalidRequest } from '../../formats/error.ts'
import { readBodyBy } from '../../formats/parse-json-object.ts'
import {
  conversationBytesMax,
  type History,
  type StoredConversation,
  type WriteOutcome,
} from '../../ledger/history/history.ts'
import { signedInPerson, type Person } from '../../people/person.ts'
import { listShape, objectShape } from '../../shapes/containers.ts'
import { textShape } from '../../shapes/shape.ts'
import { readControlBody, type BodyTimes } from '../entrance/read-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { conversationMarks } from './conversation-marks.ts'
import { readLedger } from './ledger-answer.ts'
import type { HistoryAnswer, HistoryVersion } from './page-api.ts'
import { integerOf } from './query.ts'

export interface HistoryApiOptions {
  /** `undefined`: conversations are in browsers only. */
  readonly history: () => Promise<History> | undefined
  /** Days without a change after which conversations are deleted; `undefined`: never. */
  readonly days: () => number | undefined
  /** Time limits of request bodies. */
  readonly bodyTimes: BodyTimes
}

const conversationPath = '/api/history/conversations/'
const idPattern = /^[\w-]{1,64}$/
const idShape = textShape({ allowed: 'the id of a conversation', pattern: idPattern, lengthMax: 64 })
const idsShape = objectShape(
  { ids: listShape(idShape, { max: 100, allowed: 'a list of at most 100 ids of conversations' }) },
  { isOpen: true, required: ['ids'] },
)
const idsBytesMax = 16 * 1024
const anyInteger = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, fallback: 0 }

/** Requests with conversations in memory at a time: of a process, and of a person. */
const heldMax = 16,
  heldOfPersonMax = 6

type Answer = (history: History, person: Person, context: HandlerContext) => Promise<Response>

/** Bounds the requests with conversations in memory. */
class HeldConversations {
  readonly #ofPerson = new Map<string, number>()
  #all = 0

  /** @throws {WireError} 503 */
  async while<Found>(person: string, work: () => Promise<Found>): Promise<Found> {
    const own = this.#ofPerson.get(person) ?? 0
    if (this.#all >= heldMax || own >= heldOfPersonMax)
      throw new WireError(503, 'overloaded_error', 'overloaded', 'Too many conversations are on their way; try again', {
        headers: { 'retry-after': '1' },
      })
    this.#all += 1
    this.#ofPerson.set(person, own + 1)
    try {
      return await work()
    } finally {
      this.#all -= 1
      const left = (this.#ofPerson.get(person) ?? 1) - 1
      if (left === 0) this.#ofPerson.delete(person)
      else this.#ofPerson.set(person, left)
    }
  }
}

/**
 * `/api/history`: the conversations of the person who has signed in (docs/api.md). Keys do not admit: no route has a
 * scope. A conversation is the page's business; the service looks at its id only.
 */
export function historyApi({ history, days, bodyTimes }: HistoryApiOptions): readonly Route[] {
  const held = new HeldConversations()

  async function list(kept: History, person: Person, { request, id }: HandlerContext): Promise<Response> {
    const query = new URL(request.url).searchParams
    const after = integerOf(query, 'after', anyInteger)
    const changes = await kept.changes(person.id, { after, isWhole: query.get('whole') === '1' })
    const keptDays = days()
    return jsonResponse(
      { ...changes, ...(keptDays === undefined ? {} : { days: keptDays }) } satisfies HistoryAnswer,
      id,
    )
  }

  async function read(kept: History, person: Person, { request, id }: HandlerContext): Promise<Response> {
    const { ids } = readBodyBy(await readControlBody(request, { bytesMax: idsBytesMax, ...bodyTimes }), idsShape)
    return await held.while(person.id, async () => {
      const found = await kept.read(person.id, [...new Set(ids)])
      // The texts are JSON already.
      return new Response(`{"conversations":[${found.map(memberOf).join(',')}]}`, {
        headers: { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-request-id': id },
      })
    })
  }

  async function write(kept: History, person: Person, context: HandlerContext): Promise<Response> {
    const { request, id: requestId } = context
    const id = idOf(context)
    const base = baseOf(request)
    return await held.while(person.id, async () => {
      const body = await readControlBody(request, { bytesMax: conversationBytesMax, ...bodyTimes })
      if ((await conversationMarks(body)).id !== id)
        throw invalidRequest('invalid_value', `'id' must be that of the address.`, 'id')
      const outcome = await kept.write(person, { id, base, text: body })
      return jsonResponse(versionOf(outcome), requestId)
    })
  }

  const routes = [
    { method: 'GET', path: '/api/history', answer: list },
    { method: 'DELETE', path: '/api/history', answer: clear },
    { method: 'POST', path: '/api/history/read', answer: read, body: idsShape },
    { method: 'POST', path: conversationPath, answer: write },
    { method: 'DELETE', path: conversationPath, answer: remove },
  ] as const
  return routes.map(({ answer, ...route }) => ({
    ...route,
    isPublic: false,
    handle: forPerson(history, answer),
  }))
}

async function remove(kept: History, person: Person, context: HandlerContext): Promise<Response> {
  const outcome = await kept.remove(person.id, idOf(context), baseOf(context.request))
  return jsonResponse(versionOf(outcome), context.id)
}

async function clear(kept: History, person: Person, { request, id }: HandlerContext): Promise<Response> {
  const query = new URL(request.url).searchParams
  if (query.get('until') === null)
    throw invalidRequest('missing_required_parameter', "'until' is required: the number of a change.", 'until')
  await kept.clear(person.id, integerOf(query, 'until', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, fallback: 0 }))
  return jsonResponse({}, id)
}

/** Answers for the person of a request. @throws {WireError} 404 */
function forPerson(history: HistoryApiOptions['history'], answer: Answer): Route['handle'] {
  return async (context) => {
    const opening = history()
    const person = signedInPerson(context.caller)
    if (opening === undefined || person === undefined)
      throw new WireError(
        404,
        'invalid_request_error',
        'history_not_kept',
        'Conversations are stored in the browser only: the service keeps none',
      )
    return await readLedger('Conversations', async () => answer(await opening, person, context))
  }
}

/** @throws {WireError} 404 */
function idOf({ path }: HandlerContext): string {
  const id = path.slice(conversationPath.length)
  if (idPattern.test(id)) return id
  throw new WireError(404, 'invalid_request_error', 'not_found', 'There is no conversation with this id')
}

/** @throws {WireError} 400 */
function baseOf(request: Request): number {
  const query = new URL(request.url).searchParams
  return integerOf(query, 'base', anyInteger)
}

function memberOf({ id, version, text }: StoredConversation): string {
  return `{"id":${JSON.stringify(id)},"version":${version},"conversation":${text}}`
}

/** @throws {WireError} 409, 413 */
function versionOf(outcome: WriteOutcome): HistoryVersion {
  if (outcome.kind === 'written') return { version: outcome.version }
  if (outcome.kind === 'full')
    throw new WireError(
      413,
      'invalid_request_error',
      'history_full',
      'You have as many conversations on the service as one person may have: delete some',
    )
  throw new WireError(
    409,
    'invalid_request_error',
    'version_conflict',
    `The conversation was changed meanwhile: its version is ${outcome.version}`,
  )
}
