import type { Script } from '../fault-upstream.ts'
import { framed, lastChunk, reply, streamHead } from '../replies.ts'

/** A call of a function. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly input: object
}

/** A piece of an answer. `seal` is data that only the provider can read, and wants back. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string; readonly seal: string }
  | { readonly kind: 'call'; readonly call: Call }

/** A message of a question. An answer goes back as the caller received it. */
export type Turn =
  | { readonly role: 'user'; readonly text: string; readonly png?: string }
  | { readonly role: 'assistant'; readonly answer: Answer }
  | { readonly role: 'results'; readonly results: readonly (Pick<Call, 'id' | 'name'> & { readonly text: string })[] }

/** A request in no format. */
export interface Question {
  readonly model: string
  readonly stream: boolean
  readonly turns: readonly Turn[]
  readonly tools?: readonly Tool[]
  /** The answer must be JSON of this schema. */
  readonly schema?: object
  /** The model should think. */
  readonly thinks?: boolean
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly schema: object
}

/** An answer as a caller understood it. */
export interface Answer {
  readonly status: number
  readonly text: string
  readonly thinking: string
  readonly calls: readonly Call[]
  /** Ended as the format demands, and not with an error. */
  readonly isComplete: boolean
  /** Message of its error. */
  readonly error: string | undefined
  /** Tokens of the prompt and the answer. */
  readonly usage: readonly [unknown, unknown]
  /** The assistant's message, for the next request. */
  readonly turn: unknown
}

/** How a provider of a format answers. */
export interface ProviderLanguage {
  /** Members of its entry in the configuration. */
  readonly entry: Readonly<Record<string, unknown>>
  /** In the body of a request, once for each result of a tool. */
  readonly resultMark: RegExp
  whole(pieces: readonly Piece[]): object
  /** Events before the first piece, and after the last. */
  begin(): readonly string[]
  end(pieces: readonly Piece[]): readonly string[]
  /** The events of the piece at an index. */
  piece(piece: Piece, index: number): readonly string[]
  /** Its first events only: the piece is not complete. */
  half(piece: Piece, index: number): readonly string[]
  /** An error instead of the rest of a stream. */
  readonly failure: string
  /** Numbers the events of a stream, in formats that do. */
  numbered?(events: readonly string[]): readonly string[]
}

/** How a caller of a format asks. */
export interface CallerLanguage {
  path(question: Pick<Question, 'model' | 'stream'>): string
  body(question: Question): object
  /** Reads the body of an answer. */
  read(body: string, isStream: boolean): Omit<Answer, 'status'>
}

/** A format, from both sides, written anew for tests: nothing of it is the service's. */
export interface Language {
  /** As in the names of models and providers. */
  readonly name: 'chat' | 'messages' | 'responses' | 'gemini'
  readonly title: string
  readonly provider: ProviderLanguage
  readonly caller: CallerLanguage
}

/**
 * Answers with these pieces, streamed if the request asks for that.
 *
 * @param changed changes a whole answer and each event
 */
export function answering(
  { provider }: Language,
  pieces: readonly Piece[],
  changed: (text: string) => string = (text) => text,
): Script {
  return async (exchange) => {
    if (!asksForStream(exchange.hit)) return exchange.write(reply(200, changed(JSON.stringify(provider.whole(pieces)))))
    await exchange.write(chunked(provider, eventsWith(provider, pieces).map(changed)))
  }
}

/** The events of a complete stream. */
export function eventsWith(provider: ProviderLanguage, pieces: readonly Piece[]): readonly string[] {
  return [
    ...provider.begin(),
    ...pieces.flatMap((piece, index) => provider.piece(piece, index)),
    ...provider.end(pieces),
  ]
}

/**
 * Answers with these pieces, of the last only a half unless it is `late`, and then loses the connection or sends an
 * error.
 */
export function breaking({ provider }: Language, pieces: readonly Piece[], way: 'cut' | 'error' | 'late'): Script {
  return async (exchange) => {
    const last = pieces.length - 1
    const events = pieces.flatMap((piece, index) =>
      index === last && way !== 'late' ? provider.half(piece, index) : provider.piece(piece, index),
    )
    const failure = way === 'error' ? [provider.failure] : []
    await streamed(provider, [...provider.begin(), ...events, ...failure], way === 'error' ? 'end' : 'close')(exchange)
    exchange.close()
  }
}

/** Sends a stream of these events, and ends it. With `close` the connection is lost instead. */
export function streamed(
  provider: ProviderLanguage,
  events: readonly string[],
  ending: 'end' | 'close' = 'end',
): Script {
  return async (exchange) => {
    const bytes = chunked(provider, events)
    await exchange.write(ending === 'end' ? bytes : bytes.subarray(0, bytes.length - lastChunk.length))
    // The end of the connection is the end of the answer, which is in chunks.
    if (ending === 'close') exchange.close()
  }
}

/** Begins a text, and then sends nothing more. */
export function stalling({ provider }: Language, text: Piece): Script {
  return async (exchange) => {
    const bytes = chunked(provider, [...provider.begin(), ...provider.half(text, 0)])
    await exchange.write(bytes.subarray(0, bytes.length - lastChunk.length))
    await exchange.hang()
  }
}

function chunked({ numbered }: ProviderLanguage, events: readonly string[]): Uint8Array {
  return Buffer.concat([Buffer.from(streamHead), ...(numbered?.(events) ?? events).map(framed), lastChunk])
}

/** Whether a request of any format asks for a stream. */
function asksForStream({ path, body }: { readonly path: string; readonly body: Uint8Array }): boolean {
  return path.includes(':streamGenerateContent') || /"stream"\s*:\s*true/.test(new TextDecoder().decode(body))
}

/** Short pieces of a text. */
export function pieces(text: string): readonly string[] {
  return text.match(/.{1,3}/gs) ?? []
}

/** The data of each event of a stream, parsed; `[DONE]` as text. */
export function eventsOf(body: string): readonly unknown[] {
  return Array.from(body.matchAll(/^data: ?(.*)$/gm), ([, data = '']): unknown =>
    data === '[DONE]' ? data : JSON.parse(data),
  )
}
