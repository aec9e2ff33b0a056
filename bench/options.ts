import { parseArgs } from 'node:util'
import { measureNames, sideBySideMeasures, usualMeasures, type MeasureName } from './measures/measure.ts'

/** Parsed command line. */
export interface BenchOptions {
  /** Rounds of each measure, from 1. */
  readonly rounds: number
  /** Duration of each measurement, from 1. */
  readonly seconds: number
  readonly measures: readonly MeasureName[]
  /** Names of the proxies, with the service. */
  readonly peers: readonly string[]
  /** `--peers` alone: makes the table of bench/results/tables.md. */
  readonly isSideBySide: boolean
  /** Fewer rounds, measures or proxies than a full report: it goes to another file. */
  readonly isPartial: boolean
}

/** Names of proxies, in the order of the tables. */
export interface ProxyNames {
  /** Allowed values of `--peers`. */
  readonly all: readonly string[]
  readonly usual: readonly string[]
  readonly sideBySide: readonly string[]
}

/** The command line is invalid. The message is one line for the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Rounds of a full report. */
const roundsMin = 5

/** Text of `--help`. */
export function helpText(proxies: ProxyNames): string {
  return `npm run bench -- [options]: measures the service and other gateways on this machine

  --rounds N      rounds of each measure (default ${roundsMin}); the figures are medians over them
  --seconds N     how long each measurement lasts (default 2)
  --only LIST     measures, of ${measureNames.join(',')}
                  (default ${usualMeasures.join(',')})
  --peers LIST    proxies, of ${proxies.all.join(',')}
                  (default ${proxies.usual.join(',')})
  --peers         without a list: the side by side of ${proxies.sideBySide.join(',')}
                  in ${sideBySideMeasures.join(',')};
                  installs missing programs into bench/peers (about 1 GB), or leaves them out with the reason
  --quick         2 rounds of 1 second, to check that everything runs
  --help          this help

The report is printed and written to bench/results/DATE.md and .json. With fewer than ${roundsMin} rounds,
or without some measure or proxy, it goes to DATE-partial.md and .json, which git ignores. The side by side
goes to DATE-peers.md and .json. A full run, and a full side by side, also make their tables in
bench/results/tables.md.`
}

/**
 * Parses the command line; undefined for `--help`.
 *
 * @throws UsageError for an unknown option or value
 */
export function parseBenchOptions(commandLine: readonly string[], proxies: ProxyNames): BenchOptions | undefined {
  const rest = withoutLonePeers(commandLine)
  const isSideBySide = rest.length < commandLine.length
  const values = parseFlags(rest)
  if (values.help === true) return undefined
  const isQuick = values.quick === true
  const rounds = parseCount('--rounds', values.rounds) ?? (isQuick ? 2 : roundsMin)
  const seconds = parseCount('--seconds', values.seconds) ?? (isQuick ? 1 : 2)
  const wholeMeasures = isSideBySide ? sideBySideMeasures : usualMeasures
  const wholePeers = isSideBySide ? proxies.sideBySide : proxies.usual
  const measures = parseList('--only', values.only, measureNames) ?? wholeMeasures
  const peers = parseList('--peers', values.peers, proxies.all) ?? wholePeers
  const isWhole =
    wholeMeasures.every((name) => measures.includes(name)) && wholePeers.every((name) => peers.includes(name))
  return { rounds, seconds, measures, peers, isSideBySide, isPartial: rounds < roundsMin || !isWhole }
}

/** Removes `--peers` without a value, which parseArgs does not allow. */
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

/** Parses a list: each value once, in the order of `allowed`; undefined without the option. */
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
