import { describe, expect, test } from 'bun:test'
import type { AccessPolicy } from './access-policy.ts'
import { LimitAdmission } from './admission.ts'
import { LimitAuthority } from './authority.ts'
import { CounterBook } from './counter-book.ts'
import type { LeaseHolder } from './lease-messages.ts'
import { Leases } from './leases.ts'
import { Limiter } from './limiter.ts'

function policy(waitMs: number, requests?: number): AccessPolicy {
  const rate = requests === undefined ? {} : { requests: { count: requests, per: 'day' as const } }
  const limit = { place: 'limits[0]', subject: { kind: 'everyone' as const }, atOnce: 1, waitMs, ...rate }
  return { timeZone: 'UTC', limits: [limit], teams: new Map() }
}

function limiterOf(waitMs = 20_000, requests?: number): Limiter {
  const made = new Limiter({ clock: () => performance.now() })
  made.replace(policy(waitMs, requests))
  return made
}

const staying = new AbortController().signal

async function admit(limits: Limiter, signal: AbortSignal = staying): Promise<LimitAdmission> {
  const admission = await limits.admit({}, signal)
  if (!(admission instanceof LimitAdmission)) throw new Error('no limit')
  return admission
}

describe('requests that wait for a slot', () => {
  test('get it in their order, each when the one before has ended', async () => {
    const limits = limiterOf()
    const first = await admit(limits)
    const served: number[] = []
    const waiting = [1, 2, 3].map(async (number) => {
      const admission = await admit(limits)
      expect(admission.refused).toBeUndefined()
      served.push(number)
      return admission
    })
    await Bun.sleep(0)
    expect(served).toEqual([])
    let last = first
    for (const each of waiting) {
      last.end(undefined)
      last = await each
    }
    expect(served).toEqual([1, 2, 3])
    last.end(undefined)
    expect((await admit(limits)).refused).toBeUndefined()
  })

  test('are refused when their time is over, and give up no rate', async () => {
    const limits = limiterOf(30, 2)
    await admit(limits)
    const refused = await admit(limits)
    expect(refused.refused?.counter.spec.kind).toBe('at_once')
    const slot = { for: 'everyone', kind: 'at_once', limit: 1 } as const
    expect(refused.met()).toEqual([
      { met: 'waited', ...slot },
      { met: 'refused', ...slot },
    ])
    expect(refused.waited?.ms).toBeGreaterThanOrEqual(29)
    const states = await limits.stateOf({})
    expect(states.find(({ kind }) => kind === 'requests')?.remaining).toBe(1)
  })

  test('leave the queue when their client leaves, and hold nothing', async () => {
    const limits = limiterOf()
    const first = await admit(limits)
    const leaving = new AbortController()
    const left = admit(limits, leaving.signal)
    const next = admit(limits)
    leaving.abort()
    expect((await left).refused).toBeDefined()
    first.end(undefined)
    const admission = await next
    expect(admission.refused).toBeUndefined()
    admission.end(undefined)
    expect((await limits.stateOf({})).find(({ kind }) => kind === 'at_once')?.remaining).toBe(1)
    expect((await admit(limits, AbortSignal.abort())).refused).toBeUndefined()
  })

  test('end with the refusal of another limit', async () => {
    const limits = limiterOf(20_000, 1)
    const first = await admit(limits)
    const waiting = admit(limits)
    first.end(undefined)
    expect((await waiting).refused?.counter.spec.kind).toBe('requests')
  })

  test('are 100 at most: further ones are refused at once', async () => {
    const limits = limiterOf()
    await admit(limits)
    const leaving = new AbortController()
    const waiting = Array.from({ length: 100 }, () => admit(limits, leaving.signal))
    await Bun.sleep(0)
    expect((await admit(limits)).refused).toBeDefined()
    leaving.abort()
    await Promise.all(waiting)
  })

  test('do not wait without a choice to', async () => {
    const limits = limiterOf()
    await admit(limits)
    const admission = limits.admit({})
    expect(admission instanceof LimitAdmission && admission.refused).toBeTruthy()
  })

  test('get slots that other processes free, too', async () => {
    const spending = { sumSince: async () => 0 }
    const clock = () => performance.now()
    const authority = new LimitAuthority({ processes: 2, clock, spending, now: clock })
    function joined(): Limiter {
      const holder: LeaseHolder = { callBack: async (keys) => leased.callBack(keys) }
      const leased = new Leases({ authority: authority.joined(holder), clock })
      const made = new Limiter({
        clock,
        counters: new CounterBook(1_000, (spec) => leased.counter(spec)),
        leases: leased,
      })
      made.replace(policy(20_000))
      return made
    }
    const [one, other] = [joined(), joined()]
    const first = await admit(one)
    const waiting = admit(other)
    await Bun.sleep(0)
    first.end(undefined)
    expect((await waiting).refused).toBeUndefined()
  })
})
