import { chat, question } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { provider, startService } from './harness.ts'
import type { Answer } from './client.ts'
import type { FaultUpstream, Script } from './fakes/fault-upstream.ts'
import type { ServiceConfig, ServiceOptions, ServiceUnderTest } from './harness.ts'

export interface RigOptions extends ServiceOptions {
  /** Fields of every provider, such as `quick`. */
  readonly every?: Readonly<Record<string, unknown>>
  /** Fields of one provider, by id. */
  readonly each?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly limits?: NonNullable<ServiceConfig['limits']>
  readonly failover?: NonNullable<ServiceConfig['failover']>
}

/** A service of its own in front of scripted upstreams, in this order. `await using` stops it all. */
export interface Rig extends AsyncDisposable {
  readonly service: ServiceUnderTest
  /** Asks model `m`; `more` adds and replaces fields of the request. */
  ask(more?: Readonly<Record<string, unknown>>, headers?: Record<string, string>): Promise<Answer>
  /** Asks for a stream. */
  askStream(more?: Readonly<Record<string, unknown>>, headers?: Record<string, string>): Promise<Answer>
  /** The upstreams, as they were given. */
  readonly upstreams: readonly FaultUpstream[]
  /** How many requests each upstream saw, in order. */
  hits(): readonly number[]
}

const names = ['a', 'b', 'c', 'd']

/** Starts an upstream for each script and a service whose providers `a`, `b`, … are they, all serving model `m`. */
export async function startRig(scripts: readonly (Script | FaultUpstream)[], options: RigOptions = {}): Promise<Rig> {
  const upstreams = scripts.map((script) => (typeof script === 'function' ? faultUpstream(script) : script))
  const providers = upstreams.map(({ url }, index) => {
    const id = names[index] ?? `p${index}`
    return provider(id, url, ['m'], { ...options.every, ...options.each?.[id] })
  })
  const { limits, failover } = options
  const service = await startService({ providers, ...(limits === undefined ? {} : { limits }), ...(failover === undefined ? {} : { failover }) }, options)
  return {
    service,
    upstreams,
    ask: (more, headers = {}) => chat(service.url, question(more), { headers }),
    askStream: (more, headers = {}) => chat(service.url, question({ stream: true, ...more }), { headers }),
    hits: () => upstreams.map(({ hits }) => hits.length),
    async [Symbol.asyncDispose]() {
      for (const upstream of upstreams) upstream.stop()
      await service[Symbol.asyncDispose]()
    },
  }
}
