import { fstatSync, statSync, writeSync } from 'node:fs'
import manifest from '../../package.json' with { type: 'json' }
import { wantsColour } from './terminal.ts'
import type { Input, Output } from './terminal.ts'

/**
 * The process's standard output (1) or error (2). Written synchronously, so that nothing is lost when the process ends
 * (`process.stdout` keeps what is not taken, and `process.exit` throws it away). Whoever reads slowly holds the command
 * up; a service writes its log elsewhere.
 *
 * @param closed called when nobody reads it any more
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
        // EPIPE, or a full disk: there is nowhere left to say so.
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
 * Whether a person is at the other end. `node:tty` would tell too, but loading it takes longer than everything else
 * before a command starts.
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
  return { isTerminal: isTerminal(0), text: () => Bun.stdin.text() }
}

/**
 * Aborts on the first SIGINT or SIGTERM, its reason being the signal's name; a second SIGINT ends the process with 130.
 * `stop` does the same for a reason from inside.
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

/** What a person who started this through npm, or by itself, types to run a command. */
export function programName(environment: Readonly<Record<string, string | undefined>>): string {
  return environment['npm_lifecycle_event'] === undefined ? 'svc' : 'npm run svc --'
}

/** The version in package.json. */
export function packageVersion(): string {
  return manifest.version
}
