import { eventStreamReader } from '../bytes/event-stream.ts'
import { decodeHeaderText } from '../bytes/header-text.ts'
import { parseChatRequest } from '../formats/chat/request.ts'
import type { WholeReply } from '../formats/reply.ts'
import { firstChatModel, isChatModel } from '../gateway/chat-model.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { modelsListed } from '../gateway/models-listed.ts'
import type { Transport, UpstreamResponse } from '../transport/transport.ts'
import { askService, errorMessage, member, serviceRoot, tryParseJson } from './running-service.ts'

/** An answer that arrives in pieces. */
export interface StreamedAnswer {
  /** Id of the provider. */
  readonly provider: string | undefined
  /** The provider's name for the model. */
  readonly model: string | undefined
  /** The text, piece by piece. @throws when the answer is cut */
  readonly pieces: AsyncIterable<string>
}

/** Asks for `svc chat`: the gateway in this process, or a running service. */
export interface ChatClient {
  /**
   * Finds the first chat model, judging by names, in the order of providers; else the first model.
   *
   * @throws when no model is offered
   */
  defaultModel(signal: AbortSignal): Promise<string>
  /**
   * Sends a request.
   *
   * @param body a chat-completions request as JSON, with `stream: true`
   * @throws errors with a message for users
   */
  ask(body: string, signal: AbortSignal): Promise<StreamedAnswer>
}

/** Asks the gateway in this process. */
export function gatewayChat(gateway: Gateway): ChatClient {
  return {
    async defaultModel(signal) {
      for (const provider of gateway.providers) {
        await modelsListed([provider], signal)
        const model = provider.models.current()?.find(({ name }) => isChatModel(name))
        if (model !== undefined) return model.name
      }
      const [first] = gateway.models()
      if (first !== undefined) return first.name
      throw new Error("no provider offers a model: run 'svc check' for the reasons")
    },
    async ask(body, signal) {
      const request = parseChatRequest(new TextEncoder().encode(body))
      const { reply, provider, model } = await gateway.answer(request, { signal, trail: [] })
      if (reply.kind === 'whole') return { provider, model, pieces: wholeText(reply) }
      return { provider, model, pieces: streamText(reply) }
    },
  }
}

async function* wholeText({ body }: WholeReply): AsyncIterable<string> {
  yield contentOf(tryParseJson(body), 'message')
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

/**
 * Asks a running service.
 *
 * @param url with or without `/v1`
 */
export function serviceChat(url: string, transport: Transport): ChatClient {
  const base = new URL(`${serviceRoot(url)}/v1`)

  function request(path: string, body: string | undefined, signal: AbortSignal): Promise<UpstreamResponse> {
    return askService(base, body === undefined ? { path } : { path, body }, transport, signal)
  }

  return {
    async defaultModel(signal) {
      const list = tryParseJson(await (await request('/models', undefined, signal)).body.readAll())
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
      const model = response.headers.get('x-svc-model')
      return {
        provider: response.headers.get('x-svc-provider'),
        model: model === undefined ? undefined : decodeHeaderText(model),
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
        const event = tryParseJson(data)
        const message = errorMessage(event)
        if (message !== undefined) throw new Error(message)
        yield contentOf(event, 'delta')
      }
    }
  } finally {
    body.cancel()
  }
  throw new Error('the answer was cut off')
}

function contentOf(value: unknown, part: 'message' | 'delta'): string {
  const content = member(member(arrayOf(member(value, 'choices'))?.[0], part), 'content')
  return typeof content === 'string' ? content : ''
}

function arrayOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}
