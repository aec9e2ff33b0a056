import type { CommandContext } from './command.ts'
import type { Output } from './terminal.ts'

/** An output that keeps what is written. For tests. */
export function capturedOutput(options: Partial<Omit<Output, 'write'>> = {}): Output & { readonly text: string } {
  let text = ''
  return {
    isTerminal: false,
    columns: 80,
    hasColour: false,
    ...options,
    write(piece) {
      text += piece
    },
    get text() {
      return text
    },
  }
}

/** A command's context without a process. For tests. */
export function capturedContext(options: { readonly input?: string; readonly environment?: CommandContext['environment']; readonly signal?: AbortSignal; readonly stdout?: Partial<Output>; readonly stderr?: Partial<Output> } = {}) {
  return {
    environment: options.environment ?? {},
    stdin: { isTerminal: options.input === undefined, text: async () => options.input ?? '' },
    stdout: capturedOutput(options.stdout),
    stderr: capturedOutput(options.stderr),
    signal: options.signal ?? new AbortController().signal,
  }
}
