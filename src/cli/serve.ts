import { isWorker } from '../cluster/worker-link.ts'
import type { Command, CommandContext } from './command.ts'
import type { Commons } from './commons.ts'
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
  const context = serveContext(command)
  if (command.flags.workers !== undefined && !isWorker(command.environment)) {
    const { servePrimary } = await import('./serve-primary.ts')
    return servePrimary(context, command)
  }
  const { serveHere } = await import('./serve-here.ts')
  return serveHere(context, await commonsOf(context, command))
}

async function commonsOf(context: ServeContext, command: CommandContext<typeof serveFlags>): Promise<Commons> {
  if (isWorker(command.environment)) {
    const { commonsOfWorker } = await import('./commons-of-worker.ts')
    return commonsOfWorker(context, command.signal)
  }
  const { commonsAlone } = await import('./commons-alone.ts')
  return commonsAlone(context, command)
}
