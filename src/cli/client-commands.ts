import { setTimeout } from 'node:timers/promises'
import { knownCounts, piecesOf } from '../../client/chat/chat-client.ts'
import type { AnswerPiece, ChatClient, StreamedAnswer, ClientHost } from '../../client/host.ts'
import { isChatModel } from '../base/chat-model.ts'
import type { Command, CommandEntry } from '../base/command-line/command.ts'
import { tryParseJson } from '../base/command-line/running-service.ts'
import { findHome } from '../config/home.ts'
import type { Part } from '../formats/part.ts'
import type { Usage } from '../formats/usage.ts'
import type { Gateway, ServedReply } from '../gateway/gateway.ts'
import type { Attempt } from '../service/trail.ts'
import { gatewayAccess, type GatewayAccess } from './gateway-access.ts'
import { answerIfRunning, connectTo, sendForm } from './running-service.ts'

/**
 * The commands of `client/`, which speak HTTP with any service. This is the only file that knows them: it gives them
 * HTTP, files, and the gateway in this process for a chat without a service.
 */
export const clientCommands = {
  chat: async (): Promise<Command> => (await import('../../client/chat.ts')).chatCommand(clientHost()),
  connect: async (): Promise<Command> => (await import('../../client/connect.ts')).connectCommand(clientHost()),
  login: async (): Promise<Command> => (await import('../../client/login.ts')).loginCommand(clientHost()),
  token: async (): Promise<Command> => (await import('../../client/login.ts')).tokenCommand(clientHost()),
  completion: async (commands: readonly CommandEntry[]): Promise<Command> =>
    (await import('../../client/completion.ts')).completionCommand(clientHost(), commands),
}

/** @param access replaced in tests */
export function clientHost(access: GatewayAccess = gatewayAccess): ClientHost {
  return {
    connect: connectTo,
    answerIfRunning,
    async openProviders(file, context) {
      const gateway = await access.open(await access.load(file, context), context.environment, { isFresh: false })
      return { ...(await gatewayChat(gateway)), close: gateway.close }
    },
    async providerNames(file, context) {
      const gateway = await access.open(await access.load(file, context), context.environment, { isFresh: false })
      try {
        return { models: gateway.models().map(({ name }) => name), providers: gateway.providers.map(({ id }) => id) }
      } finally {
        gateway.close()
      }
    },
    form: sendForm,
    async wait(ms, signal) {
      await setTimeout(ms, undefined, { signal })
    },
    loginFile: (environment) => findHome(environment).logins,
    lastConversation: (environment) => findHome(environment).lastConversation,
    async writeFile(path, text, before) {
      const { writeConfig } = await import('../config/edit/write-config.ts')
      const { fingerprint } = await import('../config/watch/fingerprint.ts')
      await writeConfig(path, text, before && fingerprint(before.text))
    },
    jsonEditor: async () => (await import('../config/edit/edit-config.ts')).editConfig,
  }
}

/** Asks the gateway in this process. */
async function gatewayChat(gateway: Gateway): Promise<ChatClient> {
  const [{ parseChatRequest }, { modelsListed }, { formatTrail }] = await Promise.all([
    import('../formats/chat/request.ts'),
    import('../gateway/models-listed.ts'),
    import('../service/trail.ts'),
  ])
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
    async ask({ model, messages }, signal) {
      const body = JSON.stringify({ model, messages, stream: true })
      const trail: Attempt[] = []
      const served = await gateway.answer(parseChatRequest(new TextEncoder().encode(body)), { signal, trail })
      return gatewayAnswer(served, () => formatTrail(trail), signal)
    },
  }
}

function gatewayAnswer(served: ServedReply, trail: () => string | undefined, signal: AbortSignal): StreamedAnswer {
  let usage: Usage | undefined
  async function* pieces(): AsyncIterable<AnswerPiece> {
    const { reply } = served
    if (reply.kind === 'whole') {
      usage = reply.usage
      yield* piecesOf(tryParseJson(reply.body), 'message')
      return
    }
    // A read that waits ends by it.
    const cancel = (): void => reply.cancel()
    signal.addEventListener('abort', cancel)
    try {
      for (let parts = await reply.read(); parts !== undefined; parts = await reply.read()) {
        for (const part of parts) {
          usage = part.usage ?? usage
          yield* piecesOfPart(part)
        }
      }
    } finally {
      signal.removeEventListener('abort', cancel)
      reply.cancel()
    }
  }
  return {
    pieces: pieces(),
    facts() {
      const nanoUsd = usage && served.costOf?.(usage)?.nanoUsd
      return {
        provider: served.provider,
        model: served.model,
        usage: usage && tokenUsage(usage),
        costUsd: nanoUsd === undefined ? undefined : nanoUsd / 1e9,
        trail: trail(),
      }
    },
  }
}

/** Only a part that has more than text is parsed. */
function piecesOfPart({ text, isBeyondText, data }: Part): readonly AnswerPiece[] {
  const beyond = isBeyondText ? piecesOf(tryParseJson(data), 'delta').filter(({ kind }) => kind !== 'text') : []
  return text === '' ? beyond : [...beyond, { kind: 'text', text }]
}

function tokenUsage(usage: Usage) {
  return knownCounts({
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
  })
}
