import { openSync, closeSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How to start a program. */
export interface ProgramStart {
  /** For messages and the log file; `[a-z-]+`. */
  readonly name: string
  readonly command: readonly string[]
  /** Core it may run on, with every thread and child of it. */
  readonly core: number
  /** On top of `PATH` and `HOME`. */
  readonly environment?: Readonly<Record<string, string>>
  /** Where its output is kept while the bench runs. */
  readonly directory: string
}

/** A program under way. */
export interface RunningProgram {
  readonly name: string
  readonly pid: number
  /** When it was started, as `performance.now()`. */
  readonly startedMs: number
  /** The last lines it wrote. */
  readonly lastOutput: () => string
  readonly hasEnded: () => boolean
  /** Asks it to end, and after 3 s makes it. */
  readonly stop: () => Promise<void>
}

/** A program did not do what the bench needs of it. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError'
}

/** Starts a program pinned to a core. Its process id is that of the program itself: `taskset` replaces itself by it. */
export function startProgram(start: ProgramStart, register: (program: RunningProgram) => void): RunningProgram {
  const log = join(start.directory, `${start.name}.log`)
  const output = openSync(log, 'a')
  const startedMs = performance.now()
  const child = Bun.spawn(['taskset', '-c', String(start.core), ...start.command], {
    cwd: start.directory,
    env: { PATH: searchPath(), HOME: start.directory, ...start.environment },
    stdin: 'ignore',
    stdout: output,
    stderr: output,
  })
  closeSync(output)
  const program: RunningProgram = {
    name: start.name,
    pid: child.pid,
    startedMs,
    lastOutput: () => readFileSync(log, 'utf8').trim().split('\n').slice(-5).join('\n'),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 3000)
      await child.exited
      clearTimeout(timer)
    },
  }
  register(program)
  return program
}

/**
 * Waits until a program listens on a port of 127.0.0.1.
 *
 * @throws ProgramError when it ends, or does not listen within 60 s.
 */
export async function waitUntilListening(program: RunningProgram, port: number): Promise<void> {
  const deadline = performance.now() + 60_000
  while (performance.now() < deadline) {
    if (program.hasEnded()) throw new ProgramError(`${program.name} ended at its start: ${program.lastOutput()}`)
    if (await listens(port)) return
    await Bun.sleep(20)
  }
  throw new ProgramError(`${program.name} does not listen after 60 s: ${program.lastOutput()}`)
}

async function listens(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    socket.end()
    return true
  } catch {
    // Refused: not yet.
    return false
  }
}

/** A port of 127.0.0.1 that nobody listens on at this moment. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const port = listener.port
  listener.stop(true)
  return port
}

/** Where and with what a program is run. */
export interface ProgramPlace {
  /** Default: that of the bench. */
  readonly directory?: string
  /** On top of the environment of the bench. */
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * Runs a program to its end and gives what it wrote on stdout.
 *
 * @throws ProgramError when it fails or takes longer than `limitMs`.
 */
export async function runProgram(
  command: readonly string[],
  limitMs: number,
  { directory, environment }: ProgramPlace = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    env: { ...process.env, PATH: searchPath(), ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    ...(directory === undefined ? {} : { cwd: directory }),
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const [output, faults] = await Promise.all([child.stdout.text(), child.stderr.text()])
  await child.exited
  clearTimeout(timer)
  if (child.exitCode === 0) return output
  const reason = child.signalCode === null ? `exit ${child.exitCode}` : `ended by ${child.signalCode}`
  throw new ProgramError(`${command.slice(0, 4).join(' ')}: ${reason}: ${(faults + output).trim().slice(-300)}`)
}

/** `PATH`, and where Debian keeps servers, which is not on everyone's. */
export function searchPath(): string {
  return `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`
}
