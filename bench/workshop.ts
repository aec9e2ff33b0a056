import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../test/ports.ts'
import { chooseCores } from './machine.ts'
import { startProgram, waitUntilListening, type RunningProgram } from './processes.ts'
import type { Proxy, RunningProxy } from './proxies/proxy.ts'

/** Programs and folder of a run, for the clean-up at its end. */
export interface Workshop {
  readonly directory: string
  readonly programs: RunningProgram[]
  readonly upstreamPort: number
  readonly cores: { readonly proxy: number; readonly load: number }
}

/**
 * Starts the mock upstream, and adds it to `programs` at once. @throws ProgramError when it does not start
 */
export async function openWorkshop(programs: RunningProgram[]): Promise<Workshop> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const cores = chooseCores()
  const upstreamPort = freePort()
  const command = [process.execPath, join(import.meta.dir, 'upstream.ts'), String(upstreamPort)]
  const upstream = startProgram({ name: 'upstream', command, core: cores.load, directory }, (program) =>
    programs.push(program),
  )
  await waitUntilListening(upstream, upstreamPort)
  return { directory, programs, upstreamPort, cores }
}

/** Opens a workshop for some work, and closes it at its end, also on SIGINT and SIGTERM. */
export async function inWorkshop<Result>(work: (workshop: Workshop) => Promise<Result>): Promise<Result> {
  const programs: RunningProgram[] = []
  let workshop: Workshop | undefined
  const leave = (): void => void closeWorkshop(workshop?.directory, programs).then(() => process.exit(130))
  process.once('SIGINT', leave)
  process.once('SIGTERM', leave)
  try {
    workshop = await openWorkshop(programs)
    return await work(workshop)
  } finally {
    await closeWorkshop(workshop?.directory, programs)
  }
}

/** Ends the programs and removes the folder of a run. */
export async function closeWorkshop(directory: string | undefined, programs: readonly RunningProgram[]): Promise<void> {
  await Promise.all(programs.filter((program) => !program.hasEnded()).map((program) => program.stop()))
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
}

/** Starts an instance of a proxy in its own directory, without waiting until it listens. */
export function launchProxy(proxy: Proxy, workshop: Workshop): Promise<RunningProxy> {
  const directory = mkdtempSync(join(workshop.directory, `${proxy.name}-`))
  const register = (program: RunningProgram): void => void workshop.programs.push(program)
  return proxy.launch({ upstreamPort: workshop.upstreamPort, core: workshop.cores.proxy, directory, register })
}

/** Starts an instance of a proxy and waits until it listens. @throws ProgramError when it does not in time */
export async function startProxy(proxy: Proxy, workshop: Workshop): Promise<RunningProxy> {
  const running = await launchProxy(proxy, workshop)
  await waitUntilListening(running.program, running.port)
  return running
}
