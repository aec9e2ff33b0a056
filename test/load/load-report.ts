import { thisMachine, type Machine } from '../../bench/machine.ts'
import { markdownTable } from '../../bench/table.ts'
import { writeSection } from '../../scripts/write-section.ts'
import { packageVersion } from '../../src/cli/process.ts'

/** What a load run, or a part of it, found out. */
export interface Findings {
  /** What was measured and how it came out, in order. */
  readonly rows: readonly (readonly [name: string, value: string])[]
  readonly targets: readonly Target[]
  /** Of what went wrong, a line each. */
  readonly complaints: readonly string[]
}

/** What a load run tells. */
export interface LoadReport extends Findings {
  /** The command that makes it again. */
  readonly command: string
}

/** What was to be reached. */
export interface Target {
  readonly name: string
  /** What came out. */
  readonly found: string
  readonly isMet: boolean
}

/** Where a report goes besides the terminal. */
export interface ReportOutput {
  /** As Markdown instead of plain text. */
  readonly markdown: boolean
  /** A document and the name of the section in it: `FILE#NAME`. */
  readonly write: string | undefined
}

const complaintsShown = 10

/** Prints a report, writes it where it was asked for, and gives the exit code: 1 when a target was missed. */
export async function tellReport(report: LoadReport, { markdown, write }: ReportOutput): Promise<number> {
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
  return [
    `\`${command}\`, ${date}: svc ${packageVersion()} on ${processor}, ${cores} cores, ${memoryGb} GB, ${system}, kernel ${kernel}.`,
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

/** What the parts of a run found out, in order. */
export function together(parts: readonly Findings[]): Findings {
  return {
    rows: parts.flatMap(({ rows }) => rows),
    targets: parts.flatMap(({ targets }) => targets),
    complaints: parts.flatMap(({ complaints }) => complaints),
  }
}

/** The command that makes a report again: `npm run NAME -- …`, without where the report goes. */
export function commandLine(name: string, given: readonly string[]): string {
  const kept = given.filter(
    (argument, index) => argument !== '--markdown' && !argument.startsWith('--write') && given[index - 1] !== '--write',
  )
  return ['npm run', name, ...(kept.length === 0 ? [] : ['--', ...kept])].join(' ')
}

/** Microseconds as milliseconds, `1.2 ms`. */
export function milliseconds(us: number): string {
  return `${(us / 1_000).toFixed(1)} ms`
}

/** `312 MiB`. */
export function mebibytes(value: number): string {
  return `${value.toFixed(0)} MiB`
}
