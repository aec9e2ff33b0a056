/** Order of a client to the token upstream. It is part of the prompt, so that every proxy passes it on. */
export interface Order {
  /** Unique in the run, `[\w-]+`. */
  readonly name: string
  readonly stream: boolean
  /** Tokens of a stream, from 1. */
  readonly tokens: number
  /** Interval of tokens, milliseconds. */
  readonly paceMs: number
  /** Delay of the first byte, milliseconds. */
  readonly holdMs: number
}

/** Makes the chat request of an order. */
export function orderBody({ name, stream, tokens, paceMs, holdMs }: Order, model = 'm'): string {
  return JSON.stringify({
    model,
    ...(stream ? { stream } : {}),
    messages: [{ role: 'user', content: `order=${name} tokens=${tokens} pace=${paceMs} hold=${holdMs}` }],
  })
}

/** Reads the order of a request body. Default: a plain answer named `none`. */
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

const opening =
  'data: {"id":"chatcmpl-load","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
const before = `${opening}{"content":" `
const after = '"},"logprobs":null,"finish_reason":null}]}'

/** Events of a stream apart from its tokens, without their blank lines. */
export const roleEvent = `${opening}{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`
export const finishEvent = `${opening}{},"logprobs":null,"finish_reason":"stop"}]}`
export const doneEvent = 'data: [DONE]'
export const errorEventStart = 'data: {"error":'

/** Makes the event of one token: name of its stream, number from 0, time of sending (µs since 1970). */
export function tokenEvent(name: string, number: number, sentUs: number): string {
  return `${before}${name}.${number}.${sentUs}${after}`
}

/** A received token. */
export interface Token {
  readonly name: string
  readonly number: number
  readonly sentUs: number
}

/** Parses a token's event; `undefined` for every other event, and for one with any changed byte. */
export function readToken(event: string): Token | undefined {
  if (!event.startsWith(before) || !event.endsWith(after)) return undefined
  const nameEnd = event.indexOf('.', before.length),
    numberEnd = event.indexOf('.', nameEnd + 1)
  const name = event.slice(before.length, nameEnd),
    number = Number(event.slice(nameEnd + 1, numberEnd))
  const sentUs = Number(event.slice(numberEnd + 1, event.length - after.length))
  return tokenEvent(name, number, sentUs) === event ? { name, number, sentUs } : undefined
}

/** Makes the body of a plain answer. */
export function plainBody(name: string): string {
  const message = `{"role":"assistant","content":"answer ${name}","refusal":null}`
  const choice = `{"index":0,"message":${message},"logprobs":null,"finish_reason":"stop"}`
  const usage = '{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}'
  const head = '{"id":"chatcmpl-load","object":"chat.completion","created":1,"model":"m"'
  return `${head},"choices":[${choice}],"usage":${usage}}`
}
