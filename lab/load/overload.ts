/**
 * `npm run overload`: measures the service with ten times the load it can take, and beside misbehaving clients. See
 * `--help`.
 */
import { runLoadCommand } from './load-options.ts'
import { milliseconds, spread, together, type Findings, type Target } from './load-report.ts'
import {
  asFastAsItGoes,
  besideMisbehavingClients,
  beyondTheLimit,
  type Beside,
  type Overload,
} from './overload-measures.ts'

const usage = {
  name: 'overload',
  does: 'ten times the load the service can take, and good clients beside misbehaving ones; takes some 40 seconds',
  numbers: {
    rounds: { fallback: 4, min: 1, max: 100, does: 'rounds of each measure; the median counts' },
  },
} as const

const roundMs = 1_000
const limited = { max: 32, answerMs: 100 }
const misbehaving = { stuckReaders: 200, slowWriters: 200, idle: 2_000 }

/**
 * Target: goodput at ten times the load, as a share of the best. Clients and upstream share a processor here, and lose
 * throughput with hundreds of connections themselves: the share that they keep without the service is the measure.
 */
const goodputMin = 0.9
/** Target: time of a refusal at p99. On a busy machine 1.5 times the p99 of `/health` counts instead. */
const refusedMsMax = 5
/** Target: p99 of good clients beside misbehaving ones, as a factor or in additional milliseconds. */
const slowerMax = 2,
  slowerMsMax = 5

function overloadPart(
  name: string,
  { best, overloaded, ratio, ratioWithout, outcome, health, odd }: Overload,
): Findings {
  const refusedUs = outcome.refusedUs.percentile(99),
    healthUs = health.us.percentile(99)
  const refusals: Target = {
    name: `${name}: a refusal within ${refusedMsMax} ms at p99, or as /health`,
    found: milliseconds(refusedUs),
    isMet: refusedUs <= Math.max(refusedMsMax * 1000, healthUs * 1.5),
  }
  return {
    rows: [
      [name, `${best.toFixed(0)} answers/s at best, ${overloaded.toFixed(0)} at ten times the load`],
      ...(ratioWithout === 1
        ? []
        : [[`${name}, the same load without the service`, `${percent(ratioWithout)} at ten times the load`] as const]),
      ...(outcome.refused === 0
        ? []
        : [[`${name}, refused`, `${outcome.refused}: ${spread(outcome.refusedUs)}`] as const]),
      [`${name}, /health`, `${spread(health.us)}, ${health.failed} failed`],
    ],
    targets: [
      {
        name: `${name}: at ten times the load ${percent(goodputMin)} of the best, or of the share without the service`,
        found: percent(ratio),
        isMet: ratio >= goodputMin * Math.min(1, ratioWithout),
      },
      ...(outcome.refused === 0 ? [] : [refusals]),
      {
        name: `${name}: /health answers`,
        found: `${health.failed} failed`,
        isMet: health.failed === 0 && odd.length === 0,
      },
    ],
    complaints: odd.map((what) => `${name}: ${what}`),
  }
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(0)} %`
}

function besidePart({ before, beside, after, health }: Beside): Findings {
  const aloneUs = Math.max(before.answeredUs.percentile(99), after.answeredUs.percentile(99)),
    besideUs = beside.answeredUs.percentile(99)
  const { stuckReaders, slowWriters, idle } = misbehaving
  return {
    rows: [
      [
        `beside ${stuckReaders} clients that do not read, ${slowWriters} slow uploads, ${idle} idle connections`,
        `p99 ${milliseconds(besideUs)}, alone ${milliseconds(aloneUs)}`,
      ],
      ['beside misbehaving clients, /health', `${spread(health.us)}, ${health.failed} failed`],
    ],
    targets: [
      {
        name: `beside misbehaving clients: p99 at most ${slowerMax} times as long, or ${slowerMsMax} ms more`,
        found: milliseconds(besideUs),
        isMet: besideUs <= Math.max(aloneUs * slowerMax, aloneUs + slowerMsMax * 1000),
      },
      {
        name: 'beside misbehaving clients: no good client is refused, /health answers',
        found: `${beside.refused} refused, ${health.failed} failed`,
        isMet: beside.refused === 0 && health.failed === 0 && beside.odd.length === 0,
      },
    ],
    complaints: beside.odd.map((what) => `misbehaving clients: ${what}`),
  }
}

await runLoadCommand(usage, async (options) => {
  const parts: Findings[] = []
  for (const [name, measure] of [
    [
      'as fast as it goes',
      async () => overloadPart('as fast as it goes', await asFastAsItGoes(roundMs, options.number('rounds'))),
    ],
    [
      'beyond max_concurrent',
      async () =>
        overloadPart('beyond max_concurrent', await beyondTheLimit(1.5 * roundMs, options.number('rounds'), limited)),
    ],
    ['beside misbehaving clients', async () => besidePart(await besideMisbehavingClients(3 * roundMs, misbehaving))],
  ] as const) {
    console.error(`overload: ${name}`)
    parts.push(await measure())
  }
  return together(parts)
})
