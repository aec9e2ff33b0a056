import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AccessPolicy } from './access-policy.ts'
import { LimitAdmission } from './admission.ts'
import { limitAuthority, type Lessee, type LimitAuthority } from './authority.ts'
import { counterBook } from './counter-book.ts'
import { leasedCounters } from './leased-counters.ts'
import { limiter, type Limiter } from './limiter.ts'

interface Process {
  readonly limits: Limiter
  /** Questions that the process has sent. */
  asked: number
  /** Returns all leases at once. */
  returnAll(): void
  kill(): void
}

const clock = { ms: 1_000 }
const now = () => clock.ms

/** A process of a service, whose messages take a turn of the event loop each way. */
function processOf(authority: LimitAuthority, policy: AccessPolicy): Process {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  let lessee: Lessee | undefined
  const leases = leasedCounters(
    {
      async claim(claims) {
        made.asked += 1
        await turn()
        const decision = await lessee?.claim(structuredClone(claims))
        await turn()
        if (decision === undefined) throw new Error('ended')
        return structuredClone(decision)
      },
      giveBack: (returned) => void turn().then(() => lessee?.giveBack(structuredClone(returned))),
    },
    now,
  )
  lessee = authority.joined({
    async callBack(keys) {
      await turn()
      // As `workerLimits` does: decisions that arrived before are learned first.
      await turn()
      const returned = leases.callBack(keys)
      await turn()
      return structuredClone(returned)
    },
  })
  const limits = limiter({
    clock: now,
    counters: counterBook(undefined, leases.make),
    takeAll: leases.takeAll,
    refresh: leases.refresh,
  })
  limits.replace(policy)
  const made: Process = {
    limits,
    asked: 0,
    returnAll: () => lessee?.giveBack(leases.callBack(keys)),
    kill() {
      lessee?.left()
      lessee = undefined
    },
  }
  return made
}

function service(processes: number, amounts: { requests?: number; tokens?: number; atOnce?: number }) {
  const { requests, tokens, atOnce } = amounts
  const policy: AccessPolicy = {
    timeZone: 'UTC',
    teams: new Map(),
    limits: [
      {
        place: 'limits[0]',
        subject: { kind: 'everyone' },
        ...(requests === undefined ? {} : { requests: { count: requests, per: 'minute' } }),
        ...(tokens === undefined ? {} : { tokens: { count: tokens, per: 'minute' } }),
        ...(atOnce === undefined ? {} : { atOnce }),
      },
    ],
  }
  const authority = limitAuthority({ processes, clock: now })
  const join = () => processOf(authority, policy)
  return { join, all: Array.from({ length: processes }, join) }
}

async function admit({ limits }: Process, tokens = 1): Promise<LimitAdmission> {
  const admission = await limits.admit({})
  if (!(admission instanceof LimitAdmission)) throw new Error('no limit')
  if (admission.refused === undefined) await admission.ask({ models: ['m'], tokens })
  return admission
}

const keys = ['at_once', 'requests minute', 'tokens minute'].map((kind) => `${kind} ["everyone","",null]`)

/** Remaining amounts after all leases are returned, by kind. */
async function left(processes: readonly Process[]): Promise<Readonly<Record<string, number>>> {
  for (const process of processes) process.returnAll()
  const states = (await processes[0]?.limits.stateOf({})) ?? []
  return Object.fromEntries(states.map(({ kind, remaining }) => [kind, remaining]))
}

function turnsOf(all: readonly Process[], count: number): readonly Process[] {
  return Array.from({ length: count }, (_, index) => all[index % all.length]).filter((each) => each !== undefined)
}

const passed = (admitted: readonly LimitAdmission[]) => admitted.filter(({ refused }) => refused === undefined)

describe('several processes', () => {
  test.each([1, 7, 100, 1_000])('keep one limit of %d requests together, exactly', async (requests) => {
    const { all } = service(4, { requests })
    const admitted: LimitAdmission[] = []
    for (const process of turnsOf(all, requests + 20)) admitted.push(await admit(process))
    expect(passed(admitted).length).toBe(requests)
    const asked = all.reduce((sum, process) => sum + process.asked, 0)
    if (requests === 1_000) expect(asked).toBeLessThan(requests / 2)
  })

  test('never exceed a limit when all ask at once', async () => {
    const { all } = service(4, { requests: 200, atOnce: 150 })
    const admitted = await Promise.all(turnsOf(all, 600).map((process) => admit(process)))
    expect(passed(admitted).length).toBe(150)
    for (const admission of admitted) admission.end(undefined)
    expect(await left(all)).toEqual({ requests: 200 - passed(admitted).length, at_once: 150 })
  })

  test('never exceed a limit when questions arrive in one turn', async () => {
    const authority = limitAuthority({ processes: 2, clock: now })
    const lessee = authority.joined({ callBack: async () => new Map() })
    const spec = { key: 'a', kind: 'requests', most: 20, perMs: 60_000, subject: 'everyone', text: '' } as const
    const decisions = await Promise.all(Array.from({ length: 60 }, () => lessee.claim([{ spec, amount: 1 }])))
    const granted = decisions.flatMap(({ refused, counters }) => (refused === undefined ? counters : []))
    expect(granted.reduce((sum, { lease }) => sum + 1 + lease, 0)).toBe(20)
  })

  test('use slots that another process has free', async () => {
    const { all } = service(2, { atOnce: 3 })
    const [one, other] = all
    if (one === undefined || other === undefined) throw new Error('none')
    const first = await Promise.all([admit(one), admit(one), admit(one)])
    expect(passed(first).length).toBe(3)
    expect((await admit(other)).refused?.counter.spec.kind).toBe('at_once')
    for (const admission of first.slice(1)) admission.end(undefined)
    expect(passed([await admit(other), await admit(other), await admit(other)]).length).toBe(2)
  })

  test('the slots of a process that was killed come back, and those of its successor are its own', async () => {
    const { all, join } = service(2, { atOnce: 5 })
    const [one, other] = all
    if (one === undefined || other === undefined) throw new Error('none')
    await Promise.all([admit(one), admit(one), admit(one), admit(one), admit(one)])
    expect(passed([await admit(other)]).length).toBe(0)
    one.kill()
    const successor = join()
    expect(passed(await Promise.all(turnsOf([other, successor], 6).map((each) => admit(each)))).length).toBe(5)
  })

  test('settle tokens for all: what was not used is back, and debts delay every process', async () => {
    const { all } = service(2, { tokens: 1_000 })
    const [one, other] = all
    if (one === undefined || other === undefined) throw new Error('none')
    const admission = await admit(one, 900)
    expect((await admit(other, 900)).refused?.counter.spec.kind).toBe('tokens')
    admission.end(100)
    const second = await admit(other, 900)
    expect(second.refused).toBeUndefined()
    second.end(2_000)
    expect(await left(all)).toEqual({ tokens: 0 })
    expect((await admit(one, 1)).refused?.waitMs).toBeGreaterThan(60_000)
  })

  test('an authority that fails refuses nothing silently, and leaks nothing', async () => {
    const { all } = service(1, { atOnce: 2 })
    const [one] = all
    if (one === undefined) throw new Error('none')
    const first = await admit(one)
    one.kill()
    await expect(admit(one)).rejects.toThrow('ended')
    first.end(undefined)
    expect(passed([await admit(one)]).length).toBe(1)
  })

  test('hold, whatever happens in whatever order', async () => {
    const step = fc.record({
      process: fc.nat(2),
      act: fc.constantFrom('admit', 'admit', 'admit', 'end', 'kill', 'return'),
      tokens: fc.nat(300),
    })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 60 }), async (atOnce, steps) => {
        const { all, join } = service(3, { atOnce, tokens: 10_000 })
        const processes = [...all]
        const open = new Map<Process, LimitAdmission[]>()
        const running: Promise<void>[] = []
        for (const { process: index, act, tokens } of steps) {
          const process = processes[index]
          if (process === undefined) continue
          const own = open.get(process) ?? []
          open.set(process, own)
          if (act === 'admit')
            running.push(
              admit(process, tokens).then(
                (admission) => {
                  if (admission.refused === undefined) own.push(admission)
                  const alive = processes.flatMap((each) => open.get(each) ?? [])
                  expect(alive.length).toBeLessThanOrEqual(atOnce)
                },
                () => undefined,
              ),
            )
          else if (act === 'end') own.pop()?.end(0)
          else if (act === 'return') process.returnAll()
          else {
            process.kill()
            processes[index] = join()
          }
          if (tokens % 3 === 0) await Promise.all(running.splice(0))
        }
        await Promise.all(running)
        for (const process of processes) for (const admission of open.get(process) ?? []) admission.end(0)
        expect((await left(processes))['at_once']).toBe(atOnce)
      }),
      { numRuns: 60 },
    )
  })

  test('return leases that are not used, and debts, without being asked', async () => {
    const spec = { key: 'a', kind: 'tokens', most: 1_000, perMs: 60_000, subject: 'everyone', text: '' } as const
    const returned = Promise.withResolvers<unknown>()
    const claim = async () => ({ counters: [{ lease: 50, remaining: 100, resetMs: 5 }] })
    const leases = leasedCounters({ claim, giveBack: (amounts) => returned.resolve([...amounts]) }, now, 0)
    const counter = leases.make(spec)
    await leases.takeAll([{ counter, amount: 100 }], now())
    expect(counter.remaining(now())).toBe(1_000)
    counter.take(70, now())
    expect(await returned.promise).toEqual([['a', { amount: -20, hasOpen: false }]])
    expect(counter.mayForget()).toBe(true)
  })
})
