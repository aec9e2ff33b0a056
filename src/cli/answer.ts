import type { WholeReply } from '../protocols/protocol.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { parseChatRequest } from '../wire/chat-request.ts'
import { eventStreamReader } from '../wire/event-stream.ts'
import { firstChatModel, modelsListed } from './gateway-access.ts'

/** An answer as it comes. */
export interface Answer {
  /** Who gives it. */
  readonly provider: string | undefined
  /** What the provider calls the model. */
  readonly model: string | undefined
  /** The text, piece by piece. @throws when it breaks off */
  readonly pieces: AsyncIterable<string>
}

/** Whom `svc chat` asks: the gateway in this process, or a running service. */
export interface Answerer {
  /** The first model of the first provider that has one. @throws when there is none */
  defaultModel(signal: AbortSignal): Promise<string>
  /** @param body a chat-completions request as JSON, with `stream: true`. @throws what goes wrong, with a message for people */
  ask(body: string, signal: AbortSignal): Promise<Answer>
}

/** Asks the gateway in this process. */
export function gatewayAnswerer(gateway: Gateway): Answerer {
  return {
    async defaultModel(signal) {
      for (const provider of gateway.providers) {
        await modelsListed([provider], signal)
        const model = firstChatModel(provider.models.current() ?? [])
        if (model !== undefined) return model.name
      }
      throw new Error("no provider offers a model: 'svc check' tells why")
    },
    async ask(body, signal) {
      const request = parseChatRequest(new TextEncoder().encode(body))
      const { reply, provider, model } = await gateway.chat(request, { signal, trail: [] })
      if (reply.kind === 'whole') return { provider, model, pieces: wholeText(reply) }
      return { provider, model, pieces: streamText(reply) }
    },
  }
}

async function* wholeText({ body }: WholeReply): AsyncIterable<string> {
  yield contentOf(parseJson(new TextDecoder().decode(body)), 'message')
}

async function* streamText(reply: { read(): Promise<readonly { readonly text: string }[] | undefined>; cancel(): void }): AsyncIterable<string> {
  try {
    for (let chunks = await reply.read(); chunks !== undefined; chunks = await reply.read()) {
      for (const { text } of chunks) if (text !== '') yield text
    }
  } finally {
    reply.cancel()
  }
}

/** As `fetch`. */
export type Send = (url: string, init: RequestInit) => Promise<Response>

/** Asks a running service. @param url with or without `/v1` */
export function serviceAnswerer(url: string, send: Send = fetch): Answerer {
  const base = `${url.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`

  async function request(path: string, init: RequestInit): Promise<Response> {
    const response = await send(`${base}${path}`, init).catch((error: unknown) => {
      throw new Error(`no answer from ${base}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    })
    if (response.ok) return response
    throw new Error(errorMessage(parseJson(await response.text())) ?? `${base} answered with status ${response.status}`)
  }

  return {
    async defaultModel(signal) {
      const list = parseJson(await (await request('/models', { signal })).text())
      const models = (isArray(member(list, 'data')) ?? []).flatMap((model) => {
        const name = member(model, 'id')
        return typeof name === 'string' ? [{ name }] : []
      })
      const model = firstChatModel(models)
      if (model === undefined) throw new Error(`${base} offers no model`)
      return model.name
    },
    async ask(body, signal) {
      const response = await request('/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal })
      const header = (name: string): string | undefined => response.headers.get(name) ?? undefined
      return { provider: header('x-svc-provider'), model: header('x-svc-model'), pieces: eventText(response) }
    },
  }
}

async function* eventText(response: Response): AsyncIterable<string> {
  if (response.body === null) return
  const reader = eventStreamReader()
  let isDone = false
  for await (const bytes of response.body) {
    for (const { data } of reader.push(bytes)) {
      const text = new TextDecoder().decode(data)
      isDone ||= text === '[DONE]'
      if (isDone) continue
      const event = parseJson(text)
      const message = errorMessage(event)
      if (message !== undefined) throw new Error(message)
      yield contentOf(event, 'delta')
    }
  }
  if (!isDone) throw new Error('the answer broke off')
}

function contentOf(value: unknown, part: 'message' | 'delta'): string {
  const content = member(member(isArray(member(value, 'choices'))?.[0], part), 'content')
  return typeof content === 'string' ? content : ''
}

function errorMessage(value: unknown): string | undefined {
  const message = member(member(value, 'error'), 'message')
  return typeof message === 'string' ? message : undefined
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

function isArray(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Whoever answered is no chat service; what it meant is looked for and not found.
    return undefined
  }
}
