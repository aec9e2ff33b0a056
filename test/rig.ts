import { chat, question } from './client.ts'
import type { Answer } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import type { FaultUpstream, Script } from './fakes/fault-upstream.ts'
import { provider, startService } from './harness.ts'
import type { ProviderEntry, ServiceConfig, ServiceOptions, ServiceUnderTest } from './harness.ts'

export interface RigOptions extends ServiceOptions {
  /** Fields of every provider, such as `quick`. */
  readonly every?: Readonly<Record<string, unknown>>
  /** Fields of one provider, by id. */
  readonly each?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly limits?: NonNullable<ServiceConfig['limits']>
  readonly failover?: NonNullable<ServiceConfig['failover']>
}

/** Scripted upstreams, in this order, behind a service. */
export interface Row {
  readonly service: ServiceUnderTest
  /** What they serve. */
  readonly model: string
  /** Asks that model; `more` adds and replaces fields of the request. */
  ask(more?: Readonly<Record<string, unknown>>, headers?: Record<string, string>): Promise<Answer>
  /** Asks for a stream. */
  askStream(more?: Readonly<Record<string, unknown>>, headers?: Record<string, string>): Promise<Answer>
  /** The upstreams, as they were given. */
  readonly upstreams: readonly FaultUpstream[]
  /** How many requests each upstream saw, in order. */
  hits(): readonly number[]
}

/** A {@link Row} with a service of its own. `await using` stops it all. */
export interface Rig extends Row, AsyncDisposable {}

/** Many {@link Row}s behind one service. `await using` stops it all. */
export interface Rigs extends AsyncDisposable {
  /** In the order they were asked for. @throws when there is none */
  row(index: number): Row
}

const names = ['a', 'b', 'c', 'd']

/** Starts an upstream for each script and a service whose providers `a`, `b`, … are they, all serving model `m`. */
export async function startRig(scripts: readonly (Script | FaultUpstream)[], options: RigOptions = {}): Promise<Rig> {
  const upstreams = scripts.map((script) => (typeof script === 'function' ? faultUpstream(script) : script))
  const service = await startBefore(
    upstreams.map(({ url }, index) => {
      const id = nameOf(index)
      return provider(id, url, ['m'], { ...options.every, ...options.each?.[id] })
    }),
    options,
  )
  return { ...rowOf(service, 'm', upstreams), [Symbol.asyncDispose]: () => stopAll(service, upstreams) }
}

/**
 * Starts an upstream for each script and one service for all rows: of the first row the model is `m1` and the providers
 * are `a-1`, `b-1`, … Nothing that befalls the providers of one row is anything to those of another.
 */
export async function startRigs(
  scripts: readonly (readonly Script[])[],
  options: Omit<RigOptions, 'each'> = {},
): Promise<Rigs> {
  const rows = scripts.map((each, index) => ({
    model: `m${index + 1}`,
    number: index + 1,
    upstreams: each.map((script) => faultUpstream(script)),
  }))
  const service = await startBefore(
    rows.flatMap(({ model, number, upstreams }) =>
      upstreams.map(({ url }, index) => provider(`${nameOf(index)}-${number}`, url, [model], options.every)),
    ),
    options,
  )
  return {
    row(index) {
      const row = rows[index]
      if (row === undefined) throw new Error(`there is no row ${index}`)
      return rowOf(service, row.model, row.upstreams)
    },
    [Symbol.asyncDispose]: () =>
      stopAll(
        service,
        rows.flatMap(({ upstreams }) => upstreams),
      ),
  }
}

function nameOf(index: number): string {
  return names[index] ?? `p${index}`
}

function startBefore(providers: readonly ProviderEntry[], options: RigOptions): Promise<ServiceUnderTest> {
  const { limits, failover } = options
  return startService(
    { providers, ...(limits === undefined ? {} : { limits }), ...(failover === undefined ? {} : { failover }) },
    options,
  )
}

function rowOf(service: ServiceUnderTest, model: string, upstreams: readonly FaultUpstream[]): Row {
  return {
    service,
    model,
    upstreams,
    ask: (more, headers = {}) => chat(service.url, question({ model, ...more }), { headers }),
    askStream: (more, headers = {}) => chat(service.url, question({ model, stream: true, ...more }), { headers }),
    hits: () => upstreams.map(({ hits }) => hits.length),
  }
}

async function stopAll(service: ServiceUnderTest, upstreams: readonly FaultUpstream[]): Promise<void> {
  for (const upstream of upstreams) upstream.stop()
  await service[Symbol.asyncDispose]()
}
