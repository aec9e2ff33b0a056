import { fstatSync, statSync, writeSync } from 'node:fs'
import type { Input, Output } from '../base/command-line/command.ts'
import { wantsColour } from './terminal.ts'

/**
 * The process's standard output (1) or error (2), written synchronously, so that a slow reader delays the command.
 * (`process.stdout` buffers output, which `process.exit` discards.) The log of a service is written by another way.
 *
 * @param closed called when the output is closed or cannot be written
 */
export function processOutput(
  descriptor: 1 | 2,
  environment: Readonly<Record<string, string | undefined>>,
  closed: () => void,
): Output {
  const isShown = isTerminal(descriptor)
  const stream = descriptor === 1 ? () => process.stdout : () => process.stderr
  return {
    isTerminal: isShown,
    hasColour: wantsColour(isShown, environment),
    get columns() {
      return isShown ? stream().columns || 80 : 80
    },
    write(text) {
      try {
        writeWhole(descriptor, Buffer.from(text))
      } catch {
        // EPIPE, or a full disk: the error cannot be printed either.
        closed()
      }
    },
  }
}

function writeWhole(descriptor: number, bytes: Buffer): void {
  let written = 0
  while (written < bytes.length) {
    try {
      written += writeSync(descriptor, bytes, written)
    } catch (error) {
      // Another process may have made the shared terminal or pipe non-blocking.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      Bun.sleepSync(2)
    }
  }
}

/**
 * Whether the descriptor is a terminal. Loading `node:tty` for this would take longer than starting the command.
 */
function isTerminal(descriptor: 0 | 1 | 2): boolean {
  try {
    const status = fstatSync(descriptor)
    return status.isCharacterDevice() && status.rdev !== statSync('/dev/null').rdev
  } catch {
    // Closed, or a system without /dev/null.
    return false
  }
}

/** The process's standard input. */
export function processInput(): Input {
  const text = (): Promise<string> => Bun.stdin.text()
  if (!isTerminal(0)) return { isTerminal: false, text }
  return {
    isTerminal: true,
    text,
    async edit(options) {
      const { lineEditor } = await import('./line-editor.ts')
      return lineEditor(process.stdin, options)
    },
  }
}

/**
 * Makes a signal that aborts on the first SIGINT or SIGTERM, with the signal's name as its reason. A second SIGINT ends
 * the process with 130. `stop` aborts for another reason.
 */
export function interruption(): { readonly signal: AbortSignal; readonly stop: (reason: string) => void } {
  const controller = new AbortController()
  process.on('SIGINT', () => {
    if (controller.signal.aborted) process.exit(130)
    controller.abort('SIGINT')
  })
  process.on('SIGTERM', () => controller.abort('SIGTERM'))
  return { signal: controller.signal, stop: (reason) => controller.abort(reason) }
}
