import type { ProviderConfig } from '../../config/config.ts'
import { defaultTimeouts } from '../../config/defaults.ts'
import { concurrencyLimit } from '../../config/edit/concurrency-limit.ts'
import { initialConfig } from '../../config/edit/initial-config.ts'
import { brandEntries, providerOfDraft } from '../../config/edit/provider-drafts.ts'
import {
  changeFile,
  checkChange,
  editedProvider,
  fileVersion,
  readSettings,
  unknownProvider,
  type ProviderFileOptions,
} from '../../config/edit/provider-file.ts'
import { modelsListed } from '../../gateway/models-listed.ts'
import type {
  BrandsAnswer,
  ProviderChange,
  ProviderLook,
  ProviderLookRequest,
  ProvidersAnswer,
  ProviderSettings,
  ProviderTest,
  ProviderTestRequest,
  ReloadNotice,
} from '../../http/page/page-api.ts'
import type { AccessPolicy } from '../../limits/access-policy.ts'
import type { Logger } from '../../observe/log.ts'
import { noAttempts, type ProviderAttempts } from '../../observe/provider-attempts.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import { askProvider, type Asked } from '../ask-provider.ts'
import { AssembledProvider, type AssembledGateway, type Dependencies } from '../assemble.ts'
import { unpricedModels } from '../unpriced-models.ts'
import { providerEntry } from './provider-entries.ts'
import { storeKey, withKeyName, type TypedKeyOptions } from './typed-keys.ts'

const testMsDefault = 30_000
const testsMax = 4
const waitingMax = 100

/** Options of {@link providerAdmin}. The functions are called each time. */
export interface ProviderAdminOptions extends Omit<ProviderFileOptions, 'firstText'>, TypedKeyOptions {
  /** The gateway of that configuration. */
  readonly gateway: () => AssembledGateway
  readonly dependencies: Dependencies
  /** Reloads the file; a faulty one is ignored. Never rejects. */
  readonly reload: () => Promise<unknown>
  /** Why the file was not loaded. */
  readonly notice: () => ReloadNotice | undefined
  /** The active limits. */
  readonly policy: () => AccessPolicy | undefined
  /** Attempts by provider id. */
  readonly attemptsAt: (providers: readonly string[]) => Promise<ReadonlyMap<string, ProviderAttempts>>
  readonly log: Pick<Logger, 'info' | 'error'>
  /** Timeout of a test. Default 30,000. */
  readonly testMs?: number
}

/** The owner's operations on providers. */
export interface ProviderAdmin {
  /** The state of all providers. */
  state(): Promise<ProvidersAnswer>
  /**
   * Makes one change in providers.json. Resolves when it is active. Changes are serialized.
   *
   * @throws {WireError} as `changeFile` does
   */
  change(change: ProviderChange, user: string | undefined): Promise<ProvidersAnswer>
  /**
   * Asks a provider, enabled or not, for one token within 30 s. At most four tests run at once. The test is not
   * recorded as a request. Its outcome counts for the provider's health as any attempt does: a success closes the
   * breaker.
   *
   * @throws {WireError} 404 for an unknown provider
   */
  test(request: ProviderTestRequest, signal: AbortSignal): Promise<ProviderTest>
  /** The catalogue. */
  brands(): BrandsAnswer
  /**
   * Asks a provider that is not in the file, or one that is with other settings, for its models, within 30 s, one of
   * the four tests that run at once.
   *
   * @throws {WireError} 400 for settings with faults; 404 for an unknown provider
   */
  look(wanted: ProviderLookRequest, signal: AbortSignal): Promise<ProviderLook>
  /** The settings of a provider in the file. @throws {WireError} 404 for an unknown one; 409 without a sound file */
  settings(id: string): Promise<ProviderSettings>
}

/** Lets owners see, change and test providers. */
export function providerAdmin(options: ProviderAdminOptions): ProviderAdmin {
  const oneChange = concurrencyLimit({ concurrentMax: 1, waitingMax })
  const { environment, dependencies, testMs = testMsDefault } = options
  const fileOptions: ProviderFileOptions = { ...options, firstText: () => firstText(options) }
  const limitedTest = concurrencyLimit({ concurrentMax: testsMax, waitingMax })

  return {
    state: () => stateOf(options),
    change: (change, user) =>
      oneChange(async () => {
        const { wanted, typed } = await withKeyName(change, fileOptions, options)
        if (typed !== undefined) {
          // A key of a change that is refused is neither written nor used.
          await checkChange(wanted, fileOptions)
          await storeKey({ ...typed, provider: change.id, user }, options)
        }
        if (await changeFile(wanted, user, { ...options, ...fileOptions })) await options.reload()
        return stateOf(options)
      }),
    async test(request, signal) {
      if (!options.config().providers.some(({ id }) => id === request.id)) throw unknownProvider()
      return limitedTest(() => testOne(request, signal, options))
    },
    brands: () => ({ brands: brandEntries(environment), ...keysFileOf(options), defaultTimeouts }),
    look: (asked, signal) =>
      limitedTest(async () => {
        const { wanted, typed } = await withKeyName(asked, fileOptions, options)
        // The key as if it were written already.
        const typedToo = typed === undefined ? environment : { ...environment, [typed.variable]: typed.key }
        return lookAtProvider(await wantedProvider(wanted, { ...fileOptions, environment: typedToo }), {
          dependencies,
          signal: AbortSignal.any([signal, AbortSignal.timeout(testMs)]),
        })
      }),
    settings: async (id) => ({ ...(await readSettings(id, fileOptions)), ...keysFileOf(options) }),
  }
}

function keysFileOf({ keysFile }: ProviderAdminOptions): { readonly keysFile?: string } {
  return keysFile === undefined ? {} : { keysFile }
}

/** A provider as it would be, with all its models. */
async function wantedProvider(wanted: ProviderLookRequest, options: ProviderFileOptions): Promise<ProviderConfig> {
  if ('edit' in wanted) return editedProvider(wanted.id, wanted.edit, options)
  const { models: _, ...entry } = wanted.entry
  return providerOfDraft({ id: wanted.id, ...entry }, options.environment)
}

/** The echo gives way to the first provider. */
export function firstText({ config, environment }: Pick<ProviderAdminOptions, 'config' | 'environment'>): string {
  const { source } = config()
  return source.kind === 'echo' ? '{\n  "providers": [\n  ]\n}\n' : initialConfig(config(), { environment })
}

async function stateOf(options: ProviderAdminOptions): Promise<ProvidersAnswer> {
  const version = await fileVersion(options.file)
  await catchUp(version, options)
  const { providers, source } = options.config()
  const assembled = new Map(options.gateway().assembled.map(({ provider }) => [provider.id, provider]))
  const health = options.dependencies.health.inspect()
  const notice = options.notice()
  const attempts = await options.attemptsAt(providers.map(({ id }) => id))
  return {
    ...(version === undefined ? {} : { version }),
    source: source.kind,
    file: options.file,
    ...keysFileOf(options),
    ...(notice === undefined ? {} : { notice }),
    providers: providers.map((config) => {
      const usable = assembled.get(config.id)
      const learned = usable?.models
      const models = learned?.current() ?? (config.models === '*' ? undefined : config.models)
      return providerEntry(
        {
          config,
          models,
          modelsFailure: learned?.failure,
          unpriced: usable && unpricedModels(options.policy(), usable),
          health: health.get(config.id),
          attempts: attempts.get(config.id) ?? noAttempts,
        },
        options.now(),
      )
    }),
  }
}

/**
 * The state must belong to the version: a change that the watch has not noticed yet is reloaded first, unless the file
 * is known to be faulty.
 */
async function catchUp(version: string | undefined, { config, notice, reload }: ProviderAdminOptions): Promise<void> {
  const { source } = config()
  const active = source.kind === 'file' ? source.fingerprint : undefined
  if (version !== undefined && version !== active && notice() === undefined) await reload()
}

async function testOne(
  { id, model }: ProviderTestRequest,
  signal: AbortSignal,
  options: ProviderAdminOptions,
): Promise<ProviderTest> {
  const { config, gateway, dependencies, log, testMs = testMsDefault } = options
  const wanted = config().providers.find((provider) => provider.id === id)
  if (wanted === undefined) throw unknownProvider()
  if (wanted.lacks !== undefined) return { ok: false, ms: 0, lacks: wanted.lacks }
  const active = gateway().assembled.find(({ provider }) => provider.id === id)
  const asked = active ?? new AssembledProvider(wanted, dependencies)
  try {
    const result = await askProvider(asked.provider, AbortSignal.any([signal, AbortSignal.timeout(testMs)]), model)
    const error = result.failure?.error
    if (result.failure?.status === 'error')
      log.error('internal error', { provider: id, ...(error instanceof Error ? { error } : {}) })
    return testResult(result)
  } finally {
    if (active === undefined) asked.close()
  }
}

function testResult({ model, ms, failure }: Asked): ProviderTest {
  if (failure === undefined) return { ok: true, ms: Math.round(ms), model, status: 200 }
  const { status, error } = failure
  if (error instanceof UpstreamFailure)
    return {
      ok: false,
      ms: Math.round(ms),
      model,
      ...(error.status === undefined ? {} : { status: error.status }),
      failure: error.failure,
      detail: error.message,
    }
  return { ok: false, ms: Math.round(ms), model, failure: status === 'timeout' ? 'timeout' : 'internal_error' }
}

const modelsMax = 1_000

/** Asks a provider that is not in use for its models. Nothing is written, and nothing counts for its health. */
async function lookAtProvider(
  config: ProviderConfig,
  { dependencies, signal }: { dependencies: Dependencies; signal: AbortSignal },
): Promise<ProviderLook> {
  if (config.lacks !== undefined) return { ms: 0, lacks: config.lacks }
  const { modelsCache: _, ...uncached } = dependencies
  const looked = new AssembledProvider(config, uncached)
  const { provider } = looked
  const started = performance.now()
  try {
    await modelsListed([provider], signal)
    const ms = Math.round(performance.now() - started)
    const found = provider.models.current()
    if (found === undefined) {
      const { failure } = provider.models
      const status = failure === undefined ? undefined : await looked.probe(signal).catch(() => undefined)
      return {
        ms,
        ...(failure === undefined ? {} : { detail: failure.message }),
        ...(status === undefined ? {} : { status }),
      }
    }
    return {
      ...{ ms, modelCount: found.length, models: found.slice(0, modelsMax).map(({ upstream }) => upstream) },
      pricedCount: found.filter(({ price }) => price !== undefined || config.quirks.reportsCost).length,
    }
  } finally {
    looked.close()
  }
}
