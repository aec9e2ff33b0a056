import { followHere } from '../config/follow-file.ts'
import { probeModels } from '../config/probe.ts'
import { localObserver } from '../observe/local-observer.ts'
import { healthBook, type HealthBook } from '../service/health.ts'
import type { CommandContext } from './command.ts'
import type { Commons } from './commons.ts'
import { findStores } from './find-stores.ts'
import { shareHealth } from './health-notices.ts'
import { buildPage } from './page-build.ts'
import { packageVersion } from './process.ts'
import type { ServeContext } from './serve-context.ts'

/** For a service of one process: all there is in common is its own. @throws what {@link findStores} does */
export async function commonsAlone(
  { given, log }: ServeContext,
  { stdout, signal }: Pick<CommandContext, 'stdout' | 'signal'>,
): Promise<Commons> {
  const health = healthBook(() => performance.now())
  const observer = localObserver(
    { version: packageVersion(), breakers: () => breakersOf(health), logLinesDropped: () => log.dropped },
    Date.now,
  )
  const stores = await findStores(given.store, log)
  health.onNews(shareHealth(stores.notices('health'), health.hear))
  const reloads = new Set<() => void>()
  const follow = followHere()
  const cannotRoll = () => log.warn('SIGUSR2 restarts workers one by one, and there are none: start with --workers')
  process.on('SIGUSR2', cannotRoll)
  return {
    port: given.port,
    workers: 1,
    isPortShared: false,
    isSpeaker: true,
    joinsLate: false,
    health,
    stores,
    observer,
    follow(followed) {
      const watch = follow(followed)
      const reload = () => void watch.reload()
      reloads.add(reload)
      return {
        ...watch,
        close() {
          reloads.delete(reload)
          watch.close()
        },
      }
    },
    probe: probeModels,
    buildPage,
    leaving: signal,
    listening: (_, lines) => stdout.write(lines),
    reload() {
      for (const reload of reloads) reload()
    },
    doOthersStay: () => false,
    leavePort: async () => false,
    leftPort: () => undefined,
    async close() {
      process.off('SIGUSR2', cannotRoll)
      await stores.close()
      await observer.flush()
    },
  }
}

/** The breakers that are open, for metrics. */
export function breakersOf(
  health: HealthBook,
): readonly { readonly provider: string; readonly model: string; readonly isOpen: true }[] {
  return health.openBreakers().map(({ provider, model = '' }) => ({ provider, model, isOpen: true }))
}
