/**
 * `npm run bench:formats -- --service [ROUNDS [SECONDS [MEASURES]]]`: what requests and streamed chunks cost in each
 * format of callers, at providers of each format: a process of the service for each pair, sockets, and all pairs in
 * turns. MEASURES: `rate-1000,plain,paced-64,stream-throughput,first-token`, or some of them.
 */
import { streamLoad } from './load.ts'
import { processorTicks, stealPercent } from './machine.ts'
import { firstToken } from './measures/first-token.ts'
import type { Contender, Measure, Measurement, MeasureSetting } from './measures/measure.ts'
import { paced } from './measures/paced.ts'
import { plain } from './measures/plain.ts'
import { rate } from './measures/rate.ts'
import { streamThroughput } from './measures/stream-throughput.ts'
import { missingPrograms } from './programs.ts'
import { progress } from './progress.ts'
import { svcSpeaking } from './proxies/svc.ts'
import { runMeasure } from './rounds.ts'
import { spokenNames, type SpokenName } from './spoken-formats.ts'
import { summarize } from './statistics.ts'
import { formatSummary, markdownTable } from './table.ts'
import { perRound, ratio, type RoundLookup } from './targets.ts'
import { warmUps } from './warm-up.ts'
import { inWorkshop, startProxy, type Workshop } from './workshop.ts'

/** A format of callers and one of providers. */
interface Pair {
  readonly caller: SpokenName
  readonly provider: SpokenName
}

/** Providers of Responses get requests of other formats as chat completions. */
const pairs: readonly Pair[] = spokenNames.flatMap((caller) =>
  spokenNames
    .filter((provider) => provider !== 'responses' || caller === 'responses')
    .map((provider) => ({ caller, provider })),
)
const nameOf = ({ caller, provider }: Pair): string => `${caller}-${provider}`
const nativeOf = (caller: SpokenName): string => nameOf({ caller, provider: caller })
const isNative = ({ caller, provider }: Pair): boolean => caller === provider

const measures: readonly Measure[] = [rate('rate-1000'), plain, paced('paced-64'), streamThroughput, firstToken].map(
  (measure) => ({ ...measure, includesDirect: false }),
)

const titles: Readonly<Record<SpokenName, string>> = {
  chat: 'chat completions',
  messages: 'Messages',
  responses: 'Responses',
  gemini: 'Gemini',
}

async function startPair(pair: Pair, workshop: Workshop): Promise<Contender> {
  const name = nameOf(pair)
  const { program, ...address } = await startProxy(svcSpeaking(name, pair.provider), workshop)
  const contender: Contender = { name, ...address, speaks: pair.caller, pid: program.pid, canStream: true }
  // Incomplete streams are a failure.
  const streams = { connections: 1, streamsPerConnection: 2, chunks: 3, paceUs: 1000 }
  await streamLoad(contender, streams, workshop.cores.load)
  return contender
}

/** The figure of each round as the median with its extremes. */
function cell(measurements: readonly Measurement[], measure: Measure, figure: (of: RoundLookup) => number | undefined) {
  return formatSummary(summarize(perRound(measure.name, measurements, figure)))
}

/** A row for each pair: the CPU time of each measure, and its ratio to the reference in the same round. */
function rowsOf(
  measurements: readonly Measurement[],
  shown: readonly Measure[],
  rows: readonly (Pair & { readonly reference: string })[],
): readonly (readonly string[])[] {
  return rows.map((row) => [
    isNative(row) ? titles[row.caller] : `${titles[row.caller]}, from ${titles[row.provider]}`,
    ...shown.flatMap((measure) => [
      cell(measurements, measure, (of) => of(nameOf(row), 'cpuUs')),
      cell(measurements, measure, (of) => ratio(of(nameOf(row), 'cpuUs'), of(row.reference, 'cpuUs'))),
    ]),
    ...(isNative(row) ? [] : [cell(measurements, firstToken, (of) => addedMs(of, row))]),
  ])
}

/** Time that the translation adds to the first token. */
function addedMs(of: RoundLookup, pair: Pair): number | undefined {
  const [translated, native] = [of(nameOf(pair), 'p50Us'), of(nativeOf(pair.caller), 'p50Us')]
  return translated === undefined || native === undefined ? undefined : (translated - native) / 1000
}

function printTables(measurements: readonly Measurement[]): void {
  const head = (each: readonly string[], against: string) => each.flatMap((title) => [title, `÷ ${against}`])
  const native = pairs.filter(isNative).map((pair) => ({ ...pair, reference: nativeOf('chat') }))
  const translated = pairs
    .filter((pair) => !isNative(pair))
    .map((pair) => ({ ...pair, reference: nativeOf(pair.caller) }))
  const [atRate, atOnce, ...streamed] = measures.slice(0, 4)
  const requests = [atRate, atOnce].filter((measure) => measure !== undefined)
  const titlesOf = {
    requests: ['request, 1,000 a second: µs', 'request, 64 at once: µs'],
    chunks: ['chunk, every 20 ms: µs', 'chunk, as fast as they go: µs'],
  }
  const table = (title: string, columns: readonly string[], shown: readonly Measure[], rows: typeof native) =>
    console.log(`\n${markdownTable([title, ...columns], rowsOf(measurements, shown, rows))}`)
  table('passed through', head(titlesOf.requests, 'chat'), requests, native)
  table('passed through', head(titlesOf.chunks, 'chat'), streamed, native)
  const columns = [...head(titlesOf.chunks, 'passed through'), 'first token: added ms']
  table('translated', columns, streamed, translated)
}

/** Measures all pairs, and prints the tables. @param seconds duration of each measurement @param only some measures */
export async function measureService(rounds: number, seconds: number, only?: readonly string[]): Promise<void> {
  const missing = await missingPrograms(new Set(['wrk']))
  if (missing.size > 0) throw new Error('wrk is missing: it sends the requests')
  await inWorkshop(async (workshop) => {
    const contenders: Contender[] = []
    const wanted = measures.filter(({ name }) => only?.includes(name) !== false)
    for (const pair of wanted.some(({ needsStreams }) => needsStreams) ? pairs : pairs.filter(isNative)) {
      progress(`starting ${nameOf(pair)}`)
      contenders.push(await startPair(pair, workshop))
    }
    const ticks = processorTicks()
    const loadCore = workshop.cores.load
    const unused = (): Promise<never> => Promise.reject(new Error('pairs are started once'))
    const setting: MeasureSetting = {
      seconds,
      loadCore,
      warmUp: warmUps(loadCore),
      startFresh: unused,
      launch: unused,
    }
    const natives = new Set(spokenNames.map(nativeOf))
    const measurements: Measurement[] = []
    const notes: string[] = []
    for (const measure of wanted) {
      const field = measure.needsStreams ? contenders : contenders.filter(({ name }) => natives.has(name))
      const outcome = await runMeasure(measure, field, rounds, setting)
      measurements.push(...outcome.measurements)
      notes.push(...outcome.notes)
    }
    printTables(measurements)
    const steal = stealPercent(ticks, processorTicks()).toFixed(1)
    console.log(`\nMedians of ${rounds} rounds of ${seconds} s (least–most). Taken by the host: ${steal} %.`)
    for (const note of notes) console.log(`- ${note}`)
  })
}
