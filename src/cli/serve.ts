import type { Runtime } from '../app/runtime.ts'
import { serveContext, type ServeContext, type ServeProcess } from '../app/serve-context.ts'
import { configFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { ResourceUnavailable, UsageError } from '../base/start-errors.ts'
import { isWorker } from '../cluster/worker-link.ts'
import { ConfigError } from '../config/config.ts'
import { errorFields } from '../observe/log.ts'
import {
  authFlag,
  hostFlag,
  logFormatFlag,
  logLevelFlag,
  metricsPortFlag,
  portFlag,
  storeFlag,
  workersFlag,
} from './flags.ts'

const serveFlags = {
  host: hostFlag,
  port: portFlag,
  metricsPort: metricsPortFlag,
  config: configFlag,
  auth: authFlag,
  workers: workersFlag,
  store: storeFlag,
  logLevel: logLevelFlag,
  logFormat: logFormatFlag,
}

type ServeCommandContext = CommandContext<typeof serveFlags> & Pick<ServeProcess, 'logging'>

/** `svc serve` (docs/commands.md): starts the service, with one process or several. */
export const serveCommand: Command<typeof serveFlags, ServeCommandContext> = {
  name: 'serve',
  summary: 'start the service',
  flags: serveFlags,
  examples: [
    { command: 'svc', does: 'serves on http://127.0.0.1:8000' },
    { command: 'svc --host 0.0.0.0 --port 80', does: 'serves on every address of this machine' },
    { command: 'svc --config ./providers.json', does: 'reads the providers from that file' },
    { command: 'svc --workers auto', does: 'serves with one process for each core' },
  ],
  isService: true,
  run,
}

/** Runs the primary, a worker or a single process. Each loads only its own modules. */
async function run(command: ServeCommandContext): Promise<number> {
  ignoreReloadSignals()
  const { host } = command.flags
  // As in a URL: `[::1]`.
  const context = serveContext({ ...command.flags, host: host.replace(/^\[(.*)\]$/, '$1') }, command)
  if (command.flags.workers !== undefined && !isWorker(command.environment)) {
    const { servePrimary } = await import('../app/workers/serve-primary.ts')
    return servePrimary(context, command)
  }
  const { serveHere } = await import('../app/service-parts.ts')
  const runtime = await runtimeOf(context, command)
  try {
    return await serveHere(context, runtime)
  } catch (error) {
    if (!runtime.isReplacement) throw error
    return await logFailure(error, context)
  }
}

/** Ignores SIGHUP and SIGUSR2 during start and stop. Without listeners they would end the process. */
function ignoreReloadSignals(): void {
  for (const signal of ['SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => undefined)
}

/** Logs why a worker cannot start, in the configured log format. @returns the exit code */
async function logFailure(error: unknown, { log }: ServeContext): Promise<number> {
  const isOfOwner = error instanceof ConfigError || error instanceof UsageError
  log.error(
    'this worker cannot start',
    isOfOwner || error instanceof ResourceUnavailable ? { reason: error.message } : errorFields(error),
  )
  await log.flush()
  return isOfOwner ? 2 : 1
}

async function runtimeOf(context: ServeContext, command: ServeProcess): Promise<Runtime> {
  if (isWorker(command.environment)) {
    const { workerRuntime } = await import('../app/workers/worker-runtime.ts')
    return workerRuntime(context, command.signal)
  }
  const { singleRuntime } = await import('../app/single-runtime.ts')
  return singleRuntime(context, command)
}
