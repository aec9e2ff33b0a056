import { parseArgs } from 'node:util'
import { measureNames, sideBySideMeasures, usualMeasures, type MeasureName } from './measures/measure.ts'

/** What the command line asks for. */
export interface BenchOptions {
  /** Rounds of each measure, from 1. */
  readonly rounds: number
  /** Of each measurement in a round, from 1. */
  readonly seconds: number
  readonly measures: readonly MeasureName[]
  /** Names of the proxies, the service included. */
  readonly peers: readonly string[]
  /** `--peers` alone: the table of docs/benchmarks.md is made. */
  readonly isSideBySide: boolean
  /** Fewer rounds, measures or proxies than the report is made of: the report goes to a file of its own. */
  readonly isPartial: boolean
}

/** Names of proxies, each list in the order of the tables. */
export interface ProxyNames {
  /** Those that can be asked for. */
  readonly all: readonly string[]
  readonly usual: readonly string[]
  readonly sideBySide: readonly string[]
}

/** The command line is not understood. The message says what is, in one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Below this a report is not one of record. */
const roundsLeast = 5

/** What `--help` prints. */
export function helpText(proxies: ProxyNames): string {
  return `npm run bench -- [options]: what the service costs, beside what others cost, on this machine

  --rounds N      rounds of each measure (default ${roundsLeast}); the figures are medians over them
  --seconds N     how long each measurement lasts (default 2)
  --only LIST     measures, of ${measureNames.join(',')}
                  (default ${usualMeasures.join(',')})
  --peers LIST    proxies, of ${proxies.all.join(',')}
                  (default ${proxies.usual.join(',')})
  --peers         without a list: the side by side of ${proxies.sideBySide.join(',')}
                  in ${sideBySideMeasures.join(',')};
                  what is missing is installed into bench/peers (about 1 GB) or left out with the reason
  --quick         2 rounds of 1 second, to see that everything runs
  --help          this

The report is printed and written to bench/results/DATE.md and .json; with fewer than ${roundsLeast} rounds,
or not every measure or proxy, to DATE-partial.md and .json, which git ignores. That of the side by side is called DATE-peers,
and a whole one also makes the table in docs/benchmarks.md.`
}

/**
 * Reads the command line; undefined when it asks for help.
 *
 * @throws UsageError when an option or a value is unknown.
 */
export function parseBenchOptions(commandLine: readonly string[], proxies: ProxyNames): BenchOptions | undefined {
  const rest = withoutLonePeers(commandLine)
  const isSideBySide = rest.length < commandLine.length
  const values = parseFlags(rest)
  if (values.help === true) return undefined
  const isQuick = values.quick === true
  const rounds = parseCount('--rounds', values.rounds) ?? (isQuick ? 2 : roundsLeast)
  const seconds = parseCount('--seconds', values.seconds) ?? (isQuick ? 1 : 2)
  const wholeMeasures = isSideBySide ? sideBySideMeasures : usualMeasures
  const wholePeers = isSideBySide ? proxies.sideBySide : proxies.usual
  const measures = parseList('--only', values.only, measureNames) ?? wholeMeasures
  const peers = parseList('--peers', values.peers, proxies.all) ?? wholePeers
  const isWhole =
    wholeMeasures.every((name) => measures.includes(name)) && wholePeers.every((name) => peers.includes(name))
  return { rounds, seconds, measures, peers, isSideBySide, isPartial: rounds < roundsLeast || !isWhole }
}

/** `--peers` may stand without a value, which parseArgs does not know: such ones are taken out. */
function withoutLonePeers(commandLine: readonly string[]): readonly string[] {
  return commandLine.filter((one, at) => one !== '--peers' || !(commandLine[at + 1]?.startsWith('-') ?? true))
}

interface Flags {
  readonly help?: boolean
  readonly quick?: boolean
  readonly rounds?: string
  readonly seconds?: string
  readonly only?: string
  readonly peers?: string
}

function parseFlags(commandLine: readonly string[]): Flags {
  try {
    return parseArgs({
      args: [...commandLine],
      options: {
        help: { type: 'boolean', short: 'h' },
        quick: { type: 'boolean' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        only: { type: 'string' },
        peers: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function parseCount(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new UsageError(`${flag}: found '${text}', allowed: a whole number from 1 to 9999`)
}

/** The named ones, each once, in the order of `allowed`; undefined when the option is not there. */
function parseList<Name extends string>(
  flag: string,
  text: string | undefined,
  allowed: readonly Name[],
): readonly Name[] | undefined {
  if (text === undefined) return undefined
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !allowed.some((one) => one === name))
  if (unknown !== undefined) throw new UsageError(`${flag}: found '${unknown}', allowed: ${allowed.join(', ')}`)
  return allowed.filter((name) => names.includes(name))
}
