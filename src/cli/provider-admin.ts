import type { Config } from '../config/config.ts'
import type {
  ProviderChange,
  ProvidersAnswer,
  ProviderTest,
  ProviderTestRequest,
  ReloadNotice,
} from '../http/page-api.ts'
import type { Logger } from '../observe/log.ts'
import { noAttempts, type ProviderAttempts } from '../observe/provider-attempts.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { askProvider, type Asked } from './ask-provider.ts'
import { assembleProvider, type AssembledGateway, type Surroundings } from './assemble.ts'
import { providerEntry } from './provider-entries.ts'
import { changeFile, fileVersion, unknownProvider, type ProviderFileOptions } from './provider-file.ts'
import { turns } from './turns.ts'

const testMsDefault = 30_000
const testsAtOnce = 4
const waitingMost = 100

/** What {@link providerAdmin} works on. The functions are asked anew each time. */
export interface ProviderAdminOptions extends ProviderFileOptions {
  /** The configuration in force. */
  readonly config: () => Config
  /** What was made of it. */
  readonly gateway: () => AssembledGateway
  readonly surroundings: Surroundings
  /** Takes the file over as it is now, as far as it is sound. Never rejects. */
  readonly reload: () => Promise<void>
  /** Why the file as it is now is not in force. */
  readonly notice: () => ReloadNotice | undefined
  /** Those of each of these providers, by its id. */
  readonly attemptsAt: (providers: readonly string[]) => Promise<ReadonlyMap<string, ProviderAttempts>>
  readonly log: Pick<Logger, 'info' | 'error'>
  /** Unix milliseconds. */
  readonly now: () => number
  /** What a test may take. Default 30,000. */
  readonly testMs?: number
}

/** What an owner does with the providers. */
export interface ProviderAdmin {
  /** The providers as they are now, for an owner. */
  state(): Promise<ProvidersAnswer>
  /**
   * Makes one change in providers.json, and resolves when it is in force. Changes are made one after the other.
   *
   * @throws {WireError} as `changeFile` does
   */
  change(change: ProviderChange, user: string | undefined): Promise<ProvidersAnswer>
  /**
   * Asks one provider for one token, on or off, within 30 s; four at once. It is no user's request: nothing is recorded
   * or counted. What came of it counts for the provider's health as any attempt does, so that a test that is answered
   * closes its breaker.
   *
   * @throws {WireError} 404 for an unknown provider
   */
  test(request: ProviderTestRequest, signal: AbortSignal): Promise<ProviderTest>
}

/** The providers of this service, in an owner's hands. */
export function providerAdmin(options: ProviderAdminOptions): ProviderAdmin {
  const inChangeTurn = turns({ atOnce: 1, waitingMost })
  const inTestTurn = turns({ atOnce: testsAtOnce, waitingMost })

  return {
    state: () => stateOf(options),
    change: (change, user) =>
      inChangeTurn(async () => {
        if (await changeFile(change, options)) {
          options.log.info('providers.json was changed on the page', {
            provider: change.id,
            change: change.change,
            ...(user === undefined ? {} : { user }),
          })
          await options.reload()
        }
        return stateOf(options)
      }),
    async test(request, signal) {
      if (!options.config().providers.some(({ id }) => id === request.id)) throw unknownProvider()
      return inTestTurn(() => testOne(request, signal, options))
    },
  }
}

async function stateOf(options: ProviderAdminOptions): Promise<ProvidersAnswer> {
  const version = await fileVersion(options.file)
  await catchUp(version, options)
  const { providers, source } = options.config()
  const assembled = new Map(options.gateway().assembled.map(({ provider }) => [provider.id, provider]))
  const health = options.surroundings.health.look()
  const notice = options.notice()
  const attempts = await options.attemptsAt(providers.map(({ id }) => id))
  return {
    ...(version === undefined ? {} : { version }),
    source: source.kind,
    file: options.file,
    ...(notice === undefined ? {} : { notice }),
    providers: providers.map((config) => {
      const learned = assembled.get(config.id)?.models
      const models = learned?.current() ?? (config.models === '*' ? undefined : config.models)
      return providerEntry(
        {
          config,
          models,
          modelsFailure: learned?.failure,
          health: health.get(config.id),
          attempts: attempts.get(config.id) ?? noAttempts,
        },
        options.now(),
      )
    }),
  }
}

/**
 * What is shown must be what the version stands for: a text that the watch has not seen yet is taken over first, unless
 * it is known to be faulty.
 */
async function catchUp(version: string | undefined, { config, notice, reload }: ProviderAdminOptions): Promise<void> {
  const { source } = config()
  const inForce = source.kind === 'file' ? source.fingerprint : undefined
  if (version !== undefined && version !== inForce && notice() === undefined) await reload()
}

async function testOne(
  { id, model }: ProviderTestRequest,
  signal: AbortSignal,
  options: ProviderAdminOptions,
): Promise<ProviderTest> {
  const { config, gateway, surroundings, log, testMs = testMsDefault } = options
  const wanted = config().providers.find((provider) => provider.id === id)
  if (wanted === undefined) throw unknownProvider()
  const lack = wanted.unavailable ?? wanted.lacks
  if (lack !== undefined) return { ok: false, ms: 0, why: lack }
  const inForce = gateway().assembled.find(({ provider }) => provider.id === id)
  const asked = inForce ?? assembleProvider(wanted, surroundings)
  try {
    const result = await askProvider(asked.provider, AbortSignal.any([signal, AbortSignal.timeout(testMs)]), model)
    const error = result.failure?.error
    if (result.failure?.status === 'error')
      log.error('a mistake of this service', { provider: id, ...(error instanceof Error ? { error } : {}) })
    return testResult(result)
  } finally {
    if (inForce === undefined) asked.close()
  }
}

function testResult({ model, ms, failure }: Asked): ProviderTest {
  if (failure === undefined) return { ok: true, ms: Math.round(ms), model, status: 200 }
  const { status, reason, error } = failure
  if (error instanceof UpstreamFailure)
    return {
      ok: false,
      ms: Math.round(ms),
      model,
      ...(error.status === undefined ? {} : { status: error.status }),
      why: reason,
    }
  return {
    ok: false,
    ms: Math.round(ms),
    model,
    why: status === 'timeout' ? reason : 'this service made a mistake; its log tells more',
  }
}
