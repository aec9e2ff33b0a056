import type { LoadAddress } from './load-address.ts'

/** Path of chat completions, at the upstream and by default at proxies. */
export const chatPath = '/v1/chat/completions'

/** Makes the head of a POST request with a JSON body, with its blank line. */
export function requestHead({ port, headers, path = chatPath }: LoadAddress, bodyBytes: number): string {
  const all = { ...headers, 'content-type': 'application/json', 'content-length': String(bodyBytes) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('')}\r\n`
}

/** The only model of the upstream. */
export const modelName = 'bench-model'

/** Makes the prompt for a request of about `bytes`. */
export function promptOf(bytes: number): string {
  return 'y'.repeat(Math.max(bytes - 100, 1))
}

/** Shape of a streamed answer. */
export interface StreamShape {
  /** Number of content chunks, from 1, without the role chunk, the finish chunk and `[DONE]`. */
  readonly chunks: number
  /** Interval of content chunks, microseconds. 0: as fast as the socket takes them. */
  readonly paceUs: number
}

/**
 * Makes the body of a streamed request, of about 1 KB as in the plain measure. `max_tokens` and `seed` carry the shape:
 * every proxy passes both on, the first perhaps as `max_completion_tokens`.
 */
export function streamRequestBody(shape: StreamShape): string {
  return JSON.stringify({
    model: modelName,
    stream: true,
    max_tokens: shape.chunks,
    seed: shape.paceUs,
    messages: [{ role: 'user', content: promptOf(1000) }],
  })
}

/** Reads the shape from a request body; undefined for a plain request. */
export function readStreamShape(body: string): StreamShape | undefined {
  if (!/"stream":\s*true/.test(body)) return undefined
  const chunks = readInteger(body, 'max_tokens') ?? readInteger(body, 'max_completion_tokens') ?? 1
  return { chunks, paceUs: readInteger(body, 'seed') ?? 0 }
}

/**
 * Makes the body of a plain request of about `bytes`, which the upstream answers after `holdUs` microseconds. `seed`
 * carries that time.
 */
export function heldRequestBody(bytes: number, holdUs: number): string {
  return JSON.stringify({ model: modelName, seed: holdUs, messages: [{ role: 'user', content: promptOf(bytes) }] })
}

/** Reads the delay of the answer to a plain request, microseconds; default 0. */
export function readHoldUs(body: string): number {
  return readInteger(body, 'seed') ?? 0
}

function readInteger(body: string, field: string): number | undefined {
  const digits = new RegExp(`"${field}":\\s*(\\d+)`).exec(body)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Text before the send time in a content chunk, behind the name of its member. */
const stampMark = '":" t'

/** Digits of a send time. */
export const stampLength = 16

/** The send time in an event of a stream; undefined for one without content. */
export function contentOf(event: string): number | undefined {
  const at = event.indexOf(stampMark)
  // Responses repeat all text at their end.
  if (at < 0 || (event.startsWith('event: response.') && !event.startsWith('.output_text.delta', 15))) return undefined
  return Number(event.slice(at + stampMark.length, at + stampMark.length + stampLength))
}

/**
 * The wall clock in whole microseconds since 1970, monotonic within a process. Processes on one machine agree to well
 * under a microsecond for each second of run. `performance.now()` alone starts at 0 in each process.
 */
export function clockUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000)
}
