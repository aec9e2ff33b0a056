import { parseArgs } from 'node:util'
import { measureNames, type MeasureName } from './measures/measure.ts'

/** What the command line asks for. */
export interface BenchOptions {
  /** Rounds of each measure, from 1. */
  readonly rounds: number
  /** Of each measurement in a round, from 1. */
  readonly seconds: number
  readonly measures: readonly MeasureName[]
  /** Names of the proxies, the service included. */
  readonly peers: readonly string[]
  /** Fewer rounds, measures or proxies than the report is made of: the report goes to a file of its own. */
  readonly isPartial: boolean
}

/** The command line is not understood. The message says what is, in one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Below this a report is not one of record. */
const roundsLeast = 5

/** What `--help` prints. */
export function helpText(peers: readonly string[]): string {
  return `npm run bench -- [options]: what the service costs, beside what others cost, on this machine

  --rounds N      rounds of each measure (default ${roundsLeast}); the figures are medians over them
  --seconds N     how long each measurement lasts (default 2)
  --only LIST     measures, of ${measureNames.join(',')} (default all)
  --peers LIST    proxies, of ${peers.join(',')} (default all)
  --quick         2 rounds of 1 second, to see that everything runs
  --help          this

The report is printed and written to bench/results/DATE.md and .json; with fewer than ${roundsLeast} rounds,
or not every measure or proxy, to DATE-partial.md and .json, which git ignores.`
}

/**
 * Reads the command line; undefined when it asks for help.
 * @throws UsageError when an option or a value is unknown.
 */
export function parseBenchOptions(commandLine: readonly string[], allPeers: readonly string[]): BenchOptions | undefined {
  const values = parseFlags(commandLine)
  if (values.help === true) return undefined
  const isQuick = values.quick === true
  const rounds = parseCount('--rounds', values.rounds) ?? (isQuick ? 2 : roundsLeast)
  const seconds = parseCount('--seconds', values.seconds) ?? (isQuick ? 1 : 2)
  const measures = parseList('--only', values.only, measureNames)
  const peers = parseList('--peers', values.peers, allPeers)
  const isPartial = rounds < roundsLeast || measures.length < measureNames.length || peers.length < allPeers.length
  return { rounds, seconds, measures, peers, isPartial }
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

/** The named ones, each once, in the order of `allowed`; all when none are named. */
function parseList<Name extends string>(flag: string, text: string | undefined, allowed: readonly Name[]): readonly Name[] {
  if (text === undefined) return allowed
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !allowed.some((one) => one === name))
  if (unknown !== undefined) throw new UsageError(`${flag}: found '${unknown}', allowed: ${allowed.join(', ')}`)
  return allowed.filter((name) => names.includes(name))
}
