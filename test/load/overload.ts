/**
 * `npm run overload`: what the real process does with ten times the load it can take, and beside clients that do not read, trickle or do nothing.
 * Takes some 40 seconds, at most a minute. Prints a table; exits with 1 when a target is missed.
 */
import { asFastAsItGoes, besideHurtfulClients, beyondTheLimit, type Beside, type Overload } from './overload-measures.ts'

const roundMs = 1_000
const rounds = 4
const limited = { most: 32, answerMs: 100 }
const hurtful = { stuckReaders: 200, slowWriters: 200, idle: 2_000 }

/** Goodput at ten times the load is at least so much of the best. */
const goodputLeast = 0.9
/** A refusal takes at most so long at p99, or as long as `/health` does at that time where the machine is busy with other things. */
const refusedMsMost = 5
/** Hurtful clients cost the others at most so much of p99, or so many milliseconds. */
const slowerMost = 2, slowerMsMost = 5

const ms = (us: number): string => `${(us / 1000).toFixed(2)} ms`

interface Report {
  readonly lines: readonly string[]
  readonly missed: readonly string[]
}

function overloadReport(name: string, { best, overloaded, ratio, outcome, health, odd }: Overload): Report {
  const refusedUs = outcome.refusedUs.percentile(99), healthUs = health.us.percentile(99)
  return {
    lines: [
      `${name}: ${best.toFixed(0)} answers/s at best, ${overloaded.toFixed(0)} at ten times the load: ${(100 * ratio).toFixed(0)} %`,
      ...(outcome.refused === 0 ? [] : [`  ${outcome.refused} refused: p50 ${ms(outcome.refusedUs.percentile(50))}, p99 ${ms(refusedUs)}`]),
      `  /health: p50 ${ms(health.us.percentile(50))}, p99 ${ms(healthUs)}, ${health.failed} failed`,
    ],
    missed: [
      ...(ratio >= goodputLeast ? [] : [`${name}: goodput is ${(100 * ratio).toFixed(0)} % of the best, not ${100 * goodputLeast} %`]),
      ...(refusedUs <= Math.max(refusedMsMost * 1000, healthUs * 1.5) ? [] : [`${name}: refusals take ${ms(refusedUs)} at p99`]),
      ...(health.failed === 0 ? [] : [`${name}: /health failed ${health.failed} times`]),
      ...odd.map((what) => `${name}: ${what}`),
    ],
  }
}

function besideReport({ before, beside, after, health }: Beside): Report {
  const aloneUs = Math.max(before.answeredUs.percentile(99), after.answeredUs.percentile(99)), besideUs = beside.answeredUs.percentile(99)
  const { stuckReaders, slowWriters, idle } = hurtful
  return {
    lines: [
      `beside ${stuckReaders} readers that do not read, ${slowWriters} writers that trickle, ${idle} idle connections: p99 ${ms(besideUs)}, alone ${ms(aloneUs)}`,
      `  /health: p50 ${ms(health.us.percentile(50))}, p99 ${ms(health.us.percentile(99))}, ${health.failed} failed`,
    ],
    missed: [
      ...(besideUs <= Math.max(aloneUs * slowerMost, aloneUs + slowerMsMost * 1000) ? [] : [`hurtful clients: p99 rose from ${ms(aloneUs)} to ${ms(besideUs)}`]),
      ...(health.failed === 0 ? [] : [`hurtful clients: /health failed ${health.failed} times`]),
      ...(beside.refused === 0 ? [] : [`hurtful clients: ${beside.refused} others were refused`]),
      ...beside.odd.map((what) => `hurtful clients: ${what}`),
    ],
  }
}

const reports: Report[] = []
for (const measure of [
  async () => overloadReport('as fast as it goes', await asFastAsItGoes(roundMs, rounds)),
  async () => overloadReport('beyond max_concurrent', await beyondTheLimit(1.5 * roundMs, rounds, limited)),
  async () => besideReport(await besideHurtfulClients(3 * roundMs, hurtful)),
]) {
  const report = await measure()
  reports.push(report)
  console.log(report.lines.join('\n'))
}
const missed = reports.flatMap((report) => report.missed)
for (const each of missed) console.log(`missed: ${each}`)
process.exit(missed.length === 0 ? 0 : 1)
