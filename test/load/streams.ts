/** `npm run streams`: many streams open at once, every token looked at. `--help` says how. */
import { histogram } from './histogram.ts'
import { runLoadCommand, workersOption } from './load-options.ts'
import { mebibytes, milliseconds, type Findings } from './load-report.ts'
import { openStreams, type OpenStreams, type OpenStreamsFound } from './open-streams.ts'

const usage = {
  name: 'streams',
  does: 'many streams open at once through the service, a token a second each, every token looked at as it comes',
  numbers: {
    streams: { fallback: 1_000, least: 1, most: 100_000, does: 'streams open at once' },
    workers: workersOption,
    minutes: { fallback: 1, least: 0.01, most: 1_440, does: 'how long all of them stay open' },
    ramp: {
      fallback: 0,
      least: 0,
      most: 600,
      does: 'seconds over which they are opened; 0: 10, or as many as keep it at 500 a second',
    },
    memory: {
      fallback: 700,
      least: 1,
      most: 1_000_000,
      does: 'MiB that all processes of the service together may hold',
    },
  },
} as const

function reportOf(
  asked: OpenStreams,
  { outcome, idle, peak, after, samples, cpuShare, seconds }: OpenStreamsFound,
  memoryMostMiB: number,
): Findings {
  const { streams, faults } = outcome
  const delays = histogram(outcome.delays)
  const wrong = faults.lost + faults.garbled + faults.duplicated
  return {
    rows: [
      ['streams', `${streams.complete} complete, ${streams.broken} broken, at most ${streams.openMost} open at once`],
      [
        'tokens',
        `${streams.tokensExpected} expected, ${faults.seen} came, ${faults.lost} lost, ${faults.garbled} garbled, ${faults.duplicated} twice`,
      ],
      ['delay of a token', `p50 ${milliseconds(delays.percentile(50))}, p99 ${milliseconds(delays.percentile(99))}`],
      ['processes of the service', `${peak.processes}, with ${peak.descriptors} descriptors`],
      [
        'memory, idle',
        `${mebibytes(idle.residentMiB)} resident, ${mebibytes(idle.proportionalMiB)} proportional, ${mebibytes(idle.anonymousMiB)} anonymous`,
      ],
      [
        'memory, at most',
        `${mebibytes(peak.residentMiB)} resident, ${mebibytes(peak.proportionalMiB)} proportional, ${mebibytes(peak.anonymousMiB)} anonymous`,
      ],
      [
        'memory, afterwards',
        `${mebibytes(after.residentMiB)} resident, ${mebibytes(after.proportionalMiB)} proportional, ${mebibytes(after.anonymousMiB)} anonymous`,
      ],
      ['memory over time', samples.map(({ residentMiB }) => residentMiB.toFixed(0)).join(' ')],
      ['memory of a stream', `${(((peak.anonymousMiB - idle.anonymousMiB) * 1024) / asked.streams).toFixed(1)} KiB`],
      ['CPU of the service', `${(cpuShare * 100).toFixed(0)} % of one core over ${seconds.toFixed(0)} s`],
    ],
    targets: [
      {
        name: 'streams open at once',
        found: `${streams.openMost} of ${asked.streams}`,
        isMet: streams.openMost === asked.streams,
      },
      {
        name: 'no token lost or garbled',
        found: `${wrong} of ${streams.tokensExpected}, ${streams.broken} streams broken`,
        isMet: wrong === 0 && streams.broken === 0 && faults.seen === streams.tokensExpected,
      },
      {
        name: `at most ${memoryMostMiB} MiB resident`,
        found: mebibytes(peak.residentMiB),
        isMet: peak.residentMiB <= memoryMostMiB,
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
