import { parseArgs } from 'node:util'
import { commandLine, printReport, type Findings, type ReportOutput } from './load-report.ts'

/** The command line is invalid. The message is one line for the user. */
export class LoadUsageError extends Error {
  override readonly name = 'LoadUsageError'
}

/** An option that takes a number. */
export interface NumberOption {
  readonly fallback: number
  readonly min: number
  readonly max: number
  /** For `--help`. */
  readonly does: string
}

/** `--workers`, an option of every command that starts a service. */
export const workersOption: NumberOption = {
  fallback: 0,
  min: 0,
  max: 64,
  does: 'workers of the service; 0: one process',
}

/** Parsed command line of a load command. */
export interface LoadOptions<Name extends string, Switch extends string> extends ReportOutput {
  number(name: Name): number
  /** Whether the command line has the option. */
  has(name: Name | Switch): boolean
  readonly only: readonly string[]
}

/** Name, purpose and options of a load command. */
export interface LoadUsage<Name extends string, Switch extends string = never> {
  /** NAME of `npm run NAME`. */
  readonly name: string
  /** Purpose, for the first line of `--help`. */
  readonly does: string
  readonly numbers: Readonly<Record<Name, NumberOption>>
  /** Switch → its description for `--help`. */
  readonly switches?: Readonly<Record<Switch, string>>
  /** Values of `--only`. Default: the command has no such option. */
  readonly parts?: readonly string[]
}

/**
 * Parses a command line. For `--help` it prints the help and returns `undefined`.
 *
 * @throws {LoadUsageError}
 */
export function readLoadOptions<Name extends string, Switch extends string = never>(
  commandLine: readonly string[],
  usage: LoadUsage<Name, Switch>,
): LoadOptions<Name, Switch> | undefined {
  const values = parse(commandLine, usage),
    { parts = [] } = usage
  if (values['help'] === true) return void console.log(helpText(usage))
  const numbers = new Map(
    Object.entries<NumberOption>(usage.numbers).map(([name, option]) => [name, readNumber(name, option, values[name])]),
  )
  const only = typeof values['only'] === 'string' ? values['only'].split(',') : parts
  const unknown = only.find((part) => !parts.includes(part))
  if (unknown !== undefined) throw new LoadUsageError(`--only: found '${unknown}', allowed: ${parts.join(', ')}`)
  const write = values['write']
  if (typeof write === 'string' && !/^[^#]+#[a-z0-9-]+$/.test(write))
    throw new LoadUsageError(`--write: found '${write}', wanted FILE#SECTION`)
  return {
    number: (name) => numbers.get(name) ?? Number.NaN,
    has: (name) => values[name] !== undefined,
    only,
    markdown: values['markdown'] === true,
    write: typeof write === 'string' ? write : undefined,
  }
}

function parse(
  commandLine: readonly string[],
  { numbers, switches = {}, parts = [] }: LoadUsage<string, string>,
): Readonly<Record<string, unknown>> {
  const texts = [...Object.keys(numbers), 'write', ...(parts.length === 0 ? [] : ['only'])].map(
    (name) => [name, { type: 'string' as const }] as const,
  )
  const flags = [...Object.keys(switches), 'markdown', 'help'].map(
    (name) => [name, { type: 'boolean' as const }] as const,
  )
  try {
    return parseArgs({ args: [...commandLine], options: Object.fromEntries([...texts, ...flags]) }).values
  } catch (error) {
    throw new LoadUsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function readNumber(name: string, { fallback, min, max }: NumberOption, text: unknown): number {
  const number = text === undefined ? fallback : Number(text)
  if (number >= min && number <= max) return number
  throw new LoadUsageError(`--${name}: found '${String(text)}', allowed: a number from ${min} to ${max}`)
}

function helpText({ name, does, numbers, switches = {}, parts = [] }: LoadUsage<string, string>): string {
  const lines: readonly (readonly [string, string])[] = [
    ...Object.entries(numbers).map(
      ([option, { does, fallback }]) => [`--${option} N`, `${does} (default ${fallback})`] as const,
    ),
    ...Object.entries(switches).map(([option, does]) => [`--${option}`, does] as const),
    ...(parts.length === 0 ? [] : [['--only LIST', `of ${parts.join(',')} (default all)`] as const]),
    ['--markdown', 'prints the report as Markdown'],
    [
      '--write FILE#SECTION',
      'writes it into a document, between its lines <!-- SECTION: begin --> and <!-- SECTION: end -->',
    ],
    ['--help', 'this help'],
  ]
  const width = Math.max(...lines.map(([option]) => option.length)) + 2
  const options = lines.map(([option, does]) => `  ${option.padEnd(width)}${does}`).join('\n')
  const exitCodes = 'Exit code 1: a target was missed. 2: the command line is invalid.'
  return `npm run ${name} -- [options]: ${does}\n\n${options}\n\n${exitCodes}`
}

/** Parses the command line, runs `measure`, prints the report and exits. Exit code 2 for an invalid command line. */
export async function runLoadCommand<Name extends string, Switch extends string = never>(
  usage: LoadUsage<Name, Switch>,
  measure: (options: LoadOptions<Name, Switch>) => Promise<Findings>,
): Promise<never> {
  const given = process.argv.slice(2)
  try {
    const options = readLoadOptions(given, usage)
    process.exit(
      options === undefined
        ? 0
        : await printReport({ command: commandLine(usage.name, given), ...(await measure(options)) }, options),
    )
  } catch (error) {
    if (!(error instanceof LoadUsageError)) throw error
    console.error(`${error.message}\n--help lists the options.`)
    process.exit(2)
  }
}
