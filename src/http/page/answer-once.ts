import { WireError } from '../../formats/error.ts'
import { senderId } from '../../people/person.ts'
import type { BodyBudget, BodyReservation } from '../entrance/body-budget.ts'
import { ClientLeft, readBody, type BodyLimits } from '../entrance/read-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import type { Route } from '../route.ts'
import { answerKept, readHere, relayed, withoutConnection, withRequest, type OtherAnswers } from './answers-api.ts'
import type { AnswerName, KeptAnswers, KeptLimits } from './kept-answers.ts'

const mebibyte = 1024 * 1024

/** Of answers to requests with `Idempotency-Key`. */
export const onceLimits: KeptLimits = {
  answers: 1_000,
  answersOfOne: 20,
  bytesOfOne: mebibyte,
  bytes: 64 * mebibyte,
  unreadMs: 10_000,
  endedMs: 600_000,
}

export interface AnswerOnceOptions {
  readonly answers: KeptAnswers
  /** Absent: this process is the only one. */
  readonly others?: OtherAnswers | undefined
  readonly bodyLimits: () => BodyLimits
  readonly bodyBudget: Pick<BodyBudget, 'reservation'>
  /** Milliseconds a reader may take to read. */
  readonly stallMs: number
}

const acceptableKey = /^[\x21-\x7e]{1,255}$/
const keysMax = 1_000
/** Another process is given this time to begin an answer that it has claimed. */
const elsewhereMs = 1_000
const pollMs = 20

/**
 * Routes of models that answer requests with the same `Idempotency-Key` once (docs/calling.md): a repeat of the same
 * body by the same caller gets the same answer, from its beginning, also while it is being made. An answer that ended
 * with an error is not kept. Requests without the header pass as they are.
 */
export function answerOnce(options: AnswerOnceOptions): (route: Route) => Route {
  /** The hashes of bodies by owner, path and key. The oldest are dropped. */
  const bodies = new Map<string, string>()
  return (route) => {
    if (route.isRefusal === true) return route
    return {
      ...route,
      handle(context) {
        const key = context.request.headers.get('idempotency-key')
        return key === null ? route.handle(context) : once(context, { route, key, bodies, options })
      },
    }
  }
}

interface OnceRequest {
  readonly route: Route
  readonly key: string
  readonly bodies: Map<string, string>
  readonly options: AnswerOnceOptions
}

async function once(context: HandlerContext, request: OnceRequest): Promise<Response> {
  const { key, options } = request
  if (!acceptableKey.test(key))
    throw new WireError(
      400,
      'invalid_request_error',
      'invalid_value',
      'Idempotency-Key must have 1 to 255 visible characters of ASCII',
    )
  const reservation = options.bodyBudget.reservation()
  try {
    const body = await bodyOf(context, options.bodyLimits(), reservation)
    return await answerBody(context, body, request)
  } finally {
    // Until an answer begins, the body is there twice: here, and in the request that is asked.
    reservation.release()
  }
}

async function answerBody(
  context: HandlerContext,
  body: Uint8Array<ArrayBuffer>,
  { route, key, bodies, options }: OnceRequest,
): Promise<Response> {
  const { answers, others, stallMs } = options
  const hash = hashOf(body)
  const owner = `once ${senderId(context.caller)}`
  const nameOf = (other: string): AnswerName => ({ owner, id: hashOf(`${context.path} ${other} ${key}`) })
  const name = nameOf(hash)
  const found =
    (await repeated(context, name, options)) ??
    // Meanwhile the same request may have begun: nothing waits between this look and the beginning.
    (answers.find(name) === undefined ? undefined : await repeated(context, name, options))
  if (found !== undefined) return withHeader(found, 'x-svc-replayed', '1')
  const place = `${owner} ${context.path} ${key}`
  const before = bodies.get(place)
  if (before !== undefined && before !== hash && answers.find(nameOf(before)) !== undefined) {
    others?.release(name)
    throw reused()
  }
  const work = new AbortController()
  // One that is there, and not found above, is too large to be read again.
  const answer = answers.find(name) === undefined ? answers.begin(name, () => work.abort()) : undefined
  const reader = answer?.read(0)
  const { url, headers } = context.request
  const request = new Request(url, { method: 'POST', headers, body })
  if (answer === undefined || reader === undefined) {
    others?.release(name)
    return withHeader(await route.handle(withRequest(context, request)), 'x-svc-recorded', '0')
  }
  remember(bodies, place, hash)
  const onEnd = (error: string | undefined): void => {
    if (error === undefined) return
    answer.forget()
    others?.release(name)
  }
  const inner = { ...withoutConnection(context, context.path), request, left: work.signal, onEnd }
  return await answerKept(context, inner, { route, answer, reader, stallMs })
}

/** The answer to an earlier request, here or in another process; `undefined`: there is none that can be read. */
async function repeated(
  context: HandlerContext,
  name: AnswerName,
  { answers, others, stallMs }: AnswerOnceOptions,
): Promise<Response | undefined> {
  const here = async (): Promise<Response | undefined> => {
    const answer = answers.find(name)
    if (answer?.isWhole !== true) return undefined
    return await readHere(context, { answer, from: 0, stallMs }).catch(noneIfUnknown)
  }
  const found = await here()
  if (found !== undefined || others === undefined) return found
  const until = performance.now() + elsewhereMs
  while (!(await others.claim(name)) && performance.now() < until) {
    const relay = await relayed(context, { ...name, from: 0 }, { others, stallMs }).catch(noneIfUnknown)
    if (relay !== undefined) return relay
    await Bun.sleep(pollMs)
  }
  return undefined
}

async function bodyOf(
  { request }: HandlerContext,
  limits: BodyLimits,
  reservation: BodyReservation,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await readBody(request, limits, reservation))
  } catch (error) {
    if (!(error instanceof ClientLeft)) throw error
    throw new WireError(499, 'invalid_request_error', 'client_left', 'The client closed the connection')
  }
}

function hashOf(text: string | Uint8Array): string {
  return Bun.SHA256.hash(text, 'base64url')
}

function remember(bodies: Map<string, string>, place: string, hash: string): void {
  bodies.delete(place)
  bodies.set(place, hash)
  const [oldest] = bodies.keys()
  if (bodies.size > keysMax && oldest !== undefined) bodies.delete(oldest)
}

function noneIfUnknown(error: unknown): undefined {
  if (error instanceof WireError && error.status === 404) return undefined
  throw error
}

function withHeader(response: Response, name: string, value: string): Response {
  response.headers.set(name, value)
  return response
}

function reused(): WireError {
  return new WireError(
    422,
    'invalid_request_error',
    'idempotency_key_reused',
    'Another request was sent with this Idempotency-Key: a new request needs a new one',
    { headers: { 'x-should-retry': 'false' } },
  )
}
