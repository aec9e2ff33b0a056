/** `npm run bench`: starts the upstream and the proxies, measures them in turn, prints and writes the report. `--help` says how. */
import { mkdtempSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { streamLoad } from './load.ts'
import { chooseCores, thisMachine } from './machine.ts'
import { firstToken } from './measures/first-token.ts'
import { latency } from './measures/latency.ts'
import { directName, serviceName, type Contender, type Measure, type Measurement, type MeasureName, type MeasureSetting } from './measures/measure.ts'
import { memory } from './measures/memory.ts'
import { plain } from './measures/plain.ts'
import { stream } from './measures/stream.ts'
import { helpText, parseBenchOptions, UsageError, type BenchOptions } from './options.ts'
import { freePort, startProgram, waitUntilListening, type RunningProgram } from './processes.ts'
import { missingPrograms, type ProgramName } from './programs.ts'
import { bareRelay } from './proxies/bare-relay.ts'
import { haproxy } from './proxies/haproxy.ts'
import { nginx } from './proxies/nginx.ts'
import { portkey } from './proxies/portkey.ts'
import type { Proxy, RunningProxy } from './proxies/proxy.ts'
import { svc } from './proxies/svc.ts'
import { reportJson, reportMarkdown, type BenchRun, type ProxyNote } from './report.ts'

const allProxies: readonly Proxy[] = [nginx, haproxy, bareRelay, svc, portkey]
const measureByName: Readonly<Record<MeasureName, Measure>> = { plain, latency, stream, 'first-token': firstToken, memory }

/** Everything started and made by this run, so that nothing of it is left behind. */
interface Workshop {
  readonly directory: string
  readonly programs: RunningProgram[]
  readonly upstreamPort: number
  readonly cores: { readonly proxy: number; readonly load: number }
}

function progress(text: string): void {
  console.error(`bench: ${text}`)
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function openWorkshop(programs: RunningProgram[]): Promise<Workshop> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const cores = chooseCores()
  const upstreamPort = freePort()
  const command = [process.execPath, join(import.meta.dir, 'upstream.ts'), String(upstreamPort)]
  const upstream = startProgram({ name: 'upstream', command, core: cores.load, directory }, (program) => programs.push(program))
  await waitUntilListening(upstream, upstreamPort)
  return { directory, programs, upstreamPort, cores }
}

async function closeWorkshop(directory: string | undefined, programs: readonly RunningProgram[]): Promise<void> {
  await Promise.all(programs.filter((program) => !program.hasEnded()).map((program) => program.stop()))
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
}

function startProxy(proxy: Proxy, workshop: Workshop): Promise<RunningProxy> {
  const directory = mkdtempSync(join(workshop.directory, `${proxy.name}-`))
  const register = (program: RunningProgram): void => void workshop.programs.push(program)
  return proxy.start({ upstreamPort: workshop.upstreamPort, core: workshop.cores.proxy, directory, register })
}

interface Field {
  readonly contenders: readonly Contender[]
  readonly proxies: readonly ProxyNote[]
  readonly notes: readonly string[]
}

/** Starts each proxy and makes sure that it answers. One that cannot be had, started or used is left out, and the notes say why. */
async function startField(proxies: readonly Proxy[], missing: ReadonlySet<ProgramName>, workshop: Workshop): Promise<Field> {
  const direct: Contender = { name: directName, port: workshop.upstreamPort, headers: {} }
  const contenders: Contender[] = [direct]
  const notes: string[] = []
  const started: ProxyNote[] = [{ name: directName, version: `bun/${Bun.version}`, setup: 'the mock upstream itself' }]
  for (const proxy of proxies) {
    try {
      const absent = proxy.needs.filter((name) => missing.has(name))
      if (absent.length > 0) throw new Error(`${absent.join(' and ')} not installed`)
      await proxy.prepare()
      progress(`starting ${proxy.name}`)
      const running = await startProxy(proxy, workshop)
      const contender = { name: proxy.name, port: running.port, headers: running.headers, pid: running.program.pid }
      await checkContender(contender, workshop.cores.load)
      contenders.push(contender)
      started.push({ name: proxy.name, version: await proxy.version(), setup: proxy.setup })
    } catch (error) {
      notes.push(`${proxy.name}: ${reasonOf(error)}`)
      progress(`leaving out ${proxy.name}: ${reasonOf(error)}`)
    }
  }
  return { contenders, proxies: started, notes }
}

/** @throws ProgramError unless a plain and a streamed request are answered in full. */
async function checkContender(contender: Contender, loadCore: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${contender.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...contender.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bench-model', messages: [{ role: 'user', content: 'hello' }] }),
  })
  const text = await answer.text()
  if (answer.status !== 200 || !text.includes('xxxx')) throw new Error(`answered ${answer.status} ${text.slice(0, 200)}`)
  await streamLoad(contender, { connections: 1, streamsPerConnection: 2, chunks: 3, paceUs: 1000 }, loadCore)
}

/** Runs every round of one measure. A contender that fails is left out of the rest of it, and the notes say why. */
async function runMeasure(
  measure: Measure,
  field: readonly Contender[],
  rounds: number,
  setting: MeasureSetting,
): Promise<{ readonly measurements: readonly Measurement[]; readonly notes: readonly string[] }> {
  const measurements: Measurement[] = []
  const failed = new Map<string, string>()
  const contenders = field.filter((contender) => contender.name !== directName || measure.includesDirect)
  for (let round = 1; round <= rounds; round++) {
    progress(`${measure.name}, round ${round} of ${rounds}`)
    for (const contender of rotated(contenders, round)) {
      if (failed.has(contender.name)) continue
      if (measure.peersOnce && round > 1 && contender.name !== serviceName) continue
      try {
        const figures = await measure.run(contender, round, setting)
        for (const [metric, value] of Object.entries(figures)) {
          measurements.push({ measure: measure.name, round, proxy: contender.name, metric, value })
        }
      } catch (error) {
        failed.set(contender.name, `${contender.name}, ${measure.name}, round ${round}: ${reasonOf(error)}`)
        progress(`leaving out of ${measure.name}: ${reasonOf(error)}`)
      }
    }
  }
  return { measurements, notes: [...failed.values()] }
}

/** Each round begins with another contender, so that none always follows the same one. */
function rotated<Item>(items: readonly Item[], round: number): readonly Item[] {
  const by = round % Math.max(items.length, 1)
  return [...items.slice(by), ...items.slice(0, by)]
}

async function bench(options: BenchOptions, workshop: Workshop, missing: ReadonlySet<ProgramName>): Promise<BenchRun> {
  const machine = thisMachine()
  const proxies = allProxies.filter((proxy) => options.peers.includes(proxy.name))
  const needsWrk = (name: MeasureName): boolean => name === 'plain' || name === 'latency' || name === 'memory'
  const measures = options.measures.filter((name) => !(needsWrk(name) && missing.has('wrk')))
  const skipped = options.measures.filter((name) => !measures.includes(name))
  const field = await startField(proxies, missing, workshop)
  const setting: MeasureSetting = {
    seconds: options.seconds,
    loadCore: workshop.cores.load,
    startFresh(name) {
      const proxy = proxies.find((one) => one.name === name)
      return proxy === undefined ? Promise.reject(new Error(`no proxy ${name}`)) : startProxy(proxy, workshop)
    },
  }
  const measurements: Measurement[] = []
  const notes = [...skipped.map((name) => `${name}: wrk not installed`), ...field.notes]
  for (const name of measures) {
    const outcome = await runMeasure(measureByName[name], field.contenders, options.rounds, setting)
    measurements.push(...outcome.measurements)
    notes.push(...outcome.notes)
  }
  const date = new Date().toISOString().slice(0, 10)
  const { rounds, seconds } = options
  return { date, machine, rounds, seconds, measures, proxies: field.proxies, notes, measurements }
}

async function writeReport(run: BenchRun, isPartial: boolean): Promise<void> {
  const folder = join(import.meta.dir, 'results')
  mkdirSync(folder, { recursive: true })
  const name = `${run.date}${isPartial ? '-partial' : ''}`
  const markdown = reportMarkdown(run)
  await Bun.write(join(folder, `${name}.md`), markdown)
  await Bun.write(join(folder, `${name}.json`), reportJson(run))
  console.log(markdown)
  progress(`written to bench/results/${name}.md and .json`)
}

async function main(): Promise<number> {
  const options = parseBenchOptions(process.argv.slice(2), allProxies.map((proxy) => proxy.name))
  if (options === undefined) {
    console.log(helpText(allProxies.map((proxy) => proxy.name)))
    return 0
  }
  if (process.platform !== 'linux') throw new UsageError(`the bench reads /proc and pins cores: it runs on Linux, not ${process.platform}`)
  const missing = await missingPrograms(new Set(['wrk', ...allProxies.filter((proxy) => options.peers.includes(proxy.name)).flatMap((proxy) => proxy.needs)]))
  const programs: RunningProgram[] = []
  let workshop: Workshop | undefined
  const leave = (): void => void closeWorkshop(workshop?.directory, programs).then(() => process.exit(130))
  process.once('SIGINT', leave)
  process.once('SIGTERM', leave)
  try {
    workshop = await openWorkshop(programs)
    await writeReport(await bench(options, workshop, missing), options.isPartial)
    return 0
  } finally {
    await closeWorkshop(workshop?.directory, programs)
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`bench: ${error.message} (--help lists the options)`)
  process.exitCode = 2
}
