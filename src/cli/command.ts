import type { Logger } from '../observe/log.ts'
import type { Flags, FlagValues } from './arguments.ts'
import type { Input, Output } from './terminal.ts'

/** What a command may use. Nothing else of the process: so that it runs in a test as it does on a terminal. */
export interface CommandContext<Of extends Flags = Flags> {
  readonly flags: FlagValues<Of>
  readonly positionals: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  /** Aborts on SIGINT and SIGTERM; its reason is the signal's name. A second SIGINT ends the process at once. */
  readonly signal: AbortSignal
  /** Told the log of a service, as soon as it has one. */
  readonly logging?: (log: Logger) => void
}

/** What may follow a command's name beside flags. */
export interface Positionals {
  /** As the usage line shows it, such as `[QUESTION…]`. */
  readonly usage: string
  readonly summary: string
  /** At most so many. */
  readonly maximum: number
}

/** An example of use, and what it does. */
export interface Example {
  readonly command: string
  readonly does: string
}

/** One command of `svc`: data for the help, and what it does. */
export interface Command<Of extends Flags = Flags> {
  readonly name: string
  /** One sentence without a full stop. */
  readonly summary: string
  readonly flags: Of
  /** Absent: the command takes flags only. */
  readonly arguments?: Positionals
  readonly examples: readonly Example[]
  /** Meanings of exit codes beyond 0, 1 (failed) and 2 (usage or configuration). */
  readonly exitCodes?: Readonly<Record<number, string>>
  /** It goes on when nobody reads its output any more. */
  readonly isService?: boolean
  /**
   * @returns the exit code
   * @throws {UsageError} exit 2
   * @throws {ConfigError} exit 2, its faults are printed
   * @throws anything else: exit 1, its message is printed
   */
  run(context: CommandContext<Of>): Promise<number>
}

/** A command by name, loaded only when it is asked for. */
export interface CommandEntry {
  readonly name: string
  load(): Promise<Command>
}
