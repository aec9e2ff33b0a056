/** What a client asks of the token upstream; it travels in the prompt, so that every proxy lets it through. */
export interface Order {
  /** Unlike that of any other order of the run: `[\w-]+`. */
  readonly name: string
  readonly stream: boolean
  /** Of a stream, from 1. */
  readonly tokens: number
  /** Between two tokens, milliseconds. */
  readonly paceMs: number
  /** Before the first byte of the answer, milliseconds. */
  readonly holdMs: number
}

/** The chat request of an order, for model `model` (default `m`). */
export function orderBody({ name, stream, tokens, paceMs, holdMs }: Order, model = 'm'): string {
  return JSON.stringify({
    model,
    ...(stream ? { stream } : {}),
    messages: [{ role: 'user', content: `order=${name} tokens=${tokens} pace=${paceMs} hold=${holdMs}` }],
  })
}

/** Reads the order from a request body. A body without one asks for a plain answer named `none`. */
export function readOrder(body: string): Order {
  const [, name = 'none', tokens, paceMs, holdMs] = /order=([\w-]+) tokens=(\d+) pace=(\d+) hold=(\d+)/.exec(body) ?? []
  return {
    name,
    stream: body.includes('"stream":true'),
    tokens: Number(tokens ?? 1),
    paceMs: Number(paceMs ?? 0),
    holdMs: Number(holdMs ?? 0),
  }
}

const before =
  'data: {"id":"chatcmpl-load","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" '
const after = '"},"logprobs":null,"finish_reason":null}]}'

/** The events of a stream apart from its tokens, without their blank lines. */
export const roleEvent =
  'data: {"id":"chatcmpl-load","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}'
export const finishEvent =
  'data: {"id":"chatcmpl-load","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}'
export const doneEvent = 'data: [DONE]'
export const errorEventStart = 'data: {"error":'

/** The event of one token: the name of its stream, its number from 0, and when it was sent (µs since 1970). */
export function tokenEvent(name: string, number: number, sentUs: number): string {
  return `${before}${name}.${number}.${sentUs}${after}`
}

/** A token as it came. */
export interface Token {
  readonly name: string
  readonly number: number
  readonly sentUs: number
}

/** Reads a token's event; `undefined` for every other event, and for one of which any byte is not as it was sent. */
export function readToken(event: string): Token | undefined {
  if (!event.startsWith(before) || !event.endsWith(after)) return undefined
  const nameEnd = event.indexOf('.', before.length),
    numberEnd = event.indexOf('.', nameEnd + 1)
  const name = event.slice(before.length, nameEnd),
    number = Number(event.slice(nameEnd + 1, numberEnd))
  const sentUs = Number(event.slice(numberEnd + 1, event.length - after.length))
  return tokenEvent(name, number, sentUs) === event ? { name, number, sentUs } : undefined
}

/** The body of a plain answer. */
export function plainBody(name: string): string {
  return `{"id":"chatcmpl-load","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"answer ${name}","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`
}
