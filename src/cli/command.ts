import type { Logger } from '../observe/log.ts'
import type { Flags, FlagValues } from './arguments.ts'
import type { Input, Output } from './terminal.ts'

/** The parts of the process that a command may use, so that tests can replace them. */
export interface CommandContext<Of extends Flags = Flags> {
  readonly flags: FlagValues<Of>
  readonly positionals: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  /** Aborts on SIGINT and SIGTERM; its reason is the signal's name. A second SIGINT ends the process at once. */
  readonly signal: AbortSignal
  /** Called with the log of a service, as soon as it exists. */
  readonly logging?: (log: Logger) => void
}

/** The positional arguments of a command. */
export interface Positionals {
  /** Text for the usage line, such as `[QUESTION…]`. */
  readonly usage: string
  readonly summary: string
  /** All values of the first one, unless `usage` lists them, as in `make|list`. */
  readonly words?: readonly string[]
  /** Most positional arguments. */
  readonly maximum: number
}

/** An example with its explanation. */
export interface Example {
  readonly command: string
  readonly does: string
}

/** One command of `svc`, with the data for its help. */
export interface Command<Of extends Flags = Flags> {
  readonly name: string
  /** One sentence without a full stop. */
  readonly summary: string
  readonly flags: Of
  /** Absent: the command accepts flags only. */
  readonly arguments?: Positionals
  readonly examples: readonly Example[]
  /** Meanings of exit codes other than 0, 1 (failed) and 2 (usage or configuration). */
  readonly exitCodes?: Readonly<Record<number, string>>
  /** The command continues when its output is closed. */
  readonly isService?: boolean
  /**
   * Runs the command.
   *
   * @returns the exit code
   * @throws {UsageError} for exit code 2
   * @throws {ConfigError} for exit code 2, with its faults printed
   * @throws other errors for exit code 1, with their message printed
   */
  run(context: CommandContext<Of>): Promise<number>
}

/** A command that is loaded only when it is used. */
export interface CommandEntry {
  readonly name: string
  load(): Promise<Command>
}
