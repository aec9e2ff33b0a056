import type { BudgetAuthority } from '../limits/budgets/budget-authority.ts'
import type { OnCrossed, Spending } from '../limits/budgets/opened-budgets.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Peer } from '../limits/redis/peer.ts'
import type { Logger } from '../observe/log.ts'

/** The limits of this process, which all processes of all machines with one store share. */
export interface SharedLimits {
  makeLimiter(): Promise<Limiter>
  /** @param spending the sums that budgets start with */
  makeBudgetAuthority(spending: Spending, onCrossed: OnCrossed): Promise<BudgetAuthority>
  /** Frees the holds of this process. */
  close(): Promise<void>
}

/** Longest time that a request waits for a decision of the store. */
const decisionMs = 500
/** A lease that is not used is missing to others for up to twice this time. */
const leaseMs = 500

const clock = () => performance.now()

/**
 * Limits that a store decides about. Nothing is loaded before there are limits.
 *
 * @param url of a store, checked
 * @param workers processes of this machine
 */
export function sharedLimits(url: string, workers: number, log: Logger): SharedLimits {
  let joined: Promise<Peer> | undefined

  async function join(): Promise<Peer> {
    const [{ redisScriptRunner }, { Peer }] = await Promise.all([
      import('../stores/redis/redis-script-runner.ts'),
      import('../limits/redis/peer.ts'),
    ])
    const server = redisScriptRunner({
      url,
      timeoutMs: decisionMs,
      onChange: (failure) =>
        failure === undefined
          ? log.info('the store answers again; limits are shared')
          : log.error('the store does not answer; limits are divided by processes, and budgets are closed', {
              reason: failure.message,
            }),
    })
    return new Peer({ server, workers })
  }

  return {
    async makeLimiter() {
      const [{ CounterBook }, { Leases }, { Limiter }, { SharedAccounts }] = await Promise.all([
        import('../limits/counter-book.ts'),
        import('../limits/leases.ts'),
        import('../limits/limiter.ts'),
        import('../limits/redis/shared-accounts.ts'),
      ])
      const peer = await (joined ??= join())
      const authority = new SharedAccounts({ peer, clock })
      await peer.beat()
      const leases = new Leases({ authority, clock, leaseMs, isCalledBack: false })
      return new Limiter({ clock, counters: new CounterBook(undefined, (spec) => leases.counter(spec)), leases })
    },
    async makeBudgetAuthority(spending, onCrossed) {
      const { SharedAccounts, sharedBudgets } = await import('../limits/redis/shared-accounts.ts')
      const peer = await (joined ??= join())
      const authority = new SharedAccounts({ peer, clock, source: { spending, onCrossed, now: Date.now } })
      await peer.beat()
      return sharedBudgets(authority, clock)
    },
    async close() {
      await (await joined)?.close()
    },
  }
}
