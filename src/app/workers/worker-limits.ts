import { nextTurn } from '../../base/next-turn.ts'
import { overloaded } from '../../gateway/all-failed.ts'
import type { AskedClaim, ClaimDecision, Returned } from '../../limits/authority.ts'
import type { LeasedCounters, OwnReturns, RemoteAuthority } from '../../limits/leased-counters.ts'
import type { Limiter } from '../../limits/limiter.ts'
import { withinMs } from '../../service/within.ts'

/** Longest wait for a decision of the primary. */
const claimMs = 2_000

/** The limits of a worker, which the primary decides about. */
export interface WorkerLimits {
  makeLimiter(): Promise<Limiter>
  /** Returns the unused leases. */
  callBack(keys: readonly string[]): Promise<Returned>
}

/** @param primary decides for all workers */
export function workerLimits(primary: RemoteAuthority): WorkerLimits {
  let leases: LeasedCounters | undefined

  /** @throws {WireError} 503 when the primary does not answer in time: no request passes uncounted */
  async function claim(claims: readonly AskedClaim[]): Promise<ClaimDecision> {
    const pending = primary.claim(claims)
    const decision = await withinMs(pending, claimMs).catch(() => undefined)
    if (decision !== undefined) return decision
    pending.then(
      (late) => primary.giveBack(grantedBy(claims, late)),
      // The channel is closed: this process ends.
      () => undefined,
    )
    throw overloaded('The limits of callers cannot be checked now; try again shortly')
  }

  return {
    async makeLimiter() {
      const [{ counterBook }, { leasedCounters }, { limiter }] = await Promise.all([
        import('../../limits/counter-book.ts'),
        import('../../limits/leased-counters.ts'),
        import('../../limits/limiter.ts'),
      ])
      const clock = () => performance.now()
      const { make, ...own } = (leases = leasedCounters({ authority: { claim, giveBack: primary.giveBack }, clock }))
      return limiter({ clock, counters: counterBook(undefined, make), ...own })
    },
    async callBack(keys) {
      // Decisions that arrived before this message have been taken note of then.
      await nextTurn()
      return leases?.callBack(keys) ?? new Map()
    },
  }
}

function grantedBy(claims: readonly AskedClaim[], { refused, counters }: ClaimDecision): OwnReturns {
  if (refused !== undefined) return new Map()
  return new Map(
    claims.map(({ spec, amount }, index) => [
      spec.key,
      { spec, amount: amount + (counters[index]?.lease ?? 0), hasOpen: true },
    ]),
  )
}
