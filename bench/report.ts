import type { Installed } from './installed.ts'
import type { Machine } from './machine.ts'
import type { MeasureName, Measurement } from './measures/measure.ts'
import type { ProxyKind } from './proxies/proxy.ts'
import { markdownTable, measureSection, verdictTable } from './table.ts'
import { judge, targets } from './targets.ts'

/** Results of a run. */
export interface BenchRun {
  /** `2026-11-21`. */
  readonly date: string
  readonly machine: Machine
  /** Share of the time during the run that the host of a virtual machine gave to others, in percent. */
  readonly stealPercent: number
  readonly rounds: number
  readonly seconds: number
  readonly measures: readonly MeasureName[]
  /** Rows of the tables, in order; `direct` first. */
  readonly proxies: readonly ProxyNote[]
  /** Omissions and failures, a sentence each. */
  readonly notes: readonly string[]
  readonly measurements: readonly Measurement[]
}

/** Description of one proxy in the report. */
export interface ProxyNote {
  readonly name: string
  /** Absent for the upstream itself. */
  readonly kind?: ProxyKind
  readonly version: string
  readonly setup: string
  /** Absent where it was not measured, or could not be. */
  readonly installed?: Installed
}

/** Formats a run as Markdown: summary, verdicts, a table for each measure, proxies and machine. */
export function reportMarkdown(run: BenchRun, summary?: string): string {
  const names = run.proxies.map((proxy) => proxy.name)
  const rounds = `${run.rounds} round${run.rounds === 1 ? '' : 's'}`
  const parts = [
    `# Bench, ${run.date}`,
    `Medians of ${rounds} (least–most), ${run.seconds} s each. Ratios are made within a round, then their median is ` +
      'taken. How each figure is measured: bench/README.md.',
    ...(summary === undefined ? [] : ['## Side by side', summary]),
    '## Targets',
    verdictTable(
      targets
        .filter((target) => run.measures.includes(target.measure))
        .map((target) => judge(target, run.measurements)),
    ),
    ...run.measures.map((measure) => measureSection(measure, names, run.measurements)),
    '## Compared',
    comparedTable(run),
    machineSentence(run),
    ...(run.notes.length === 0 ? [] : ['## Left out', run.notes.map((note) => `- ${note}`).join('\n')]),
  ]
  return `${parts.join('\n\n')}\n`
}

/** Formats the table of proxies, their versions and their setup. */
export function comparedTable(run: BenchRun): string {
  return markdownTable(
    ['Proxy', 'version', 'set up as'],
    run.proxies.map((proxy) => [proxy.name, proxy.version, proxy.setup]),
  )
}

/** Describes the machine, and how quiet it was, in a sentence. */
export function machineSentence({ machine, stealPercent }: BenchRun): string {
  const { processor, cores, memoryGb, system, kernel, loadBefore } = machine
  return (
    `On ${processor}, ${cores} cores, ${memoryGb} GB, ${system}, kernel ${kernel}; each proxy pinned to one core, ` +
    `the load and the upstream to another. Load average before the run: ${loadBefore.toFixed(1)}; ` +
    `taken by the host during it (steal): ${stealPercent.toFixed(1)} % of the time.`
  )
}

/** Formats a run as JSON, with every figure of every round. */
export function reportJson(run: BenchRun): string {
  const verdicts = targets.map((target) => {
    const { summary, text } = judge(target, run.measurements)
    const { title, unit, limit, limitIs } = target
    return { title, unit, limit, limitIs, ...summary, verdict: text }
  })
  const { measurements, ...about } = run
  const lines = measurements.map((one) => `    ${JSON.stringify(one)}`).join(',\n')
  const head = JSON.stringify({ ...about, verdicts }, null, 2).slice(0, -2)
  return `${head},\n  "measurements": [\n${lines}\n  ]\n}\n`
}
