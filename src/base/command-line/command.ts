import type { Flags, FlagValues } from './arguments.ts'

/** An output for users. */
export interface Output {
  /** Writes text. Never throws. */
  write(text: string): void
  /** The output is a terminal, where progress can be shown and overwritten. */
  readonly isTerminal: boolean
  /** Characters in a line; 80 for outputs that are not a terminal. */
  readonly columns: number
  /** The output shows colours. */
  readonly hasColour: boolean
}

/** An input. */
export interface Input {
  readonly isTerminal: boolean
  /** Reads all text. */
  text(): Promise<string>
  /** Starts to edit lines. Absent: the input is not a terminal. */
  edit?(options: EditorOptions): Promise<LineEditor>
}

/** Options of a {@link LineEditor}. */
export interface EditorOptions {
  /** The terminal that shows the lines. */
  readonly output: Output
  /** Earlier lines that can be called up again, newest first. */
  readonly history: readonly string[]
  /** Returns the completions of a line. */
  readonly complete: (line: string) => readonly string[]
  /** Ends the reading of a line. */
  readonly signal: AbortSignal
}

/** A line that a user has entered, Ctrl-C in an empty line, or the end of the input. */
export type TypedLine =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'end' }

/** Lines that a user types and edits on a terminal. */
export interface LineEditor {
  /** Reads a line. A pasted text of several lines is one of it. */
  read(prompt: string): Promise<TypedLine>
  /** Waits for work. Ctrl-C calls `onInterrupt`; other keys are dropped. */
  whileBusy<Result>(work: Promise<Result>, onInterrupt: () => void): Promise<Result>
  /** Gives the terminal back. */
  close(): void
}

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
export interface Command<Of extends Flags = Flags, Context extends CommandContext<Of> = CommandContext<Of>> {
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
  run(context: Context): Promise<number>
}

/** A command that is loaded only when it is used. */
export interface CommandEntry {
  readonly name: string
  load(): Promise<Command>
}
