import type { Gateway } from '../gateway/gateway.ts'
import type { WholeReply } from '../protocols/protocol.ts'
import { headerBlock, parseOrigin } from '../transport/header-block.ts'
import type { Transport, UpstreamResponse } from '../transport/transport.ts'
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
  /**
   * @param body a chat-completions request as JSON, with `stream: true`. @throws what goes wrong, with a message for
   *   people
   */
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
  yield contentOf(parseJson(body), 'message')
}

async function* streamText(reply: {
  read(): Promise<readonly { readonly text: string }[] | undefined>
  cancel(): void
}): AsyncIterable<string> {
  try {
    for (let chunks = await reply.read(); chunks !== undefined; chunks = await reply.read()) {
      for (const { text } of chunks) if (text !== '') yield text
    }
  } finally {
    reply.cancel()
  }
}

const connectMs = 10_000
const answerBytesMax = 256 * 1024 * 1024

/**
 * Asks a running service. Over the transport that providers are asked with: `fetch` would send a request for 127.0.0.1
 * to HTTP_PROXY.
 *
 * @param url with or without `/v1`
 */
export function serviceAnswerer(url: string, transport: Transport): Answerer {
  const base = new URL(`${url.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`)

  async function request(path: string, body: string | undefined, signal: AbortSignal): Promise<UpstreamResponse> {
    const response = await transport
      .request(
        {
          origin: parseOrigin(base),
          method: body === undefined ? 'GET' : 'POST',
          path: `${base.pathname}${path}`,
          headers: headerBlock({
            accept: '*/*',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          }),
          body: body === undefined ? [] : [new TextEncoder().encode(body)],
          connectMs,
          bodyBytesMax: answerBytesMax,
        },
        signal,
      )
      .catch((error: unknown) => {
        throw new Error(`no answer from ${base.href}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        })
      })
    if (response.status === 200) return response
    throw new Error(
      errorMessage(parseJson(await response.body.readAll())) ?? `${base.href} answered with status ${response.status}`,
    )
  }

  return {
    async defaultModel(signal) {
      const list = parseJson(await (await request('/models', undefined, signal)).body.readAll())
      const models = (arrayOf(member(list, 'data')) ?? []).flatMap((model) => {
        const name = member(model, 'id')
        return typeof name === 'string' ? [{ name }] : []
      })
      const model = firstChatModel(models)
      if (model === undefined) throw new Error(`${base.href} offers no model`)
      return model.name
    },
    async ask(body, signal) {
      const response = await request('/chat/completions', body, signal)
      return {
        provider: response.headers.get('x-svc-provider'),
        model: response.headers.get('x-svc-model'),
        pieces: eventText(response),
      }
    },
  }
}

async function* eventText({ body }: UpstreamResponse): AsyncIterable<string> {
  const reader = eventStreamReader()
  try {
    for (let bytes = await body.read(); bytes !== undefined; bytes = await body.read()) {
      for (const { data } of reader.push(bytes)) {
        if (new TextDecoder().decode(data) === '[DONE]') return
        const event = parseJson(data)
        const message = errorMessage(event)
        if (message !== undefined) throw new Error(message)
        yield contentOf(event, 'delta')
      }
    }
  } finally {
    body.cancel()
  }
  throw new Error('the answer broke off')
}

function contentOf(value: unknown, part: 'message' | 'delta'): string {
  const content = member(member(arrayOf(member(value, 'choices'))?.[0], part), 'content')
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

function arrayOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    // Whoever answered is no chat service; what it meant is looked for and not found.
    return undefined
  }
}
