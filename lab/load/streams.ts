/** `npm run streams`: opens many streams at once and checks every token. See `--help`. */
import { histogram } from './histogram.ts'
import { runLoadCommand, workersOption } from './load-options.ts'
import { mebibytes, spread, type Findings } from './load-report.ts'
import { openStreams, type OpenStreams, type OpenStreamsFound } from './open-streams.ts'
import type { ServiceGauge } from './service-gauge.ts'

const usage = {
  name: 'streams',
  does: 'many open streams through the service, a token a second each; every token is checked on arrival',
  numbers: {
    streams: { fallback: 1_000, min: 1, max: 100_000, does: 'streams open at once' },
    workers: workersOption,
    minutes: { fallback: 1, min: 0.01, max: 1_440, does: 'how long all of them stay open' },
    ramp: {
      fallback: 0,
      min: 0,
      max: 600,
      does: 'seconds in which the streams are opened; 0: at least 10, and at most 500 streams a second',
    },
    memory: {
      fallback: 700,
      min: 1,
      max: 1_000_000,
      does: 'target: resident MiB of all processes of the service',
    },
  },
} as const

function reportOf(
  asked: OpenStreams,
  { outcome, idle, peak, after, samples, cpuShare, seconds }: OpenStreamsFound,
  memoryMiBMax: number,
): Findings {
  const { streams, faults } = outcome
  const delays = histogram(outcome.delays)
  const wrong = faults.lost + faults.garbled + faults.duplicated
  const memory = ({ residentMiB, proportionalMiB: proportional, anonymousMiB }: ServiceGauge) =>
    `${mebibytes(residentMiB)} resident, ${mebibytes(proportional)} proportional, ${mebibytes(anonymousMiB)} anonymous`
  return {
    rows: [
      ['streams', `${streams.complete} complete, ${streams.broken} broken, at most ${streams.openMax} open at once`],
      [
        'tokens',
        `${streams.tokensExpected} expected, ${faults.seen} arrived, ` +
          `${faults.lost} lost, ${faults.garbled} garbled, ${faults.duplicated} twice`,
      ],
      ['delay of a token', spread(delays)],
      ['processes of the service', `${peak.processes}, with ${peak.descriptors} descriptors`],
      ['memory, idle', memory(idle)],
      ['memory, at most', memory(peak)],
      ['memory, afterwards', memory(after)],
      ['memory over time', samples.map(({ residentMiB }) => residentMiB.toFixed(0)).join(' ')],
      ['memory of a stream', `${(((peak.anonymousMiB - idle.anonymousMiB) * 1024) / asked.streams).toFixed(1)} KiB`],
      ['CPU of the service', `${(cpuShare * 100).toFixed(0)} % of one core over ${seconds.toFixed(0)} s`],
    ],
    targets: [
      {
        name: 'streams open at once',
        found: `${streams.openMax} of ${asked.streams}`,
        isMet: streams.openMax === asked.streams,
      },
      {
        name: 'no token lost or garbled',
        found: `${wrong} of ${streams.tokensExpected}, ${streams.broken} streams broken`,
        isMet: wrong === 0 && streams.broken === 0 && faults.seen === streams.tokensExpected,
      },
      {
        name: `at most ${memoryMiBMax} MiB resident`,
        found: mebibytes(peak.residentMiB),
        isMet: peak.residentMiB <= memoryMiBMax,
      },
    ],
    complaints: outcome.complaints,
  }
}

await runLoadCommand(usage, async (options) => {
  const streams = options.number('streams')
  const asked: OpenStreams = {
    streams,
    workers: options.number('workers'),
    seconds: options.number('minutes') * 60,
    rampSeconds: options.number('ramp') || Math.max(10, streams / 500),
  }
  const found = await openStreams(asked, (line) => console.error(`streams: ${line}`))
  return reportOf(asked, found, options.number('memory'))
})
