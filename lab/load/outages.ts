import { chat, question } from '../../test/client.ts'
import { faultUpstream, type FaultUpstream, type Script } from '../../test/fakes/fault-upstream.ts'
import { status } from '../../test/fakes/faults/status.ts'
import { good } from '../../test/fakes/good.ts'
import { provider, startService } from '../../test/harness.ts'
import { steadily } from './steadily.ts'

/** A run with outages of first providers, all at the same time behind one service. */
export interface Outages {
  /** Workers of the service; 0: one process. */
  readonly workers: number
  /** Outages with each of {@link retriesTried}. */
  readonly rounds: number
  readonly outageMs: number
}

/** Values of `retries` that are measured. */
export const retriesTried = [0, 1] as const

/** Results with one value of `retries`. */
export interface OutagesFound {
  readonly retries: number
  /** Milliseconds from the end of each outage to the provider's first answer; `undefined`: none within 60 s. */
  readonly usedAgainMs: readonly (number | undefined)[]
  /** Number of requests, and of those without status 200. */
  readonly requests: number
  readonly failed: number
}

/** Behaviour of a provider during an outage; `undefined`: it refuses connections. */
const failureModes: readonly (Script | undefined)[] = [
  undefined,
  status(500),
  status(503),
  (exchange) => exchange.reset(),
  (exchange) => exchange.hang(),
]
const requestMs = 200
const returnMsMax = 60_000
/** Time between the starts of two outages. */
const staggerMs = 100
/** `attempt_ms`: limit of an attempt at a provider that never answers. */
const silenceMs = 1_000

interface Round {
  readonly id: string
  readonly model: string
  readonly retries: number
  readonly mode: Script | undefined
  readonly number: number
  upstream: FaultUpstream
}

/**
 * Measures how soon a provider is used again after an outage. Each model has a second provider and a request every 200
 * ms.
 */
export async function measureOutages({ workers, rounds, outageMs }: Outages): Promise<readonly OutagesFound[]> {
  const all = retriesTried.flatMap((retries) =>
    Array.from({ length: rounds }, (_, index): Round => {
      const name = `${retries}-${index}`
      const mode = failureModes[index % failureModes.length]
      return { id: `first-${name}`, model: `m-${name}`, retries, mode, number: index, upstream: faultUpstream() }
    }),
  )
  const second = faultUpstream()
  await using service = await startService(
    {
      providers: [
        ...all.map(({ id, model, retries, upstream }) =>
          provider(id, upstream.url, [model], { retries, timeouts: { attempt_ms: silenceMs } }),
        ),
        provider(
          'second',
          second.url,
          all.map(({ model }) => model),
        ),
      ],
    },
    { flags: [...(workers === 0 ? [] : ['--workers', String(workers)]), '--log-level', 'error'] },
  )
  try {
    const found = await Promise.all(all.map((round) => runOutage(round, service.url, outageMs)))
    return retriesTried.map((retries) => {
      const of = found.filter((_, index) => all[index]?.retries === retries)
      return {
        retries,
        usedAgainMs: of.map(({ usedAgainMs }) => usedAgainMs),
        requests: of.reduce((sum, { requests }) => sum + requests, 0),
        failed: of.reduce((sum, { failed }) => sum + failed, 0),
      }
    })
  } finally {
    for (const { upstream } of all) upstream.stop()
    second.stop()
  }
}

/** Runs one outage under traffic. */
async function runOutage(round: Round, url: string, outageMs: number) {
  const underWay = new Set<Promise<void>>()
  let requests = 0
  let failed = 0
  let returnedAt = Number.POSITIVE_INFINITY
  const used = Promise.withResolvers<number>()

  async function ask(): Promise<void> {
    requests += 1
    const answer = await chat(url, question({ model: round.model })).catch(() => undefined)
    if (answer?.status !== 200) failed += 1
    else if (answer.headers.get('x-svc-provider') === round.id && performance.now() > returnedAt)
      used.resolve(performance.now() - returnedAt)
  }

  await Bun.sleep(round.number * staggerMs)
  const traffic = steadily(requestMs, () => {
    const asking = ask().finally(() => underWay.delete(asking))
    underWay.add(asking)
  })
  await Bun.sleep(5 * requestMs)
  const { port } = round.upstream
  if (round.mode === undefined) round.upstream.stop()
  else round.upstream.use(round.mode)
  await Bun.sleep(outageMs)
  if (round.mode === undefined) round.upstream = await listenAgain(port)
  else round.upstream.use(good())
  returnedAt = performance.now()
  const usedAgainMs = await Promise.race([used.promise, Bun.sleep(returnMsMax)])
  await traffic.stop()
  await Promise.all(underWay)
  return { usedAgainMs: usedAgainMs ?? undefined, requests, failed }
}

/** Listens on a port that another connection of this machine may use for a moment. @throws the last error after 5 s */
async function listenAgain(port: number, triesLeft = 50): Promise<FaultUpstream> {
  try {
    return faultUpstream(good(), { port })
  } catch (error) {
    if (triesLeft === 0) throw error
    await Bun.sleep(100)
    return await listenAgain(port, triesLeft - 1)
  }
}
