import { UsageError } from '../../base/start-errors.ts'
import { StartFailed } from '../../cluster/supervisor.ts'
import { findStores } from '../find-stores.ts'
import { findTelemetry } from '../find-telemetry.ts'
import { reservePort } from '../listen.ts'
import { untilAborted, type ServeContext, type ServeProcess } from '../serve-context.ts'
import { Primary } from './primary.ts'

/**
 * The primary of a service with workers: it serves no requests, and holds the state that the workers share
 * (docs/decisions/0009-many-processes.md).
 *
 * @returns exit code
 * @throws {UsageError} for an address that the workers cannot share
 */
export async function servePrimary(
  context: ServeContext,
  { stdout, signal }: Pick<ServeProcess, 'stdout' | 'signal'>,
): Promise<number> {
  if (context.given.metricsPort?.port === 0)
    throw new UsageError('--metrics-port 0 is for one process: with --workers, give the number of a port')
  const releasePort = reservePort(context.given.host, context.given.port)
  const { given, environment, log } = context
  const stores = await findStores(given.store, log)
  const primary = new Primary(context, stores, await findTelemetry(environment, log))
  const { workers, files, state, roll } = primary
  const unhandle = onSignals({ SIGUSR2: roll, SIGHUP: () => void files.reloadAll() })
  // A second signal ends this process at once; here it ends its workers, too.
  process.on('exit', () => workers.kill())
  try {
    const started = workers.start().then(({ lines }) => {
      state.hasStarted = true
      if (!signal.aborted) stdout.write(lines)
    })
    // A worker that never listens must not prevent the service from ending.
    await Promise.race([started, untilAborted(signal)])
    await untilAborted(signal)
    state.isStopping = true
    unhandle()
    releasePort()
    await workers.stop(String(signal.reason))
    return 0
  } catch (error) {
    if (error instanceof StartFailed) return error.exitCode
    throw error
  } finally {
    unhandle()
    await primary.close()
  }
}

/** Handles signals. @returns removes the handlers */
function onSignals(handlers: Readonly<Partial<Record<NodeJS.Signals, () => void>>>): () => void {
  const all = Object.entries(handlers)
  for (const [signal, handler] of all) process.on(signal, handler)
  return () => {
    for (const [signal, handler] of all) process.off(signal, handler)
  }
}
