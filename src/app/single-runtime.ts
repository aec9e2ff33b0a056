import { probeModels } from '../config/probe.ts'
import { followHere } from '../config/watch/follow-file.ts'
import { localObserver } from '../observe/local-observer.ts'
import { healthBook, type HealthBook } from '../service/health/health.ts'
import { findStores, isSharedStore } from './find-stores.ts'
import { ledgerSpending } from './ledger-spending.ts'
import { packageVersion } from './package.ts'
import { buildPage } from './page/page-build.ts'
import type { Runtime } from './runtime.ts'
import type { ServeContext, ServeProcess } from './serve-context.ts'
import { sharedLimits } from './shared-limits.ts'
import { heldHere, UseKeeper } from './use-keeper.ts'

/** The runtime of a service with one process. @throws as {@link findStores} does */
export async function singleRuntime(
  { given, log }: ServeContext,
  { stdout, signal }: Pick<ServeProcess, 'stdout' | 'signal'>,
): Promise<Runtime> {
  const health = healthBook(() => performance.now())
  const holds = heldHere()
  const use = new UseKeeper(log, holds.now)
  const observer = localObserver({
    version: packageVersion(),
    breakers: () => breakerStates(health),
    logLinesDropped: () => log.dropped,
    ledgerRowsDropped: () => use.rowsDropped,
    now: Date.now,
    onRecord: use.add,
  })
  const stores = await findStores(given.store, log)
  const shared = isSharedStore(given.store) ? sharedLimits(given.store, 1, log) : undefined
  const reloads = new Set<() => void>()
  const follow = followHere()
  const cannotRoll = () =>
    log.warn('SIGUSR2 restarts workers one by one, but this service has none: start it with --workers')
  process.on('SIGUSR2', cannotRoll)
  return {
    port: given.port,
    workers: 1,
    isPortShared: false,
    isReporter: true,
    isReplacement: false,
    health,
    stores,
    observer,
    storeHolds(sums) {
      holds.follow(sums)
      return use.wake
    },
    keepUse: use.start,
    setUseZone: use.setZone,
    shareAnswers: () => undefined,
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
    async makeLimiter() {
      if (shared !== undefined) return shared.makeLimiter()
      const { Limiter } = await import('../limits/limiter.ts')
      return new Limiter({ clock: () => performance.now() })
    },
    async makeBudgetAuthority() {
      if (shared !== undefined) return shared.makeBudgetAuthority(ledgerSpending(use))
      const { LocalBudgets } = await import('../limits/budgets/budget-authority.ts')
      return new LocalBudgets({ spending: ledgerSpending(use), now: Date.now })
    },
    buildPage,
    stopping: signal,
    listening: (_, lines) => stdout.write(lines),
    reload() {
      for (const reload of reloads) reload()
    },
    doOthersStay: () => false,
    doOthersListen: async () => false,
    leftPort: () => undefined,
    async close() {
      process.off('SIGUSR2', cannotRoll)
      await shared?.close()
      await stores.close()
      await observer.flush()
      await use.close()
    },
  }
}

/** The open circuit breakers, for metrics. */
export function breakerStates(
  health: HealthBook,
): readonly { readonly provider: string; readonly model: string; readonly isOpen: true }[] {
  return health.openBreakers().map(({ provider, model = '' }) => ({ provider, model, isOpen: true }))
}
