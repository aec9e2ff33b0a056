import { isWorker } from '../cluster/worker-link.ts'
import { ConfigError } from '../config/config.ts'
import { mistake } from '../observe/log.ts'
import { UsageError } from './arguments.ts'
import type { Command, CommandContext } from './command.ts'
import type { Commons } from './commons.ts'
import { NotNow } from './not-now.ts'
import { serveContext, serveFlags, type ServeContext } from './serve-context.ts'

/** `svc serve` (docs/commands.md): starts the service, as one process or as many. */
export const serve: Command<typeof serveFlags> = {
  name: 'serve',
  summary: 'start the service',
  flags: serveFlags,
  examples: [
    { command: 'svc', does: 'serves on http://127.0.0.1:8000' },
    { command: 'svc --host 0.0.0.0 --port 80', does: 'serves on every address of this machine' },
    { command: 'svc --config ./providers.json', does: 'takes the providers from that file' },
    { command: 'svc --workers auto', does: 'serves with one process a core' },
  ],
  isService: true,
  run,
}

/** Each kind of process loads what it needs and no more. */
async function run(command: CommandContext<typeof serveFlags>): Promise<number> {
  outliveSignals()
  const context = serveContext(command)
  if (command.flags.workers !== undefined && !isWorker(command.environment)) {
    const { servePrimary } = await import('./serve-primary.ts')
    return servePrimary(context, command)
  }
  const { serveHere } = await import('./serve-here.ts')
  const commons = await commonsOf(context, command)
  try {
    return await serveHere(context, commons)
  } catch (error) {
    if (!commons.joinsLate) throw error
    return await logFailure(error, context)
  }
}

/**
 * What asks for a reload or a restart while the service starts or leaves is too early or too late, and no reason to
 * end: which it would be if nobody listened.
 */
function outliveSignals(): void {
  for (const signal of ['SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => undefined)
}

/** What a log is read by may know one form of line only. @returns the exit code */
async function logFailure(error: unknown, { log }: ServeContext): Promise<number> {
  const isOfOwner = error instanceof ConfigError || error instanceof UsageError
  log.error(
    'this worker cannot start',
    isOfOwner || error instanceof NotNow ? { reason: error.message } : mistake(error),
  )
  await log.flush()
  return isOfOwner ? 2 : 1
}

async function commonsOf(context: ServeContext, command: CommandContext<typeof serveFlags>): Promise<Commons> {
  if (isWorker(command.environment)) {
    const { commonsOfWorker } = await import('./commons-of-worker.ts')
    return commonsOfWorker(context, command.signal)
  }
  const { commonsAlone } = await import('./commons-alone.ts')
  return commonsAlone(context, command)
}
