import type { Config } from '../config/config.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Provider } from '../gateway/provider.ts'
import { harmless } from '../observe/text.ts'
import type { ProbeResult } from './assemble.ts'
import type { CommandContext } from './command.ts'

/** A gateway in this process, and how to end it. */
export interface OpenGateway extends Gateway {
  /** Whether a provider can be reached and takes the key. Never rejects. */
  probe(id: string, signal: AbortSignal): Promise<ProbeResult>
  close(): void
}

/** What commands need to reach providers. Another one stands in for it in tests. */
export interface GatewayAccess {
  /** @throws {ConfigError} */
  load(file: string | undefined, context: Pick<CommandContext, 'environment' | 'stderr'>): Promise<Config>
  /** @param options.isFresh providers are asked for their models even if they were before */
  open(
    config: Config,
    environment: CommandContext['environment'],
    options: { readonly isFresh: boolean },
  ): Promise<OpenGateway>
}

/** The real one: the configuration of this machine, and the gateway the service itself uses. */
export const gatewayAccess: GatewayAccess = { load: loadHere, open: openHere }

async function loadHere(
  file: string | undefined,
  { environment, stderr }: Pick<CommandContext, 'environment' | 'stderr'>,
): Promise<Config> {
  const { loadConfig } = await import('../config/load-config.ts')
  return loadConfig({
    environment,
    ...(file === undefined ? {} : { file }),
    warn: (message) => stderr.write(`svc: ${harmless(message)}\n`),
  })
}

async function openHere(
  config: Config,
  environment: CommandContext['environment'],
  { isFresh }: { readonly isFresh: boolean },
): Promise<OpenGateway> {
  const [{ assembleGateway }, { httpClient }, { healthBook }, { endlessRoom }, { findHome }] = await Promise.all([
    import('./assemble.ts'),
    import('../transport/http-client.ts'),
    import('../service/health.ts'),
    import('../service/answer-room.ts'),
    import('../config/home.ts'),
  ])
  const transport = httpClient()
  const assembled = assembleGateway(config, {
    transport,
    health: healthBook(() => performance.now()),
    answerRoom: endlessRoom,
    log: { debug: () => {}, warn: () => {} },
    ...(isFresh ? {} : { modelsCache: findHome(environment).modelsCache }),
  })
  return {
    ...assembled,
    close() {
      assembled.close()
      transport.close()
    },
  }
}

const listsMs = 10_000

/** Resolves when these providers were asked for their models once, after 10 s at the latest, or when the signal aborts. */
export async function modelsListed(providers: readonly Provider[], signal: AbortSignal): Promise<void> {
  const pending = providers.flatMap(({ models }) => models.pending ?? [])
  if (pending.length === 0 || signal.aborted) return
  const enough = Promise.withResolvers<void>()
  const timer = setTimeout(enough.resolve, listsMs)
  signal.addEventListener('abort', () => enough.resolve(), { once: true })
  await Promise.race([Promise.all(pending), enough.promise])
  clearTimeout(timer)
}

const otherPurposes =
  /embed|whisper|tts|dall-e|image|moderation|rerank|audio|realtime|transcri|speech|guard|sora|veo|imagen|video|babbage|davinci|ocr/i

/**
 * The first of these models that answers chats, as far as its name tells: lists also hold models that embed, draw or
 * listen.
 */
export function firstChatModel<Model extends { readonly name: string }>(models: readonly Model[]): Model | undefined {
  return models.find(({ name }) => !otherPurposes.test(name)) ?? models[0]
}
