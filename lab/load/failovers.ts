import { clockUs } from '../../bench/upstream-protocol.ts'
import { provider, startService } from '../../test/harness.ts'
import { histogram, type Histogram } from './histogram.ts'
import { openConnection } from './load-connection.ts'
import { startUpstream } from './load-processes.ts'
import { loadTally, type LoadTally } from './load-tally.ts'
import { plainConnections, runPlain } from './run-plain.ts'

/** A run of requests whose first provider fails. */
export interface Failovers {
  /** Workers of the service; 0: one process. */
  readonly workers: number
  /** Requests of each kind. */
  readonly count: number
}

/** Durations of plain requests through the service, microseconds. The kinds take turns. */
export interface FailoversFound {
  /** The first provider answers. */
  readonly untroubled: Histogram
  /** The first provider refuses the connection, the second answers. */
  readonly refused: Histogram
  /** The first provider answers 500 at once, the second answers. */
  readonly failed: Histogram
  /** The 500 itself, requested directly from the provider. */
  readonly failingItself: Histogram
  readonly wrong: number
  readonly complaints: readonly string[]
}

/** Consecutive failures that do not yet open the circuit breaker (docs/failover.md). */
const failuresAProvider = 4
/** No program listens on this port. */
const closedPort = 1
const warmUps = 50

/**
 * Measures the cost of a failover: one request at a time, untroubled, refused and failed in turn. No provider fails
 * often enough to be skipped.
 */
export async function measureFailovers({ workers, count }: Failovers): Promise<FailoversFound> {
  await using upstream = await startUpstream()
  const numbers = Array.from({ length: Math.ceil((count + warmUps) / failuresAProvider) }, (_, number) => number)
  const refusing = numbers.map((number) =>
    provider(`refusing-${number}`, `http://127.0.0.1:${closedPort}/v1`, [`refused-${number}`]),
  )
  const failing = numbers.map((number) =>
    provider(`failing-${number}`, `${upstream.origin}/fail/v1`, [`failed-${number}`]),
  )
  const good = provider('good', `${upstream.origin}/v1`, [
    'untroubled',
    ...numbers.flatMap((number) => [`refused-${number}`, `failed-${number}`]),
  ])
  await using service = await startService(
    { providers: [...refusing, ...failing, good] },
    { flags: [...(workers === 0 ? [] : ['--workers', String(workers)]), '--log-level', 'error'] },
  )
  const connections = plainConnections(service.port)
  const tallies = { untroubled: loadTally(), refused: loadTally(), failed: loadTally() }
  const warm = { untroubled: loadTally(), refused: loadTally(), failed: loadTally() }
  const failingItself = histogram()

  async function askEach(
    number: number,
    into: Readonly<Record<'untroubled' | 'refused' | 'failed', LoadTally>>,
  ): Promise<void> {
    const provider = Math.floor(number / failuresAProvider)
    await runPlain(connections, {
      port: service.port,
      name: `u-${number}`,
      model: 'untroubled',
      tally: into.untroubled,
    })
    await runPlain(connections, {
      port: service.port,
      name: `r-${number}`,
      model: `refused-${provider}`,
      tally: into.refused,
    })
    await runPlain(connections, {
      port: service.port,
      name: `f-${number}`,
      model: `failed-${provider}`,
      tally: into.failed,
    })
  }

  for (let number = 0; number < warmUps; number++) await askEach(number, warm)
  for (let number = 0; number < count; number++) {
    await askEach(warmUps + number, tallies)
    failingItself.add(await durationOfFailure(upstream.port))
  }
  const all = Object.values(tallies)
  return {
    untroubled: tallies.untroubled.latencies,
    refused: tallies.refused.latencies,
    failed: tallies.failed.latencies,
    failingItself,
    wrong: all.reduce((sum, { plain }) => sum + plain.failed, 0),
    complaints: all.flatMap((tally) => tally.seen().complaints),
  }
}

/** Measures how long the failing provider takes to answer 500, microseconds. */
async function durationOfFailure(port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const connection = await openConnection(
    port,
    (idle) => idle.leave('close'),
    () => undefined,
  )
  const beganUs = clockUs()
  connection.ask('POST /fail/v1/chat/completions HTTP/1.1\r\nhost: upstream\r\ncontent-length: 0\r\n\r\n', {
    onHead() {},
    onEvent() {},
    onEnd: () => resolve(clockUs() - beganUs),
    onCut: (reason) => reject(new Error(`the failing provider gave no answer: ${reason}`)),
  })
  return await promise
}
