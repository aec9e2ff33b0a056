/** Header lines, in order. */
export type HeaderLines = Readonly<Record<string, string>>

/** Makes a status line and headers, with the blank line. */
export function head(status: number, headers: HeaderLines = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n`
}

/** Makes a complete answer with its Content-Length. */
export function reply(status: number, body: string | Uint8Array, headers: HeaderLines = {}): Uint8Array {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const top = head(status, { 'content-type': 'application/json', ...headers, 'content-length': String(bytes.length) })
  return Buffer.concat([new TextEncoder().encode(top), bytes])
}

/** Makes an error answer of chat completions. */
export function errorReply(status: number, error: object | string, headers: HeaderLines = {}): Uint8Array {
  return reply(status, JSON.stringify({ error }), headers)
}

/** The head of a stream in chunked framing. */
export const streamHead = head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' })

/** The head of a stream framed by the end of the connection. */
export const unframedStreamHead = head(200, { 'content-type': 'text/event-stream', connection: 'close' })

/** One HTTP chunk; the empty string makes the last one. */
export function framed(data: string | Uint8Array): Uint8Array {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

/** The end of a chunked body. */
export const lastChunk = framed('')

/** One server-sent event with JSON data. */
export function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

export const done = 'data: [DONE]\n\n'

/** Identity of an answer. */
export interface Identity {
  readonly id: string
  readonly created: number
  readonly model: string
}

export const identity: Identity = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'upstream-model' }

/** A complete answer (docs/api.md). `message` and `choice` add to or replace fields. */
export function completion(
  content: unknown,
  more: { readonly message?: object; readonly choice?: object; readonly top?: object } = {},
): object {
  return {
    ...identity,
    object: 'chat.completion',
    choices: [
      { index: 0, message: { role: 'assistant', content, ...more.message }, finish_reason: 'stop', ...more.choice },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
    ...more.top,
  }
}

/** One chunk of a stream with this delta. */
export function chunk(delta: object, finishReason: string | null = null, top: object = {}): object {
  return {
    ...identity,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...top,
  }
}

/** The chunk that carries usage and no choice. */
export function usageChunk(top: object = {}): object {
  return {
    ...identity,
    object: 'chat.completion.chunk',
    choices: [],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
    ...top,
  }
}

/** `name-0 name-1 …`: numbered tokens. */
export function tokens(count: number, name: string): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index} `)
}

/** The events of a healthy stream: role, tokens, finish, and `[DONE]`. */
export function streamEvents(
  texts: readonly string[],
  options: { readonly usage?: boolean; readonly top?: object } = {},
): readonly string[] {
  return [
    event(chunk({ role: 'assistant', content: '' }, null, options.top)),
    ...texts.map((text) => event(chunk({ content: text }, null, options.top))),
    event(chunk({}, 'stop', options.top)),
    ...(options.usage === true ? [event(usageChunk(options.top))] : []),
    done,
  ]
}
