import { chat, question, type Answer } from './client.ts'
import { faultUpstream, type FaultUpstream, type Script } from './fakes/fault-upstream.ts'
import {
  provider,
  startService,
  type ProviderEntry,
  type ServiceConfig,
  type ServiceOptions,
  type ServiceUnderTest,
} from './harness.ts'

export interface RigOptions extends ServiceOptions {
  /** Fields of all providers, such as `quick`. */
  readonly every?: Readonly<Record<string, unknown>>
  /** Fields of one provider, by id. */
  readonly each?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly limits?: NonNullable<ServiceConfig['limits']>
  readonly failover?: NonNullable<ServiceConfig['failover']>
}

/** Scripted upstreams, in this order, behind a service. */
export interface Row {
  readonly service: ServiceUnderTest
  /** Model of the upstreams. */
  readonly model: string
  /** Sends a request for that model; `more` adds and replaces fields. */
  ask(more?: Readonly<Record<string, unknown>>, headers?: Record<string, string>): Promise<Answer>
  /** Requests a stream. */
  askStream(more?: Readonly<Record<string, unknown>>, headers?: Record<string, string>): Promise<Answer>
  /** The upstreams, in the given order. */
  readonly upstreams: readonly FaultUpstream[]
  /** Names of the upstreams in the configuration. */
  readonly ids: readonly string[]
  /** Number of requests at each upstream, in order. */
  hits(): readonly number[]
}

/** A {@link Row} with its own service. `await using` stops all of it. */
export interface Rig extends Row, AsyncDisposable {}

/** Many {@link Row}s behind one service. `await using` stops all of it. */
export interface Rigs extends AsyncDisposable {
  /** The row at an index. @throws when it does not exist */
  row(index: number): Row
}

const names = ['a', 'b', 'c', 'd']

/** Starts an upstream for each script, and a service with them as providers `a`, `b`, … for model `m`. */
export async function startRig(scripts: readonly (Script | FaultUpstream)[], options: RigOptions = {}): Promise<Rig> {
  const upstreams = scripts.map((script) => (typeof script === 'function' ? faultUpstream(script) : script))
  const service = await startBefore(
    upstreams.map(({ url }, index) => {
      const id = nameOf(index)
      return provider(id, url, ['m'], { ...options.every, ...options.each?.[id] })
    }),
    options,
  )
  return {
    ...rowOf(
      service,
      'm',
      upstreams,
      upstreams.map((_, index) => nameOf(index)),
    ),
    [Symbol.asyncDispose]: () => stopAll(service, upstreams),
  }
}

/**
 * Starts an upstream for each script and one service for all rows. The first row has model `m1` and providers `a-1`,
 * `b-1`, … Rows do not share providers, and so no health.
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
      const { model, upstreams, number } = row
      return rowOf(
        service,
        model,
        upstreams,
        upstreams.map((_, position) => `${nameOf(position)}-${number}`),
      )
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

function rowOf(
  service: ServiceUnderTest,
  model: string,
  upstreams: readonly FaultUpstream[],
  ids: readonly string[],
): Row {
  return {
    service,
    model,
    upstreams,
    ids,
    ask: (more, headers = {}) => chat(service.url, question({ model, ...more }), { headers }),
    askStream: (more, headers = {}) => chat(service.url, question({ model, stream: true, ...more }), { headers }),
    hits: () => upstreams.map(({ hits }) => hits.length),
  }
}

async function stopAll(service: ServiceUnderTest, upstreams: readonly FaultUpstream[]): Promise<void> {
  for (const upstream of upstreams) upstream.stop()
  await service[Symbol.asyncDispose]()
}
