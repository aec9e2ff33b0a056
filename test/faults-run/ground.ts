import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { metric } from '../client.ts'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import type { FaultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { provider, startService } from '../harness.ts'
import type { ProviderEntry, ServiceConfig, ServiceOptions, ServiceUnderTest } from '../harness.ts'

export interface GroundOptions extends ServiceOptions {
  /** Members of providers.json beside `providers`. */
  readonly config?: Omit<ServiceConfig, 'providers'>
  /** Providers it starts with, before the sound one. */
  readonly providers?: readonly ProviderEntry[]
  /** Undoes what was made for it, once it has ended. */
  readonly cleanUp?: () => void | Promise<void>
}

/** Where faults are tried: a real process, and one provider that is always well. */
export interface Ground extends AsyncDisposable {
  /** The process; another one after `startAgain`. */
  readonly service: ServiceUnderTest
  /** Serves the model `well`, and whatever else is given its address. */
  readonly sound: FaultUpstream
  /** Its `SVC_HOME`, which outlives it. */
  readonly home: string
  /** What a caller has to send, to be let in. */
  readonly headers: Readonly<Record<string, string>>
  /** How often the process was started. */
  readonly starts: number
  /**
   * Has these providers before the sound one from now on, and no others. Resolves when they are in force. Each time
   * they are new ones to the service (`a` is `a-1`, then `a-2`), so that the health of one fault is not that of the
   * next.
   */
  offer(...providers: readonly ProviderEntry[]): Promise<void>
  /** Starts it again on the same port and with the same home, after it has ended. */
  startAgain(): Promise<void>
}

/** Starts a service on a ground of its own. `await using` stops it all. */
export async function openGround({
  config = {},
  providers = [],
  cleanUp,
  ...options
}: GroundOptions = {}): Promise<Ground> {
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
      // A file that stays as it is is not loaded again.
      if (given.length === 0 && !isOffering) return
      isOffering = given.length > 0
      const before = await reloads(service)
      round += 1
      await service.configure(configOf(given.map((entry) => ({ ...entry, id: `${entry.id}-${round}` }))))
      await until(async () => (await reloads(service)) > before, 'the configuration is in force')
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

/** Looks every 10 ms until something holds. @throws when it does not within `waitMs` */
export async function until(holds: () => boolean | Promise<boolean>, what: string, waitMs = 10_000): Promise<void> {
  const end = performance.now() + waitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`it does not come about within ${waitMs / 1_000} s that ${what}`)
    await Bun.sleep(10)
  }
}
