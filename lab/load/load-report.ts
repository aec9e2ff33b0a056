import { thisMachine, type Machine } from '../../bench/machine.ts'
import { markdownTable } from '../../bench/table.ts'
import { writeSection } from '../../scripts/write-section.ts'
import { packageVersion } from '../../src/app/package.ts'
import type { Histogram } from './histogram.ts'

/** Results of a load run, or of a part of it. */
export interface Findings {
  /** Measurements, in order. */
  readonly rows: readonly (readonly [name: string, value: string])[]
  readonly targets: readonly Target[]
  /** Failures, a line each. */
  readonly complaints: readonly string[]
}

/** Report of a load run. */
export interface LoadReport extends Findings {
  /** The command that repeats the run. */
  readonly command: string
}

/** A target of a load run. */
export interface Target {
  readonly name: string
  /** The measured value. */
  readonly found: string
  readonly isMet: boolean
}

/** Format of a report, and a document to write it into. */
export interface ReportOutput {
  /** Print Markdown instead of plain text. */
  readonly markdown: boolean
  /** A document and the name of its section: `FILE#NAME`. */
  readonly write: string | undefined
}

const complaintsShown = 10

/** Prints a report and writes it into a document on request. @returns the exit code: 1 when a target was missed */
export async function printReport(report: LoadReport, { markdown, write }: ReportOutput): Promise<number> {
  const machine = thisMachine()
  console.log(markdown ? reportMarkdown(report, machine) : reportText(report))
  if (write !== undefined) {
    const [file = '', section = ''] = write.split('#')
    await writeSection(file, section, reportMarkdown(report, machine))
  }
  return report.targets.every(({ isMet }) => isMet) ? 0 : 1
}

function reportText({ rows, targets, complaints }: LoadReport): string {
  const width = Math.max(...[...rows, ...targets.map(({ name }) => [name])].map(([name = '']) => name.length)) + 2
  return [
    ...rows.map(([name, value]) => `${name.padEnd(width)}${value}`),
    ...targets.map(({ name, found, isMet }) => `${name.padEnd(width)}${found} ${isMet ? 'reached' : 'MISSED'}`),
    ...complaints.slice(0, complaintsShown).map((complaint) => `wrong: ${complaint}`),
  ].join('\n')
}

function reportMarkdown(
  { command, rows, targets, complaints }: LoadReport,
  { processor, cores, memoryGb, kernel, system }: Machine,
): string {
  const date = new Date().toISOString().slice(0, 10)
  const machine = `${processor}, ${cores} cores, ${memoryGb} GB, ${system}, kernel ${kernel}`
  return [
    `\`${command}\`, ${date}: svc ${packageVersion()} on ${machine}.`,
    markdownTable(
      ['To reach', 'Found', ''],
      targets.map(({ name, found, isMet }) => [name, found, isMet ? 'reached' : '**missed**']),
    ),
    markdownTable(
      ['Measured', ''],
      rows.map(([name, value]) => [name, value]),
    ),
    ...(complaints.length === 0
      ? []
      : [
          complaints
            .slice(0, complaintsShown)
            .map((complaint) => `- ${complaint}`)
            .join('\n'),
        ]),
  ].join('\n\n')
}

/** Joins the results of several parts, in order. */
export function together(parts: readonly Findings[]): Findings {
  return {
    rows: parts.flatMap(({ rows }) => rows),
    targets: parts.flatMap(({ targets }) => targets),
    complaints: parts.flatMap(({ complaints }) => complaints),
  }
}

/** The command that repeats a run: `npm run NAME -- …`, without options of the report. */
export function commandLine(name: string, given: readonly string[]): string {
  const kept = given.filter(
    (argument, index) => argument !== '--markdown' && !argument.startsWith('--write') && given[index - 1] !== '--write',
  )
  return ['npm run', name, ...(kept.length === 0 ? [] : ['--', ...kept])].join(' ')
}

/** Formats microseconds as `1.2 ms`. */
export function milliseconds(us: number): string {
  return `${(us / 1_000).toFixed(1)} ms`
}

/** Formats durations as `p50 1.2 ms, p99 3.4 ms`. */
export function spread(durations: Histogram): string {
  return `p50 ${milliseconds(durations.percentile(50))}, p99 ${milliseconds(durations.percentile(99))}`
}

/** Formats MiB as `312 MiB`. */
export function mebibytes(value: number): string {
  return `${value.toFixed(0)} MiB`
}
