import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { metric } from '../../test/client.ts'
import { faultUpstream, type FaultUpstream } from '../../test/fakes/fault-upstream.ts'
import { good } from '../../test/fakes/good.ts'
import {
  provider,
  startService,
  type ProviderEntry,
  type ServiceConfig,
  type ServiceOptions,
  type ServiceUnderTest,
} from '../../test/harness.ts'

export interface TestbedOptions extends ServiceOptions {
  /** Members of providers.json beside `providers`. */
  readonly config?: Omit<ServiceConfig, 'providers'>
  /** Initial providers, before the sound one. */
  readonly providers?: readonly ProviderEntry[]
  /** Runs after the service has ended, or failed to start. */
  readonly cleanUp?: () => void | Promise<void>
}

/** A real process of the service and one provider without faults. */
export interface Testbed extends AsyncDisposable {
  /** The process; a new one after `startAgain`. */
  readonly service: ServiceUnderTest
  /** Provider without faults. Serves the model `well`. */
  readonly sound: FaultUpstream
  /** `SVC_HOME` of the service; it survives `startAgain`. */
  readonly home: string
  /** Credentials for requests; empty without sign-in. */
  readonly headers: Readonly<Record<string, string>>
  /** How often the process was started. */
  readonly starts: number
  /**
   * Configures these providers before the sound one, instead of earlier ones, and resolves when they are loaded. Ids
   * get a new number each time (`a-1`, then `a-2`), so that no health is carried from one fault to the next.
   */
  offer(...providers: readonly ProviderEntry[]): Promise<void>
  /** Waits until the process has ended, and starts it again with the same port and home. */
  startAgain(): Promise<void>
}

/** Starts a service and its sound provider. `await using` stops both. */
export async function openTestbed({
  config = {},
  providers = [],
  cleanUp,
  ...options
}: TestbedOptions = {}): Promise<Testbed> {
  const sound = faultUpstream(good())
  const home = await mkdtemp(join(tmpdir(), 'svc-faults-'))
  const configOf = (given: readonly ProviderEntry[]): ServiceConfig => ({
    ...config,
    providers: [...given, provider('sound', sound.url, ['well'])],
  })
  const start = (port?: number) =>
    startService(configOf(providers), {
      ...options,
      environment: { SVC_HOME: home, ...options.environment },
      ...(port === undefined ? {} : { port }),
    })
  let service = await start(options.port).catch(async (error: unknown) => {
    sound.stop()
    await cleanUp?.()
    throw error
  })
  let starts = 1,
    round = 0,
    isOffering = providers.length > 0

  async function close(): Promise<void> {
    await service[Symbol.asyncDispose]()
    sound.stop()
    await cleanUp?.()
    await rm(home, { recursive: true, force: true })
  }

  return {
    get service() {
      return service
    },
    get starts() {
      return starts
    },
    home,
    headers: {},
    sound,
    async offer(...given) {
      // An unchanged file is not loaded again.
      if (given.length === 0 && !isOffering) return
      isOffering = given.length > 0
      const before = await reloads(service)
      round += 1
      await service.configure(configOf(given.map((entry) => ({ ...entry, id: `${entry.id}-${round}` }))))
      await until(async () => (await reloads(service)) > before, 'the configuration is loaded')
    },
    async startAgain() {
      await service.exited
      service = await start(service.port)
      starts += 1
    },
    [Symbol.asyncDispose]: close,
  }
}

function reloads({ url }: ServiceUnderTest): Promise<number> {
  return metric(url, 'svc_config_reloads_total{result="ok"}').then((count) => (Number.isNaN(count) ? 0 : count))
}

/** Checks a condition every 10 ms until it holds. @throws when it does not within `waitMs` */
export async function until(holds: () => boolean | Promise<boolean>, what: string, waitMs = 10_000): Promise<void> {
  const end = performance.now() + waitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${waitMs / 1_000} s: ${what}`)
    await Bun.sleep(10)
  }
}
