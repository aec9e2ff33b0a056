import { flagName, parseArguments, show } from '../base/command-line/arguments.ts'
import type { Command, CommandContext, CommandEntry } from '../base/command-line/command.ts'
import { nearestName } from '../base/nearest.ts'
import { harmless, harmlessLines } from '../base/shown-text.ts'
import { UsageError } from '../base/start-errors.ts'
import { HomeError } from '../base/user-home.ts'
import { ConfigError } from '../config/config.ts'
import type { Logger } from '../observe/log.ts'

/*
 * One file a command. `commands.ts` lists the commands and loads the one that is named, so that a start does not
 * parse the others. `base/command-line/` reads flags, `help.ts` writes help from the same data. A command returns
 * its exit code and throws for what went wrong: 2 stands for a fault of the command line or a configuration, 1 for
 * a failure. `process.ts` joins them to the real process: signals, terminal, uncaught errors. Commands that speak
 * HTTP only are in `client/`.
 */

/** The parts of the process that all commands share. */
export type ProcessContext = Omit<CommandContext, 'flags' | 'positionals'> & {
  /** Called with the log of a service, as soon as it exists. */
  readonly logging?: (log: Logger) => void
  /** Called with the command before it runs. */
  readonly starting?: (command: Command) => void
}

/**
 * Runs the command named by `argv`, or the first of `commands` when none is named.
 *
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage or configuration, or one of the command's `exitCodes`
 */
export async function dispatch(
  argv: readonly string[],
  commands: readonly CommandEntry[],
  version: string,
  processContext: ProcessContext,
): Promise<number> {
  try {
    return await run(argv, commands, version, processContext)
  } catch (error) {
    return reportFailure(error, argv, processContext)
  }
}

async function run(
  argv: readonly string[],
  commands: readonly CommandEntry[],
  version: string,
  processContext: ProcessContext,
): Promise<number> {
  const [first] = argv
  if (first === '--version' || first === '-v' || first === 'version') return print(`svc ${version}\n`, processContext)
  const { name, rest, isHelp } = splitCommandLine(argv)
  if (name === undefined && isHelp) {
    const { programHelp } = await import('./help.ts')
    return print(programHelp(await Promise.all(commands.map((entry) => entry.load()))), processContext)
  }
  const entry = name === undefined ? commands[0] : commands.find((each) => each.name === name)
  if (entry === undefined || name === undefined) await refuseFlagsOfNpm(argv, commands, processContext)
  if (entry === undefined) throw unknownCommand(name ?? '', commands)
  const command = await entry.load()
  if (isHelp) {
    const { commandHelp } = await import('./help.ts')
    return print(commandHelp(command), processContext)
  }
  const { flags, positionals } = parseCommandLine(command, rest, processContext, commands)
  const { starting, ...context } = processContext
  starting?.(command)
  return command.run({ ...context, flags, positionals })
}

interface CommandLine {
  /** The command; absent when none is named. */
  readonly name: string | undefined
  readonly rest: readonly string[]
  /** Help is asked for: `svc help NAME`, or `--help` among the flags. */
  readonly isHelp: boolean
}

function splitCommandLine(argv: readonly string[]): CommandLine {
  const [first, second] = argv
  if (first === 'help') return { name: second, rest: [], isHelp: true }
  if (first === undefined || first.startsWith('-')) return { name: undefined, rest: argv, isHelp: asksForHelp(argv) }
  const rest = argv.slice(1)
  return { name: first, rest, isHelp: asksForHelp(rest) }
}

function print(text: string, { stdout }: ProcessContext): number {
  stdout.write(text)
  return 0
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).some((argument) => argument === '--help' || argument === '-h')
}

/** `npm start --port 8080` gives `--port` to npm and the rest to svc. @throws {UsageError} with what to type */
async function refuseFlagsOfNpm(
  argv: readonly string[],
  [first]: readonly CommandEntry[],
  { environment }: ProcessContext,
): Promise<void> {
  if (environment['npm_lifecycle_event'] !== 'start' || first === undefined) return
  for (const name of Object.keys((await first.load()).flags)) {
    const flag = flagName(name)
    const taken = environment[`npm_config_${flag.slice(2).replaceAll('-', '_')}`]
    if (taken === undefined) continue
    const value = taken === 'true' ? (argv[0] ?? '…') : taken
    throw new UsageError(`npm took ${flag} for itself: type npm start -- ${flag} ${value}`)
  }
}

function unknownCommand(name: string, commands: readonly CommandEntry[]): UsageError {
  const names = commands.map((entry) => entry.name)
  const near = nearestName(name, names)
  const advice = near === undefined ? `the commands are ${names.join(', ')}` : `did you mean ${near}?`
  return new UsageError(`unknown command ${show(name)}: ${advice}`)
}

function parseCommandLine(
  command: Command,
  argv: readonly string[],
  { environment }: ProcessContext,
  commands: readonly CommandEntry[],
): Pick<CommandContext, 'flags' | 'positionals'> {
  try {
    const parsed = parseArguments(command.flags, argv, environment)
    const surplus = parsed.positionals[command.arguments?.maximum ?? 0]
    if (surplus === undefined) return parsed
    if (commands.some(({ name }) => name === surplus))
      throw new UsageError(`the command must be first: svc ${surplus} …`)
    throw new UsageError(`unexpected argument ${show(surplus)}`)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`${error.message}\n'svc ${command.name} --help' lists its flags.`, { cause: error })
  }
}

/** Prints an error on one line; with its stack at log level `debug`. @returns the exit code */
export function reportFailure(
  error: unknown,
  argv: readonly string[],
  { stderr, environment }: Pick<ProcessContext, 'stderr' | 'environment'>,
): number {
  if (error instanceof ConfigError) {
    stderr.write(`${harmlessLines(error.message)}\n`)
    return 2
  }
  if (error instanceof UsageError) {
    stderr.write(`svc: ${error.message}\n`)
    return 2
  }
  stderr.write(`svc: ${describe(error)}\n`)
  if (error instanceof HomeError) return 2
  if (isDebugging(argv, environment) && error instanceof Error) stderr.write(`${harmlessLines(error.stack ?? '')}\n`)
  return 1
}

function describe(error: unknown): string {
  return harmless(error instanceof Error && error.message !== '' ? error.message : String(error))
}

function isDebugging(argv: readonly string[], environment: CommandContext['environment']): boolean {
  return (
    environment['SVC_LOG_LEVEL'] === 'debug' ||
    argv.some(
      (argument, index) =>
        argument === '--log-level=debug' || (argument === '--log-level' && argv[index + 1] === 'debug'),
    )
  )
}
