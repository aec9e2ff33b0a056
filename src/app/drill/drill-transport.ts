import { join } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import type { FormatName } from '../../formats/ask.ts'
import { formats } from '../../formats/format-list.ts'
import { echo } from '../../protocols/echo/echo.ts'
import {
  TransportError,
  type Transport,
  type UpstreamBody,
  type UpstreamRequest,
  type UpstreamResponse,
} from '../../transport/transport.ts'

/** How a provider fails in a drill: no connection, 429, 401, or a stream that breaks off. */
export const drillFailures = ['timeout', 'rate_limit', 'credential', 'cut'] as const
export type DrillFailure = (typeof drillFailures)[number]

/**
 * Answers in place of upstreams, each in the format of its request, so that a drill sends nothing. Lists of models
 * cannot be reached.
 *
 * @param failureOf how the provider with this id fails; `undefined`: it answers
 */
export function drillTransport(failureOf: (provider: string) => DrillFailure | undefined): Transport {
  return {
    connections: { active: 0, idle: 0 },
    close: () => undefined,
    async request(request) {
      const failure = failureOf(request.origin.owner ?? '')
      if (failure === 'timeout' || request.method === 'GET')
        throw new TransportError('connect_timeout', 'no connection')
      if (failure === 'rate_limit') return refusal(429, 'rate limit reached')
      if (failure === 'credential') return refusal(401, 'invalid API key')
      return answer(await answerTo(request), failure === 'cut')
    },
  }
}

/** The events of an answer to a request for a stream, in the format of its path. */
async function answerTo({ path, body }: UpstreamRequest): Promise<readonly Uint8Array[]> {
  const format = formats[formatAt(path)]
  const [pathname = '', query] = path.split('?')
  const ask = format.check(join(body), {
    path: pathname.replace(/^.*(?=\/models\/)/, '/v1beta'),
    headers: new Headers(),
    parameter: (name) => new URLSearchParams(query).get(name),
  })
  const reply = await echo()(ask, { signal: new AbortController().signal, trail: [] })
  if (reply.kind === 'whole' || format.stream === undefined) throw new Error('a drill asks for streams')
  const events: Uint8Array[] = []
  for (let parts = await reply.read(); parts !== undefined; parts = await reply.read())
    events.push(format.stream.frame(parts))
  return [...events, format.stream.end]
}

function formatAt(path: string): FormatName {
  if (/:(?:streamG|g)enerateContent/.test(path)) return 'gemini'
  if (/\/messages(?:\?|$)/.test(path)) return 'messages'
  return /\/responses(?:\?|$)/.test(path) ? 'responses' : 'chat'
}

/** @param isCut it breaks off in its middle */
function answer(events: readonly Uint8Array[], isCut: boolean): UpstreamResponse {
  const half = Math.ceil(events.length / 2)
  return response(200, 'text/event-stream', isCut ? [join(events.slice(0, half)), undefined] : events)
}

function refusal(status: number, message: string): UpstreamResponse {
  return response(status, 'application/json', [encode(JSON.stringify({ error: { message } }))])
}

/** @param steps `undefined`: the connection breaks */
function response(status: number, type: string, steps: readonly (Uint8Array | undefined)[]): UpstreamResponse {
  const left = [...steps]
  async function read(): Promise<Uint8Array | undefined> {
    if (left.length === 0) return undefined
    const step = left.shift()
    if (step === undefined) throw new TransportError('short_body', 'the connection broke')
    return step.length === 0 ? await read() : step
  }
  const body: UpstreamBody = {
    read,
    async readAll() {
      const pieces: Uint8Array[] = []
      for (let piece = await read(); piece !== undefined; piece = await read()) pieces.push(piece)
      return join(pieces)
    },
    hasPendingBytes: () => left.length > 0,
    cancel: () => void left.splice(0),
    endsWithConnection: false,
  }
  const headers = new Map([['content-type', type]])
  return {
    status,
    headers: { get: (name) => headers.get(name), [Symbol.iterator]: () => headers[Symbol.iterator]() },
    body,
  }
}
