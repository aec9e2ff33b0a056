/** The request target that every proxy is asked for, and that the upstream answers. */
export const chatPath = '/v1/chat/completions'

/** The one model the upstream serves. */
export const modelName = 'bench-model'

/** How a streamed answer is to be made. */
export interface StreamShape {
  /** Content chunks, from 1. The role chunk before them and the finish chunk and `[DONE]` after them come on top. */
  readonly chunks: number
  /** Between two content chunks, microseconds. 0: as fast as the socket takes them. */
  readonly paceUs: number
}

/**
 * The body of a streamed request. The shape travels in `max_tokens` and `seed`: two fields of the format, which every proxy lets through.
 * The prompt makes the body about 1 KB, as in the plain measure.
 */
export function streamRequestBody(shape: StreamShape): string {
  return JSON.stringify({
    model: modelName,
    stream: true,
    max_tokens: shape.chunks,
    seed: shape.paceUs,
    messages: [{ role: 'user', content: 'y'.repeat(900) }],
  })
}

/** Reads the shape from a request body; undefined when it does not ask for a stream. */
export function readStreamShape(body: string): StreamShape | undefined {
  if (!/"stream":\s*true/.test(body)) return undefined
  return { chunks: readInteger(body, 'max_tokens') ?? 1, paceUs: readInteger(body, 'seed') ?? 0 }
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
 * The wall clock in whole microseconds since 1970, monotonic within a process. Two processes on one machine agree on it to well
 * under a microsecond per second of run, which `performance.now()` alone does not give: it starts at 0 in each of them.
 */
export function clockUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000)
}
