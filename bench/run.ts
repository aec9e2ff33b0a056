/**
 * `npm run bench`: starts the upstream and the proxies, measures them in turn, prints and writes the report. See
 * `--help`.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startField } from './field.ts'
import { withGeneratedPart, type GeneratedPart } from './generated-part.ts'
import { processorTicks, stealPercent, thisMachine } from './machine.ts'
import { measureByName } from './measures/measure-list.ts'
import { measureNames, type Measurement, type MeasureName, type MeasureSetting } from './measures/measure.ts'
import { helpText, parseBenchOptions, UsageError, type BenchOptions, type ProxyNames } from './options.ts'
import { missingPrograms, type ProgramName } from './programs.ts'
import { progress } from './progress.ts'
import { allProxies, sideBySideProxies, usualProxies } from './proxies/proxy-list.ts'
import type { Proxy, RunningProxy } from './proxies/proxy.ts'
import { reportJson, reportMarkdown, type BenchRun } from './report.ts'
import { runMeasure } from './rounds.ts'
import { sideBySideMarkdown, speedMarkdown } from './side-by-side.ts'
import { warmUps } from './warm-up.ts'
import { inWorkshop, launchProxy, startProxy, type Workshop } from './workshop.ts'

const proxyNames: ProxyNames = {
  all: allProxies.map(({ name }) => name),
  usual: usualProxies,
  sideBySide: sideBySideProxies,
}
const withWrk: readonly MeasureName[] = measureNames.filter(
  (name) => name.startsWith('rate-') || ['plain', 'aged', 'latency', 'memory'].includes(name),
)

function settingOf(options: BenchOptions, proxies: readonly Proxy[], workshop: Workshop): MeasureSetting {
  const instance = async (name: string, begin: typeof startProxy): Promise<RunningProxy> => {
    const proxy = proxies.find((one) => one.name === name)
    if (proxy === undefined) throw new Error(`no proxy ${name}`)
    return begin(proxy, workshop)
  }
  return {
    seconds: options.seconds,
    loadCore: workshop.cores.load,
    warmUp: warmUps(workshop.cores.load),
    startFresh: (name) => instance(name, startProxy),
    launch: (name) => instance(name, launchProxy),
  }
}

async function bench(options: BenchOptions, workshop: Workshop, missing: ReadonlySet<ProgramName>): Promise<BenchRun> {
  const machine = thisMachine()
  const ticksBefore = processorTicks()
  const proxies = allProxies.filter((proxy) => options.peers.includes(proxy.name))
  const measures = options.measures.filter((name) => !(withWrk.includes(name) && missing.has('wrk')))
  const skipped = options.measures.filter((name) => !measures.includes(name))
  const field = await startField(proxies, missing, workshop, options.isSideBySide)
  const setting = settingOf(options, proxies, workshop)
  const measurements: Measurement[] = []
  const notes = [...skipped.map((name) => `${name}: wrk not installed`), ...field.notes]
  for (const name of measures) {
    const outcome = await runMeasure(measureByName[name], field.contenders, options.rounds, setting)
    measurements.push(...outcome.measurements)
    notes.push(...outcome.notes)
  }
  const date = new Date().toISOString().slice(0, 10)
  const { rounds, seconds } = options
  const steal = stealPercent(ticksBefore, processorTicks())
  return { date, machine, stealPercent: steal, rounds, seconds, measures, proxies: field.proxies, notes, measurements }
}

async function writeReport(run: BenchRun, { isSideBySide, isPartial }: BenchOptions): Promise<void> {
  const folder = join(import.meta.dir, 'results')
  mkdirSync(folder, { recursive: true })
  const name = `${run.date}${isSideBySide ? '-peers' : ''}${isPartial ? '-partial' : ''}`
  const summary = isSideBySide ? sideBySideMarkdown(run) : undefined
  const markdown = reportMarkdown(run, summary)
  await Bun.write(join(folder, `${name}.md`), markdown)
  await Bun.write(join(folder, `${name}.json`), reportJson(run))
  console.log(markdown)
  progress(`written to bench/results/${name}.md and .json`)
  if (isPartial) return
  if (summary === undefined) await writePage('relays', speedMarkdown(run))
  else await writePage('gateways', summary)
}

async function writePage(name: GeneratedPart, part: string): Promise<void> {
  const page = join(import.meta.dir, 'results/tables.md')
  await Bun.write(page, withGeneratedPart(await Bun.file(page).text(), name, part))
  progress(`the table of ${name} in bench/results/tables.md is made`)
}

async function main(): Promise<number> {
  const options = parseBenchOptions(process.argv.slice(2), proxyNames)
  if (options === undefined) {
    console.log(helpText(proxyNames))
    return 0
  }
  if (process.platform !== 'linux')
    throw new UsageError(`the bench reads /proc and pins cores: it runs on Linux, not ${process.platform}`)
  const needs = allProxies.filter((proxy) => options.peers.includes(proxy.name)).flatMap((proxy) => proxy.needs)
  const missing = await missingPrograms(new Set<ProgramName>(['wrk', ...needs]))
  await inWorkshop(async (workshop) => writeReport(await bench(options, workshop, missing), options))
  return 0
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`bench: ${error.message} (--help lists the options)`)
  process.exitCode = 2
}
