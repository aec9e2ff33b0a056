import { isWorker } from '../cluster/worker-link.ts'
import type { Command, CommandContext } from './command.ts'
import { commonsAlone } from './commons-alone.ts'
import { commonsOfWorker } from './commons-of-worker.ts'
import { serveContext, serveFlags } from './serve-context.ts'
import { serveHere } from './serve-here.ts'
import { servePrimary } from './serve-primary.ts'

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

async function run(command: CommandContext<typeof serveFlags>): Promise<number> {
  const context = serveContext(command)
  if (isWorker(command.environment)) return serveHere(context, await commonsOfWorker(context, command.signal))
  if (command.flags.workers !== undefined) return servePrimary(context, command)
  return serveHere(context, await commonsAlone(context, command))
}
