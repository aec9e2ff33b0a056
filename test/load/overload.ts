/**
 * `npm run overload`: what the real process does with ten times the load it can take, and beside clients that do not
 * read, trickle or do nothing. `--help` says how.
 */
import { runLoadCommand } from './load-options.ts'
import { milliseconds, together, type Findings, type Target } from './load-report.ts'
import {
  asFastAsItGoes,
  besideHurtfulClients,
  beyondTheLimit,
  type Beside,
  type Overload,
} from './overload-measures.ts'

const usage = {
  name: 'overload',
  does: 'ten times the load the service can take, and clients that do not read, trickle or do nothing beside good ones; some 40 seconds',
  numbers: {
    rounds: { fallback: 4, least: 1, most: 100, does: 'rounds of each measure; the median counts' },
  },
} as const

const roundMs = 1_000
const limited = { most: 32, answerMs: 100 }
const hurtful = { stuckReaders: 200, slowWriters: 200, idle: 2_000 }

/** Goodput at ten times the load is at least so much of the best. */
const goodputLeast = 0.9
/**
 * A refusal takes at most so long at p99, or as long as `/health` does at that time where the machine is busy with
 * other things.
 */
const refusedMsMost = 5
/** Hurtful clients cost the others at most so much of p99, or so many milliseconds. */
const slowerMost = 2,
  slowerMsMost = 5

function overloadPart(name: string, { best, overloaded, ratio, outcome, health, odd }: Overload): Findings {
  const refusedUs = outcome.refusedUs.percentile(99),
    healthUs = health.us.percentile(99)
  const refusals: Target = {
    name: `${name}: a refusal within ${refusedMsMost} ms at p99, or as /health`,
    found: milliseconds(refusedUs),
    isMet: refusedUs <= Math.max(refusedMsMost * 1000, healthUs * 1.5),
  }
  return {
    rows: [
      [name, `${best.toFixed(0)} answers/s at best, ${overloaded.toFixed(0)} at ten times the load`],
      ...(outcome.refused === 0
        ? []
        : [
            [
              `${name}, refused`,
              `${outcome.refused}: p50 ${milliseconds(outcome.refusedUs.percentile(50))}, p99 ${milliseconds(refusedUs)}`,
            ] as const,
          ]),
      [
        `${name}, /health`,
        `p50 ${milliseconds(health.us.percentile(50))}, p99 ${milliseconds(healthUs)}, ${health.failed} failed`,
      ],
    ],
    targets: [
      {
        name: `${name}: at ten times the load ${100 * goodputLeast} % of the best`,
        found: `${(100 * ratio).toFixed(0)} %`,
        isMet: ratio >= goodputLeast,
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

function besidePart({ before, beside, after, health }: Beside): Findings {
  const aloneUs = Math.max(before.answeredUs.percentile(99), after.answeredUs.percentile(99)),
    besideUs = beside.answeredUs.percentile(99)
  const { stuckReaders, slowWriters, idle } = hurtful
  return {
    rows: [
      [
        `beside ${stuckReaders} readers that do not read, ${slowWriters} writers that trickle, ${idle} idle connections`,
        `p99 ${milliseconds(besideUs)}, alone ${milliseconds(aloneUs)}`,
      ],
      [
        'beside them, /health',
        `p50 ${milliseconds(health.us.percentile(50))}, p99 ${milliseconds(health.us.percentile(99))}, ${health.failed} failed`,
      ],
    ],
    targets: [
      {
        name: `beside hurtful clients: p99 at most ${slowerMost} times as long, or ${slowerMsMost} ms more`,
        found: milliseconds(besideUs),
        isMet: besideUs <= Math.max(aloneUs * slowerMost, aloneUs + slowerMsMost * 1000),
      },
      {
        name: 'beside hurtful clients: nobody is refused, /health answers',
        found: `${beside.refused} refused, ${health.failed} failed`,
        isMet: beside.refused === 0 && health.failed === 0 && beside.odd.length === 0,
      },
    ],
    complaints: beside.odd.map((what) => `hurtful clients: ${what}`),
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
    ['beside hurtful clients', async () => besidePart(await besideHurtfulClients(3 * roundMs, hurtful))],
  ] as const) {
    console.error(`overload: ${name}`)
    parts.push(await measure())
  }
  return together(parts)
})
