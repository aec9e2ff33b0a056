import { openSync, closeSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listens } from '../test/ports.ts'

/** Parameters of {@link startProgram}. */
export interface ProgramStart {
  /** Name in messages and of the log file; `[a-z-]+`. */
  readonly name: string
  readonly command: readonly string[]
  /** Core of the program, its threads and its children. */
  readonly core: number
  /** Variables in addition to `PATH` and `HOME`. */
  readonly environment?: Readonly<Record<string, string>>
  /** Folder for its output while the bench runs. */
  readonly directory: string
}

/** A running program. */
export interface RunningProgram {
  readonly name: string
  readonly pid: number
  /** Time of its start, by `performance.now()`. */
  readonly startedMs: number
  /** The last lines of its output. */
  readonly lastOutput: () => string
  readonly hasEnded: () => boolean
  /** Ends it with SIGTERM, and after 3 s with SIGKILL. */
  readonly stop: () => Promise<void>
}

/** A program failed, or took too long. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError'
}

/** Starts a program pinned to a core. `taskset` replaces itself by it, so that the process id is the program's. */
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
 * @throws ProgramError when it ends, or does not listen within 60 s
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

/** Folder and environment of a program. */
export interface ProgramEnvironment {
  /** Default: the working directory of the bench. */
  readonly directory?: string
  /** Variables in addition to the environment of the bench. */
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * Runs a program to its end. @returns its stdout
 *
 * @throws ProgramError when it fails or takes longer than `limitMs`
 */
export async function runProgram(
  command: readonly string[],
  limitMs: number,
  { directory, environment }: ProgramEnvironment = {},
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

/** `PATH`, and Debian's folders of servers, which some users lack in theirs. */
export function searchPath(): string {
  return `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`
}
