/**
 * `npm run promises`: measures aborts, failovers and the return of providers after an outage, and checks that restarts
 * and reloads break no request. See `--help`.
 */
import { measureAborts } from './aborts.ts'
import { measureFailovers } from './failovers.ts'
import { histogram } from './histogram.ts'
import { runLoadCommand, workersOption } from './load-options.ts'
import { milliseconds, spread, together, type Findings } from './load-report.ts'
import { measureOutages } from './outages.ts'
import { measureRestarts } from './restarts.ts'

const usage = {
  name: 'promises',
  does:
    'how soon an abort reaches the provider, what a failover costs, how soon a provider is used again ' +
    'after an outage, and that restarts and reloads break no request',
  numbers: {
    workers: { ...workersOption, does: `${workersOption.does}, without rolling restarts` },
    count: { fallback: 1_000, min: 1, max: 100_000, does: 'aborts, and failovers of each kind' },
    rolls: { fallback: 20, min: 0, max: 1_000, does: 'rolling restarts' },
    seconds: { fallback: 20, min: 1, max: 86_400, does: 'seconds of restarts and reloads, at least' },
    reloads: { fallback: 10, min: 0.1, max: 100, does: 'reloads a second' },
    rate: { fallback: 1_000, min: 1, max: 100_000, does: 'plain requests a second during restarts and reloads' },
    outages: { fallback: 10, min: 1, max: 50, does: 'outages of a first provider, with each value of `retries`' },
    outage: { fallback: 60, min: 1, max: 3_600, does: 'seconds that an outage lasts' },
    streams: { fallback: 200, min: 1, max: 10_000, does: 'streams open at once meanwhile' },
  },
  parts: ['aborts', 'failovers', 'outages', 'restarts'],
} as const

const abortUsMax = 50_000,
  failoverUsMax = 5_000,
  usedAgainMsMax = 20_000

async function aborts(workers: number, count: number): Promise<Findings> {
  const { delays, direct, left, missed, early, broken, complaints } = await measureAborts({ workers, count })
  const p99 = delays.percentile(99)
  return {
    rows: [
      ['aborts', `${left}, ${early} of them before the provider was asked`],
      ['an abort, until the close at the provider', spread(delays)],
      ['the same without the service between', spread(direct)],
    ],
    targets: [
      {
        name: 'an abort reaches the provider within 50 ms at p99',
        found: milliseconds(p99),
        isMet: p99 <= abortUsMax && left > early,
      },
      {
        name: 'every abort reaches the provider',
        found: `${missed.length} did not, ${broken} other streams broke`,
        isMet: missed.length === 0 && broken === 0,
      },
    ],
    complaints: [...complaints, ...missed.slice(0, 5).map((name) => `${name} was not aborted at the provider`)],
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
        isMet: refusedUs <= failoverUsMax,
      },
      {
        name: 'a failover from a 500 costs at most 5 ms at p99 beyond it',
        found: milliseconds(failedUs),
        isMet: failedUs <= failoverUsMax,
      },
      { name: 'every failover succeeds', found: `${wrong} of ${count * 3} requests failed`, isMet: wrong === 0 },
    ],
    complaints,
  }
}

async function outages(workers: number, rounds: number, outageSeconds: number): Promise<Findings> {
  const found = await measureOutages({ workers, rounds, outageMs: outageSeconds * 1_000 })
  const requests = found.reduce((sum, each) => sum + each.requests, 0)
  const failed = found.reduce((sum, each) => sum + each.failed, 0)
  return {
    rows: found.map(({ retries, usedAgainMs }) => [
      `used again after an outage of ${outageSeconds} s, \`retries: ${retries}\``,
      usedAgainMs.map((ms) => (ms === undefined ? 'never' : `${(ms / 1_000).toFixed(1)} s`)).join(', '),
    ]),
    targets: [
      ...found.map(({ retries, usedAgainMs }) => {
        const soon = usedAgainMs.filter((ms) => ms !== undefined && ms <= usedAgainMsMax).length
        return {
          name: `a provider is used again within 20 s of its return, \`retries: ${retries}\``,
          found: `${soon} of ${rounds}`,
          isMet: soon === rounds,
        }
      }),
      { name: 'no request fails during an outage', found: `${failed} of ${requests}`, isMet: failed === 0 },
    ],
    complaints: [],
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
        `${rolls} rolling restarts and ${written} configurations written in ${seconds.toFixed(0)} s; ` +
          `the last workers loaded ${reloads}`,
      ],
      [
        'load meanwhile',
        `${requests} plain requests (${(requests / seconds).toFixed(0)} a second), ` +
          `${streams.complete + streams.broken} streams of ${outcome.faults.seen} tokens, ` +
          `at most ${streams.openMax} open at once`,
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
  if (options.only.includes('outages'))
    parts.push(await outages(workers, options.number('outages'), options.number('outage')))
  if (options.only.includes('restarts')) parts.push(await restarts(workers, options.number))
  return together(parts)
})
