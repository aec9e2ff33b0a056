import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config, ProviderConfig } from '../config/config.ts'
import { providerTarget } from '../config/provider-target.ts'
import { conversion } from '../gateway/conversion.ts'
import { firstEvent } from '../gateway/first-event.ts'
import { gateway, type Gateway } from '../gateway/gateway.ts'
import { learnedModels, type LearnedModels, type ModelListCache } from '../gateway/model-list.ts'
import {
  fixedModels,
  type ChatCandidate,
  type ModelList,
  type OfferedModel,
  type Provider,
} from '../gateway/provider.ts'
import { watchEnd } from '../gateway/watch-end.ts'
import type { Logger } from '../observe/log.ts'
import { anthropic } from '../protocols/anthropic.ts'
import { echo } from '../protocols/echo.ts'
import { chatExchange } from '../protocols/exchange.ts'
import { gemini } from '../protocols/gemini.ts'
import { listModels, modelsStatus } from '../protocols/list-models.ts'
import { openai } from '../protocols/openai.ts'
import type { ChatReply, ChatService, Connection, Protocol } from '../protocols/protocol.ts'
import type { AnswerRoom } from '../service/answer-room.ts'
import type { HealthBook } from '../service/health.ts'
import { bulkhead } from '../service/layers/bulkhead.ts'
import { deadline } from '../service/layers/deadline.ts'
import { observed } from '../service/layers/observed.ts'
import { retry } from '../service/layers/retry.ts'
import { stack } from '../service/service.ts'
import type { Transport } from '../transport/transport.ts'
import type { ChatRequest } from '../wire/chat-request.ts'
import { isRecord } from '../wire/json-value.ts'

const protocols: Readonly<Record<Exclude<ProviderConfig['protocol'], 'echo'>, Protocol>> = { openai, anthropic, gemini }
const listModelsMs = 15_000
const candidatesMost = 2_000

/** What the parts of a gateway share, whatever its configuration: it outlives reloads. */
export interface Surroundings {
  readonly transport: Transport
  readonly health: HealthBook
  /** What the answers share that are gathered before they are handed on. */
  readonly answerRoom: AnswerRoom
  /** Folder of the model lists' cache; absent: none is kept. */
  readonly modelsCache?: string
  readonly log: Pick<Logger, 'debug' | 'warn'>
}

/** A gateway made of a configuration. */
export interface AssembledGateway extends Gateway {
  readonly assembled: readonly AssembledProvider[]
  /** What a provider answers when it is asked for its models: whether it can be reached and takes the key. */
  probe(id: string, signal: AbortSignal): Promise<ProbeResult>
  /**
   * Ends what it does in the background, but for the providers that `next` goes on with. Requests under way are not
   * touched.
   */
  close(next?: AssembledGateway): void
}

/** What came of a probe. */
export interface ProbeResult {
  readonly ms: number
  /** HTTP status; absent when it did not answer, or has no upstream. */
  readonly status?: number
  /** Why it did not answer. */
  readonly reason?: string
}

/**
 * The composition root: a configuration becomes providers with their layers, and they become a gateway.
 *
 * @param before a provider whose configuration has not changed is taken from here, with its model list and its requests
 *   under way
 */
export function assembleGateway(
  config: Config,
  surroundings: Surroundings,
  before?: AssembledGateway,
): AssembledGateway {
  const known = new Map(before?.assembled.map((each) => [each.config.id, each]))
  const assembled = config.providers
    .filter(({ enabled, unavailable }) => enabled && unavailable === undefined)
    .map((provider) => {
      const same = known.get(provider.id)
      return same !== undefined && Bun.deepEquals(same.config, provider)
        ? same
        : assembleProvider(provider, surroundings)
    })
  surroundings.health.setTargets(new Map(assembled.map(({ config: { id }, target }) => [id, target])))
  return {
    assembled,
    ...gateway({ providers: assembled.map(({ provider }) => provider), aliases: config.aliases, ...config.failover }),
    async probe(id, signal) {
      const started = performance.now()
      try {
        const status = await assembled.find(({ provider }) => provider.id === id)?.probe(signal)
        return { ms: performance.now() - started, ...(status === undefined ? {} : { status }) }
      } catch (error) {
        return { ms: performance.now() - started, reason: error instanceof Error ? error.message : String(error) }
      }
    },
    close(next) {
      const goesOn = new Set(next?.assembled)
      for (const provider of assembled) if (!goesOn.has(provider)) provider.close()
    },
  }
}

/** One provider with everything around it. */
export interface AssembledProvider {
  /** What it was made of. */
  readonly config: ProviderConfig
  readonly provider: Provider
  /** What its id means to those who hear news of its health. */
  readonly target: string
  /** The status of `GET /models`; `undefined`: it has no upstream. @throws {UpstreamFailure} when it does not answer */
  readonly probe: (signal: AbortSignal) => Promise<number | undefined>
  readonly close: () => void
}

/**
 * Makes a provider: its models, and for each a service with its layers. The order of layers is written here and nowhere
 * else.
 */
export function assembleProvider(config: ProviderConfig, surroundings: Surroundings): AssembledProvider {
  const { transport, health, answerRoom } = surroundings
  const connection: Connection = {
    id: config.id,
    baseUrl: config.baseUrl,
    apiKey: config.apiKey,
    headers: config.headers,
    overrides: config.overrides,
    rename: config.quirks.rename,
    drop: config.quirks.drop,
    streamUsage: config.quirks.streamUsage,
  }
  const { timeouts } = config
  const target = providerTarget(config)
  const models = modelsOf({ config, connection, target }, surroundings)
  const limit =
    config.maxConcurrent === undefined ? undefined : bulkhead<ChatRequest, ChatReply>(config.maxConcurrent, watchEnd)
  const candidates = new Map<string, ChatCandidate>()

  function serviceOf(model: string): ChatService {
    if (config.protocol === 'echo') return echo()
    return chatExchange({
      transport,
      connection,
      model,
      protocol: protocols[config.protocol],
      connectMs: timeouts.connectMs,
      idleMs: timeouts.idleMs,
      room: answerRoom,
    })
  }

  function makeCandidate(model: string): ChatCandidate {
    const modelHealth = health.of(config.id, model, target)
    const chat = stack<ChatRequest, ChatReply>(
      serviceOf(model),
      ...(limit === undefined ? [] : [limit.layer]),
      ...(config.retries > 0 ? [retry<ChatRequest, ChatReply>({ retries: config.retries })] : []),
      observed({ name: config.id, health: modelHealth, watchEnd, now: () => performance.now() }),
      deadline(({ stream }) => (stream ? timeouts.firstTokenMs : timeouts.attemptMs)),
      firstEvent,
      conversion(answerRoom),
    )
    return {
      name: config.id,
      model,
      price: config.models === '*' ? undefined : config.models.find(({ upstream }) => upstream === model)?.price,
      chat,
      continues: config.quirks.continuation,
      unavailable: () => (limit?.isFull === true ? { reason: 'full', remainingMs: 1_000 } : modelHealth.unavailable()),
    }
  }

  return {
    config,
    target,
    provider: {
      id: config.id,
      models,
      candidate(model) {
        const known = candidates.get(model)
        if (known !== undefined) return known
        if (candidates.size >= candidatesMost) candidates.clear()
        const made = makeCandidate(model)
        candidates.set(model, made)
        return made
      },
    },
    probe: async (signal) => {
      if (config.protocol === 'echo') return undefined
      return modelsStatus(
        transport,
        connection,
        protocols[config.protocol].headers(connection),
        timeouts.connectMs,
        signal,
      )
    },
    close: () => {
      if ('close' in models) models.close()
    },
  }
}

interface ListedProvider {
  readonly config: ProviderConfig
  readonly connection: Connection
  readonly target: string
}

function modelsOf(
  { config, connection, target }: ListedProvider,
  { transport, modelsCache, log }: Pick<Surroundings, 'transport' | 'modelsCache' | 'log'>,
): ModelList | LearnedModels {
  if (config.models !== '*') return fixedModels(config.models)
  if (config.protocol === 'echo') return fixedModels([offered('echo')])
  const headers = protocols[config.protocol].headers(connection)
  return learnedModels({
    fetchModels: async (signal) => {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(listModelsMs)])
      const list = await listModels(transport, connection, headers, config.timeouts.connectMs, limited)
      return list.map(({ name, context }) => ({ ...offered(name), ...(context === undefined ? {} : { context }) }))
    },
    cache: modelsCache === undefined ? noCache : fileCache(join(modelsCache, `${config.id}.json`), target),
    onFailure: (error) =>
      log.warn('could not list the models of a provider', {
        provider: config.id,
        reason: error instanceof Error ? error.message : String(error),
      }),
  })
}

function offered(name: string): OfferedModel {
  return { name, upstream: name, aliases: [] }
}

const noCache: ModelListCache = { read: async () => undefined, write: async () => undefined }

/**
 * A cache that is allowed to fail: without it a list is asked for again.
 *
 * @param target whose list it is: one that was written for another by the same name is none
 */
function fileCache(path: string, target: string): ModelListCache {
  return {
    async read() {
      try {
        const parsed: unknown = JSON.parse(await readFile(path, 'utf8'))
        return isRecord(parsed) && parsed['target'] === target && Array.isArray(parsed['models'])
          ? parsed['models'].flatMap((entry: unknown) => readOffered(entry) ?? [])
          : undefined
      } catch {
        return undefined
      }
    },
    async write(models) {
      const temporary = `${path}.${process.pid}.tmp`
      try {
        await mkdir(join(path, '..'), { recursive: true })
        await writeFile(
          temporary,
          JSON.stringify({ target, models: models.map(({ name, context }) => ({ name, context })) }),
          { mode: 0o600 },
        )
        await rename(temporary, path)
      } catch {
        // A read-only home or a full disk is no reason not to serve. What has been begun is of no use.
        await rm(temporary, { force: true }).catch(() => undefined)
      }
    },
  }
}

function readOffered(entry: unknown): OfferedModel | undefined {
  if (typeof entry !== 'object' || entry === null || !('name' in entry) || typeof entry.name !== 'string')
    return undefined
  const context = 'context' in entry && typeof entry.context === 'number' ? { context: entry.context } : {}
  return { ...offered(entry.name), ...context }
}
