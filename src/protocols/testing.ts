import { EventTooLarge, type ServerSentEvent } from '../bytes/event-stream.ts'
import { MalformedFrame, type Framing } from '../bytes/framing.ts'
import {
  responseMemoryError,
  TransportError,
  type Transport,
  type TransportErrorKind,
  type UpstreamBody,
  type UpstreamRequest,
  type UpstreamResponse,
} from '../transport/transport.ts'

/** One read of a fake body: text or bytes, or a failure of the transport. */
export type BodyStep = string | Uint8Array | Error

/** A fake body. */
export interface FakeBody extends UpstreamBody {
  readonly isCancelled: boolean
  readonly reads: number
}

/** A body that gives these steps, then ends; with `hangs` only a cancel ends it. For tests. */
export function fakeBody(steps: readonly BodyStep[], { hangs = false }: { readonly hangs?: boolean } = {}): FakeBody {
  const left = [...steps]
  let isCancelled = false
  let reads = 0
  let wake = (): void => undefined
  const aborted = () => new TransportError('aborted', 'the body was cancelled')

  async function read(): Promise<Uint8Array | undefined> {
    reads += 1
    if (isCancelled) throw aborted()
    const step = left.shift()
    if (step instanceof Error) throw step
    if (step !== undefined) return typeof step === 'string' ? new TextEncoder().encode(step) : step
    if (!hangs) return undefined
    return new Promise((_resolve, reject) => {
      wake = () => reject(aborted())
    })
  }

  return {
    read,
    async readAll(reservation) {
      const pieces: Uint8Array[] = []
      for (let piece = await read(); piece !== undefined; piece = await read()) {
        if (reservation?.reserve(piece.length) === false) throw responseMemoryError()
        pieces.push(piece)
      }
      return Buffer.concat(pieces)
    },
    cancel() {
      isCancelled = true
      wake()
    },
    endsWithConnection: false,
    hasPendingBytes: () => false,
    get isCancelled() {
      return isCancelled
    },
    get reads() {
      return reads
    },
  }
}

/** An answer of a fake upstream. */
export interface FakeAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: readonly BodyStep[] | FakeBody
}

/** A fake transport, and the requests it received. */
export interface FakeTransport extends Transport {
  readonly requests: UpstreamRequest[]
  /** Bodies of the answers, in order. */
  readonly bodies: FakeBody[]
}

/** A transport that gives these answers one after the other, and repeats the last. For tests. */
export function fakeTransport(...answers: readonly (FakeAnswer | Error)[]): FakeTransport {
  const left = [...answers]
  const requests: UpstreamRequest[] = []
  const bodies: FakeBody[] = []
  return {
    requests,
    bodies,
    async request(request, signal): Promise<UpstreamResponse> {
      requests.push(request)
      if (signal.aborted) throw new TransportError('aborted', 'the call was aborted')
      const answer = left.length > 1 ? left.shift() : left[0]
      if (answer instanceof Error) throw answer
      const { status = 200, headers = {}, body = [] } = answer ?? {}
      const fake = isBody(body) ? body : fakeBody(body)
      bodies.push(fake)
      signal.addEventListener('abort', () => fake.cancel())
      return { status, headers: new Map(Object.entries(headers)), body: fake }
    },
    connections: { active: 0, idle: 0 },
    close: () => undefined,
  }
}

function isBody(body: readonly BodyStep[] | FakeBody): body is FakeBody {
  return !Array.isArray(body)
}

/** A failure of the transport. For tests. */
export function transportError(kind: TransportErrorKind): TransportError {
  return new TransportError(kind, `it was ${kind}`)
}

/** One server-sent event with this JSON, or this text. For tests. */
export function event(data: unknown): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

/** The JSON of a chunk. For tests. */
export function chunkJson(
  delta: Readonly<Record<string, unknown>>,
  finishReason: string | null = null,
): Record<string, unknown> {
  return {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  }
}

/** A complete answer's JSON. For tests. */
export function completionJson(content: string | null = 'Hello', finishReason = 'stop'): Record<string, unknown> {
  return {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      { index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: finishReason },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  }
}

/** Bytes cut at these places; places outside are ignored. For tests. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const borders = [0, ...new Set(places.filter((place) => place > 0 && place < bytes.length))].toSorted(
    (one, other) => one - other,
  )
  return borders.map((from, index) => bytes.slice(from, borders[index + 1] ?? bytes.length))
}

/**
 * A framing: each event is a zero, the length of its data in four bytes, and the data. A length above `eventBytesMax`
 * is refused before the data arrives. For tests.
 */
export const lengthPrefixed: Framing = {
  mediaType: 'application/x-frames',
  looksLikeStream: ([first]) => first === 0,
  reader({ eventBytesMax }) {
    let rest = Buffer.alloc(0)
    let failure: Error | undefined

    function next(): ServerSentEvent | undefined {
      if (rest.length < headBytes) return undefined
      if (rest[0] !== 0) failure = new MalformedFrame('an event does not begin with zero')
      const length = rest.readUInt32BE(1)
      if (length > eventBytesMax) failure ??= new EventTooLarge(eventBytesMax)
      if (failure !== undefined || rest.length < headBytes + length) return undefined
      const data = rest.subarray(headBytes, headBytes + length)
      rest = rest.subarray(headBytes + length)
      return { event: '', data }
    }

    return {
      push(bytes) {
        if (failure !== undefined) throw failure
        rest = Buffer.concat([rest, bytes])
        const events: ServerSentEvent[] = []
        for (let event = next(); event !== undefined; event = next()) events.push(event)
        if (failure !== undefined && events.length === 0) throw failure
        return events
      },
      end: () => [],
    }
  },
}

const headBytes = 5

/** Data as an event of {@link lengthPrefixed}. For tests. */
export function framed(data: Uint8Array): Uint8Array {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32BE(data.length, 1)
  return Buffer.concat([head, data])
}
