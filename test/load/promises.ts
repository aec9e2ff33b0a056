/**
 * `npm run promises`: what an abort and a failover cost, and that restarts and reloads cost nobody anything. `--help`
 * says how.
 */
import { measureAborts } from './aborts.ts'
import { measureFailovers } from './failovers.ts'
import { histogram, type Histogram } from './histogram.ts'
import { runLoadCommand, workersOption } from './load-options.ts'
import { milliseconds, together, type Findings } from './load-report.ts'
import { measureRestarts } from './restarts.ts'

const usage = {
  name: 'promises',
  does: 'that an abort reaches the provider at once, that a failover costs next to nothing, and that restarts and reloads cost nobody anything',
  numbers: {
    workers: { ...workersOption, does: `${workersOption.does}, which cannot be restarted` },
    count: { fallback: 1_000, least: 1, most: 100_000, does: 'aborts, and failovers of each kind' },
    rolls: { fallback: 20, least: 0, most: 1_000, does: 'rolling restarts' },
    seconds: { fallback: 20, least: 1, most: 86_400, does: 'how long there are restarts and reloads, at least' },
    reloads: { fallback: 10, least: 0.1, most: 100, does: 'reloads a second' },
    rate: { fallback: 1_000, least: 1, most: 100_000, does: 'plain requests a second during restarts and reloads' },
    streams: { fallback: 200, least: 1, most: 10_000, does: 'streams open at once meanwhile' },
  },
  parts: ['aborts', 'failovers', 'restarts'],
} as const

const abortMostUs = 50_000,
  failoverMostUs = 5_000

function spread(durations: Histogram): string {
  return `p50 ${milliseconds(durations.percentile(50))}, p99 ${milliseconds(durations.percentile(99))}`
}

async function aborts(workers: number, count: number): Promise<Findings> {
  const { delays, direct, left, missed, early, broken, complaints } = await measureAborts({ workers, count })
  const p99 = delays.percentile(99)
  return {
    rows: [
      ['aborts', `${left}, ${early} of them before the provider was asked`],
      ['an abort, until the provider hears of it', spread(delays)],
      ['the same without the service between', spread(direct)],
    ],
    targets: [
      {
        name: 'an abort reaches the provider within 50 ms at p99',
        found: milliseconds(p99),
        isMet: p99 <= abortMostUs && left > early,
      },
      {
        name: 'every abort reaches the provider',
        found: `${missed.length} did not, ${broken} other streams broke`,
        isMet: missed.length === 0 && broken === 0,
      },
    ],
    complaints: [...complaints, ...missed.slice(0, 5).map((name) => `the provider never heard that ${name} had left`)],
  }
}

async function failovers(workers: number, count: number): Promise<Findings> {
  const { untroubled, refused, failed, failingItself, wrong, complaints } = await measureFailovers({ workers, count })
  const refusedUs = refused.percentile(99) - untroubled.percentile(99)
  const failedUs = failed.percentile(99) - untroubled.percentile(99) - failingItself.percentile(50)
  return {
    rows: [
      ['a request that needs no failover', spread(untroubled)],
      ['whose first provider refuses the connection', spread(refused)],
      ['whose first provider answers 500', spread(failed)],
      ['that 500 itself', spread(failingItself)],
    ],
    targets: [
      {
        name: 'a failover from a refusal costs at most 5 ms at p99',
        found: milliseconds(refusedUs),
        isMet: refusedUs <= failoverMostUs,
      },
      {
        name: 'a failover from a 500 costs at most 5 ms at p99 beyond it',
        found: milliseconds(failedUs),
        isMet: failedUs <= failoverMostUs,
      },
      { name: 'every failover succeeds', found: `${wrong} of ${count * 3} requests failed`, isMet: wrong === 0 },
    ],
    complaints,
  }
}

async function restarts(
  workers: number,
  number: (name: 'rolls' | 'seconds' | 'reloads' | 'rate' | 'streams') => number,
): Promise<Findings> {
  const wanted = workers === 0 ? 0 : number('rolls')
  const { outcome, rolls, written, reloads, seconds, complaints } = await measureRestarts(
    {
      workers,
      rolls: wanted,
      seconds: number('seconds'),
      reloadsPerSecond: number('reloads'),
      requestsPerSecond: number('rate'),
      streams: number('streams'),
    },
    (line) => console.error(`promises: ${line}`),
  )
  const { plain, streams, faults } = outcome,
    wrong = faults.lost + faults.garbled + faults.duplicated
  const requests = plain.right + plain.failed
  return {
    rows: [
      [
        'restarts and reloads',
        `${rolls} rolling restarts, ${written} configurations written and ${reloads} put in force by who is there at the end, in ${seconds.toFixed(0)} s`,
      ],
      [
        'load meanwhile',
        `${requests} plain requests (${(requests / seconds).toFixed(0)} a second), ${streams.complete + streams.broken} streams of ${outcome.faults.seen} tokens, at most ${streams.openMost} open at once`,
      ],
      ['a plain request', spread(histogram(outcome.latencies))],
      ['a token', spread(histogram(outcome.delays))],
    ],
    targets: [
      { name: `${wanted} rolling restarts`, found: String(rolls), isMet: rolls === wanted },
      {
        name: 'no request fails',
        found: `${plain.failed} of ${requests}`,
        isMet: plain.failed === 0 && plain.right > 0,
      },
      {
        name: 'no stream breaks',
        found: `${streams.broken} of ${streams.complete + streams.broken}; ${wrong} tokens lost or garbled`,
        isMet: streams.broken === 0 && wrong === 0 && streams.complete > 0,
      },
    ],
    complaints,
  }
}

await runLoadCommand(usage, async (options) => {
  const workers = options.number('workers'),
    parts: Findings[] = []
  if (options.only.includes('aborts')) parts.push(await aborts(workers, options.number('count')))
  if (options.only.includes('failovers')) parts.push(await failovers(workers, options.number('count')))
  if (options.only.includes('restarts')) parts.push(await restarts(workers, options.number))
  return together(parts)
})
