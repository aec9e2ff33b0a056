/** The request target that every proxy is asked for, and that the upstream answers. */
export const chatPath = '/v1/chat/completions'

/** The one model the upstream serves. */
export const modelName = 'bench-model'

/** The prompt of a request about as long as `bytes`. */
export function promptOf(bytes: number): string {
  return 'y'.repeat(Math.max(bytes - 100, 1))
}

/** How a streamed answer is to be made. */
export interface StreamShape {
  /** Content chunks, from 1. The role chunk before them and the finish chunk and `[DONE]` after them come on top. */
  readonly chunks: number
  /** Between two content chunks, microseconds. 0: as fast as the socket takes them. */
  readonly paceUs: number
}

/**
 * The body of a streamed request. The shape travels in `max_tokens` and `seed`: two fields of the format, which every
 * proxy lets through (the first perhaps under its newer name). The prompt makes the body about 1 KB, as in the plain
 * measure.
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

/** Reads the shape from a request body; undefined when it does not ask for a stream. */
export function readStreamShape(body: string): StreamShape | undefined {
  if (!/"stream":\s*true/.test(body)) return undefined
  const chunks = readInteger(body, 'max_tokens') ?? readInteger(body, 'max_completion_tokens') ?? 1
  return { chunks, paceUs: readInteger(body, 'seed') ?? 0 }
}

/**
 * The body of a plain request of about `bytes`, which the upstream answers after `holdUs` microseconds. The time
 * travels in `seed`.
 */
export function heldRequestBody(bytes: number, holdUs: number): string {
  return JSON.stringify({ model: modelName, seed: holdUs, messages: [{ role: 'user', content: promptOf(bytes) }] })
}

/** How long the answer to a plain request is to be held back, microseconds; 0 unless it says so. */
export function readHoldUs(body: string): number {
  return readInteger(body, 'seed') ?? 0
}

function readInteger(body: string, field: string): number | undefined {
  const digits = new RegExp(`"${field}":\\s*(\\d+)`).exec(body)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Stands before the send time in a content chunk. */
export const stampMark = '"content":" t'

/** Digits of a send time. */
export const stampLength = 16

/**
 * The wall clock in whole microseconds since 1970, monotonic within a process. Two processes on one machine agree on it
 * to well under a microsecond per second of run, which `performance.now()` alone does not give: it starts at 0 in each
 * of them.
 */
export function clockUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000)
}
