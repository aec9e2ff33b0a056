import { probeModels } from '../config/probe.ts'
import { followHere, type FollowedFile, type FollowFile } from '../config/watch/follow-file.ts'
import type { BudgetAuthority } from '../limits/budgets/budget-authority.ts'
import type { OnCrossed, Spending } from '../limits/budgets/opened-budgets.ts'
import type { Limiter } from '../limits/limiter.ts'
import { localObserver } from '../observe/local-observer.ts'
import { healthBook, type HealthBook } from '../service/health/health.ts'
import { Alerts } from './alerts.ts'
import { findStores, isSharedStore } from './find-stores.ts'
import { findTelemetry } from './find-telemetry.ts'
import { ledgerSpending } from './ledger-spending.ts'
import { packageVersion } from './package.ts'
import { buildPage } from './page/page-build.ts'
import type { Runtime } from './runtime.ts'
import type { ServeContext, ServeProcess } from './serve-context.ts'
import { sharedLimits } from './shared-limits.ts'
import { heldHere, UseKeeper } from './use-keeper.ts'

/** The runtime of a service with one process. @throws as {@link findStores} does */
export async function singleRuntime(
  { given, environment, log }: ServeContext,
  { stdout, signal }: Pick<ServeProcess, 'stdout' | 'signal'>,
): Promise<Runtime> {
  const health = healthBook(() => performance.now())
  const holds = heldHere()
  const use = new UseKeeper(log, holds.now)
  const telemetry = await findTelemetry(environment, log)
  const alerts = new Alerts({ environment, log })
  const observer = localObserver({
    version: packageVersion(),
    breakers: () => breakerStates(health),
    logLinesDropped: () => log.dropped,
    ledgerRowsDropped: () => use.rowsDropped,
    now: Date.now,
    ...(telemetry === undefined ? {} : { spansDropped: telemetry.dropped }),
    onRecord: both(alerts.record, telemetry === undefined ? use.add : both(use.add, telemetry.record)),
  })
  telemetry?.start(observer.metricValues)
  const stores = await findStores(given.store, log)
  const shared = isSharedStore(given.store) ? sharedLimits(given.store, 1, log) : undefined
  const files = reloadable(followHere())
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
    useWebhook: alerts.use,
    shareAnswers: () => undefined,
    follow: files.follow,
    probe: probeModels,
    makeLimiter: shared?.makeLimiter ?? limiterHere,
    makeBudgetAuthority: () => (shared?.makeBudgetAuthority ?? budgetAuthorityHere)(ledgerSpending(use), alerts.send),
    buildPage,
    stopping: signal,
    listening: (_, lines) => stdout.write(lines),
    reload: files.reload,
    doOthersStay: () => false,
    doOthersListen: async () => false,
    leftPort: () => undefined,
    async close() {
      process.off('SIGUSR2', cannotRoll)
      await shared?.close()
      await stores.close()
      await observer.flush()
      await telemetry?.close()
      await alerts.close()
      await use.close()
    },
  }
}

function both<Value>(one: (value: Value) => void, other: (value: Value) => void): (value: Value) => void {
  return (value) => {
    one(value)
    other(value)
  }
}

async function limiterHere(): Promise<Limiter> {
  const { Limiter } = await import('../limits/limiter.ts')
  return new Limiter({ clock: () => performance.now() })
}

async function budgetAuthorityHere(spending: Spending, onCrossed: OnCrossed): Promise<BudgetAuthority> {
  const { LocalBudgets } = await import('../limits/budgets/budget-authority.ts')
  return new LocalBudgets({ spending, onCrossed, now: Date.now })
}

/** Follows files that are reloaded together, as SIGHUP asks for. */
function reloadable(follow: FollowFile): { readonly follow: FollowFile; readonly reload: () => void } {
  const open = new Set<FollowedFile>()
  return {
    follow(followed) {
      const file = follow(followed)
      open.add(file)
      return {
        ...file,
        close() {
          open.delete(file)
          file.close()
        },
      }
    },
    reload() {
      for (const file of open) void file.reload()
    },
  }
}

/** The open circuit breakers, for metrics. */
export function breakerStates(
  health: HealthBook,
): readonly { readonly provider: string; readonly model: string; readonly isOpen: true }[] {
  return health.openBreakers().map(({ provider, model = '' }) => ({ provider, model, isOpen: true }))
}
