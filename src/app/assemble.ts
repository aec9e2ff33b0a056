import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '../base/json-value.ts'
import type { Config, ProviderConfig } from '../config/config.ts'
import { providerTarget } from '../config/file/provider-target.ts'
import type { Ask } from '../formats/ask.ts'
import type { OfferedModel } from '../formats/model.ts'
import { onEnd, type Reply } from '../formats/reply.ts'
import { assumed } from '../formats/size.ts'
import { gateway, type Gateway } from '../gateway/gateway.ts'
import { learnedModels, type LearnedModels, type ModelListCache } from '../gateway/model-list.ts'
import {
  fixedModels,
  type AnswerService,
  type ModelCandidate,
  type ModelList,
  type Provider,
} from '../gateway/provider.ts'
import type { Budgets } from '../limits/budgets/budgets.ts'
import type { Logger } from '../observe/log.ts'
import type { CostOf } from '../prices/cost.ts'
import type { PriceBook } from '../prices/price-book.ts'
import type { TargetProfile } from '../profiles/profile.ts'
import { LearnedProfile, profileAt } from '../profiles/resolve-profile.ts'
import { echo, echoFormats } from '../protocols/echo/echo.ts'
import { protocols } from '../protocols/protocol-list.ts'
import type { Protocol } from '../protocols/protocol.ts'
import type { AnswerBudget } from '../service/answer-budget.ts'
import type { HealthBook } from '../service/health/health.ts'
import { bulkhead } from '../service/layers/bulkhead.ts'
import { sharedTimers } from '../service/shared-timers.ts'
import type { Transport } from '../transport/transport.ts'
import { upstreamExchange } from '../upstream/exchange.ts'
import { ModelListError, listModels, modelsStatus } from '../upstream/list-models.ts'
import { upstreamAt, type Upstream } from '../upstream/upstream.ts'
import type { KeyFiles } from './key-files.ts'
import { providerLayers } from './provider-layers.ts'
import { providerPricing } from './provider-pricing.ts'

const listModelsMs = 15_000
const now = (): number => performance.now()
const candidatesMax = 2_000
const noCache: ModelListCache = { read: async () => undefined, write: async () => undefined }

/** Shared by all gateways of a process; outlives reloads. */
export interface Dependencies {
  readonly transport: Transport
  readonly health: HealthBook
  /** Memory budget for buffered answers. */
  readonly answerBudget: AnswerBudget
  /** The prices of prices.json. Absent: none. */
  readonly prices?: PriceBook
  /** The limits of money. Absent or `undefined`: none. */
  readonly budgets?: () => Budgets | undefined
  /** Folder of cached model lists; absent: no cache. */
  readonly modelsCache?: string
  /** Keys of providers in files. Absent: keys do not change. */
  readonly keys?: Pick<KeyFiles, 'renewed'>
  readonly log: Pick<Logger, 'debug' | 'warn'>
}

/** The protocol with the formats that this provider speaks itself. */
function speaking(protocol: Protocol, { quirks }: ProviderConfig): Protocol {
  const { further } = protocol
  if (further === undefined || quirks.formats.length === 0) return protocol
  const spoken = quirks.formats.map((name) => further[name])
  return { ...protocol, dialects: spoken.reduce((all, each) => ({ ...all, ...each }), protocol.dialects) }
}

/** A provider: its model list, and an exchange within layers for each model ({@link providerLayers}). */
export class AssembledProvider {
  /** The configuration it was built from. */
  readonly config: ProviderConfig
  readonly provider: Provider
  /** Its target in health events: protocol, address and account. */
  readonly target: string
  readonly #dependencies: Dependencies
  /** `undefined` for the built-in echo. */
  readonly #upstream: Upstream | undefined
  readonly #spoken: readonly string[]
  readonly #models: ModelList | LearnedModels
  readonly #limit: ReturnType<typeof bulkhead<Ask, Reply>> | undefined
  readonly #pricing: ReturnType<typeof providerPricing>
  readonly #timers = sharedTimers()
  readonly #candidates = new Map<string, ModelCandidate>()

  constructor(config: ProviderConfig, dependencies: Dependencies) {
    this.config = config
    this.target = providerTarget(config)
    this.#dependencies = dependencies
    this.#upstream = config.protocol === 'echo' ? undefined : this.#upstreamOf(config.protocol)
    this.#spoken = this.#upstream === undefined ? echoFormats : Object.keys(this.#upstream.protocol.dialects)
    this.#models = modelsOf({ config, upstream: this.#upstream, target: this.target }, dependencies)
    this.#limit = config.maxConcurrent === undefined ? undefined : bulkhead(config.maxConcurrent, onEnd)
    this.#pricing = providerPricing(config, dependencies.prices)
    this.provider = {
      id: config.id,
      models: this.#pricing.priced(this.#models),
      candidate: (model) => this.#candidate(model),
    }
  }

  /**
   * The HTTP status of the model list; `undefined` without an upstream.
   *
   * @throws {UpstreamFailure} without an answer
   */
  async probe(signal: AbortSignal): Promise<number | undefined> {
    return this.#upstream === undefined ? undefined : modelsStatus(this.#upstream, signal)
  }

  close(): void {
    if ('close' in this.#models) this.#models.close()
  }

  #upstreamOf(protocol: keyof typeof protocols): Upstream {
    const { id, brand, baseUrl, apiKey, headers, overrides, defaults, proxy, tls, trace, timeouts, keyName } =
      this.config
    const { transport, keys } = this.#dependencies
    return upstreamAt({
      transport,
      protocol: speaking(protocols[protocol], this.config),
      endpoint: {
        ...{ id, brand, baseUrl, apiKey, headers, overrides, trace },
        ...(defaults && { defaults }),
        ...(proxy && { proxy }),
        ...(tls && { tls }),
      },
      connectMs: timeouts.connectMs,
      renewedKey: keys === undefined || keyName === undefined ? undefined : () => keys.renewed(this.config),
    })
  }

  #candidate(model: string): ModelCandidate {
    const known = this.#candidates.get(model)
    if (known !== undefined) return known
    if (this.#candidates.size >= candidatesMax) this.#candidates.clear()
    const made = this.#makeCandidate(model)
    this.#candidates.set(model, made)
    return made
  }

  #makeCandidate(model: string): ModelCandidate {
    const { id, brand, protocol, profile: own } = this.config
    const health = this.#dependencies.health.of(id, model, this.target)
    const profile = new LearnedProfile(
      profileAt({ brand, protocol, model }, { ...own, ...this.#offered(model)?.profile }),
    )
    const answer = providerLayers(this.#exchange(model, profile), {
      config: this.config,
      model,
      isSilent: profile.current.silent,
      limit: this.#limit,
      health,
      answerBudget: this.#dependencies.answerBudget,
      timers: this.#timers,
      now,
    })
    return {
      name: id,
      model,
      costOf: this.#pricing.costOf(model, cacheWriteOf(profile.current)),
      maxOutput: () => this.#offered(model)?.maxOutput,
      context: () => this.#offered(model)?.context,
      answer,
      speaks: (format) => this.#spoken.includes(format),
      promptCache: promptCacheOf(profile.current),
      continues: profile.current.prefill === 'continued',
      unavailable: () => (this.#limit?.isFull === true ? { reason: 'full', remainingMs: 1_000 } : health.unavailable()),
    }
  }

  #exchange(model: string, profile: LearnedProfile): AnswerService {
    const upstream = this.#upstream
    if (upstream === undefined) return echo()
    const { idleMs } = this.config.timeouts
    return upstreamExchange({ upstream, model, idleMs, answerBudget: this.#dependencies.answerBudget, profile })
  }

  #offered(model: string): OfferedModel | undefined {
    return this.#models.current()?.find(({ upstream: name }) => name === model)
  }
}

/** Caches of prompts at the target, those that callers ask for included. */
function promptCacheOf({ promptCache, cacheMinimum }: TargetProfile): ModelCandidate['promptCache'] {
  if (cacheMinimum === Infinity) return undefined
  const bytesMin = 4 * cacheMinimum * assumed.bytesPerToken.usual
  return { bytesMin, ms: promptCache === '1h' ? 3_600_000 : 300_000 }
}

/** How long svc asks the target to cache prompts. */
function cacheWriteOf({ promptCache, cacheMinimum }: TargetProfile): CostOf['cacheWrite'] {
  if (promptCache === 'off' || cacheMinimum === Infinity) return undefined
  return promptCache === '1h' ? 'hour' : 'minutes'
}

/** The gateway of a configuration. */
export interface AssembledGateway extends Gateway {
  readonly assembled: readonly AssembledProvider[]
  /** Asks a provider for its models, to see whether it is reachable and accepts the key. Never rejects. */
  probe(id: string, signal: AbortSignal): Promise<ProbeResult>
  /** Stops background work, except for providers that `next` reuses. Open requests continue. */
  close(next?: AssembledGateway): void
}

/** The outcome of a probe. */
export interface ProbeResult {
  readonly ms: number
  /** HTTP status; absent without an answer or an upstream. */
  readonly status?: number
  /** Why there was no answer. */
  readonly reason?: string
}

/**
 * The composition root: builds the providers of a configuration with their layers, and a gateway.
 *
 * @param before providers with an unchanged configuration are reused from this gateway, with model lists and open
 *   requests
 */
export function assembleGateway(
  config: Config,
  dependencies: Dependencies,
  before?: AssembledGateway,
): AssembledGateway {
  const known = new Map(before?.assembled.map((each) => [each.config.id, each]))
  const assembled = config.providers
    .filter(({ enabled, unavailable }) => enabled && unavailable === undefined)
    .map((provider) => {
      const same = known.get(provider.id)
      return same !== undefined && Bun.deepEquals(same.config, provider)
        ? same
        : new AssembledProvider(provider, dependencies)
    })
  dependencies.health.setTargets(new Map(assembled.map(({ config: { id }, target }) => [id, target])))
  return {
    assembled,
    ...gateway({
      providers: assembled.map(({ provider }) => provider),
      aliases: config.aliases,
      budgets: dependencies.budgets,
      ...config.failover,
    }),
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

interface ListedProvider {
  readonly config: ProviderConfig
  /** Undefined for the built-in echo. */
  readonly upstream: Upstream | undefined
  readonly target: string
}

function modelsOf(
  { config, upstream, target }: ListedProvider,
  { modelsCache, log, health }: Pick<Dependencies, 'modelsCache' | 'log' | 'health'>,
): ModelList | LearnedModels {
  if (config.models !== '*') return fixedModels(config.models)
  if (upstream === undefined) return fixedModels([offer('echo')])
  return learnedModels({
    fetchModels: async (signal) => {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(listModelsMs)])
      const list = await listModels(upstream, limited)
      return list.map(({ name, context }) => ({ ...learned(name), ...(context === undefined ? {} : { context }) }))
    },
    cache: modelsCache === undefined ? noCache : fileCache(join(modelsCache, `${config.id}.json`), target),
    onFailure(error) {
      if (error instanceof ModelListError && error.isKeyRefused) health.keyRefused(config.id, target)
      log.warn('could not list the models of a provider', {
        provider: config.id,
        reason: error instanceof Error ? error.message : String(error),
      })
    },
  })
}

function offer(name: string): OfferedModel {
  return { name, upstream: name, aliases: [] }
}

function learned(name: string): OfferedModel {
  return { ...offer(name), isLearned: true }
}

/**
 * A cache in a file. It may fail: the list is then requested again.
 *
 * @param target fingerprint of the provider; a list of another target is ignored
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
        await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
        await writeFile(
          temporary,
          JSON.stringify({ target, models: models.map(({ name, context }) => ({ name, context })) }),
          { mode: 0o600 },
        )
        await rename(temporary, path)
      } catch {
        // A read-only home or a full disk is no reason not to serve.
        await rm(temporary, { force: true }).catch(() => undefined)
      }
    },
  }
}

function readOffered(entry: unknown): OfferedModel | undefined {
  if (typeof entry !== 'object' || entry === null || !('name' in entry) || typeof entry.name !== 'string')
    return undefined
  const context = 'context' in entry && typeof entry.context === 'number' ? { context: entry.context } : {}
  return { ...learned(entry.name), ...context }
}
