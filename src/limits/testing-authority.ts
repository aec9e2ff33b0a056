import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AccessPolicy } from './access-policy.ts'
import { LimitAdmission } from './admission.ts'
import type { Limiter } from './limiter.ts'

/** A process of a service under test. */
export interface LimitedProcess {
  readonly limits: Limiter
  /** Questions that the process has sent. */
  readonly asked: number
  /** Returns all leases. Resolves when the authority has them. */
  returnAll(): Promise<void>
  /** Ends the process without a word. Resolves when its slots are free. */
  kill(): Promise<void>
}

/** Makes a process that shares limits with the others of the same service. */
export type Join = () => LimitedProcess

/** Amounts of one limit for everyone. Rates are for a day, since servers have clocks of their own. */
export interface Amounts {
  readonly requests?: number
  readonly tokens?: number
  readonly atOnce?: number
}

/** The policy with one limit for everyone. */
export function policyOf({ requests, tokens, atOnce }: Amounts): AccessPolicy {
  return {
    timeZone: 'UTC',
    teams: new Map(),
    limits: [
      {
        place: 'limits[0]',
        subject: { kind: 'everyone' },
        ...(requests === undefined ? {} : { requests: { count: requests, per: 'day' } }),
        ...(tokens === undefined ? {} : { tokens: { count: tokens, per: 'day' } }),
        ...(atOnce === undefined ? {} : { atOnce }),
      },
    ],
  }
}

/** The counters of {@link policyOf}. */
export const counterKeys = ['at_once', 'requests day', 'tokens day'].map((kind) => `${kind} ["everyone","",null]`)

/** Admits a request of everyone. */
export async function admit({ limits }: LimitedProcess, tokens = 1): Promise<LimitAdmission> {
  const admission = await limits.admit({})
  if (!(admission instanceof LimitAdmission)) throw new Error('no limit')
  if (admission.refused === undefined) await admission.ask({ models: ['m'], tokens })
  return admission
}

/** The admissions that were not refused. */
export function passed(admitted: readonly LimitAdmission[]): readonly LimitAdmission[] {
  return admitted.filter(({ refused }) => refused === undefined)
}

/** The processes in turn, until there are as many. */
export function turnsOf(all: readonly LimitedProcess[], count: number): readonly LimitedProcess[] {
  return Array.from({ length: count }, (_, index) => all[index % all.length]).filter((each) => each !== undefined)
}

async function returnAll(all: readonly LimitedProcess[]): Promise<void> {
  await Promise.all(all.map((each) => each.returnAll()))
}

/** Remaining amounts after all leases are returned, by kind. */
async function left(processes: readonly LimitedProcess[]): Promise<Readonly<Record<string, number>>> {
  await returnAll(processes)
  const states = (await processes[0]?.limits.stateOf({})) ?? []
  return Object.fromEntries(states.map(({ kind, remaining }) => [kind, remaining]))
}

/**
 * The promises that every authority over several processes keeps.
 *
 * @param service makes a new service. @param runs of the property
 */
export function authorityContract(
  name: string,
  service: (amounts: Amounts, processes: number) => Promise<Join>,
  runs = 60,
) {
  async function started(processes: number, amounts: Amounts) {
    const join = await service(amounts, processes)
    return { join, all: Array.from({ length: processes }, join) }
  }

  async function two(amounts: Amounts) {
    const { all, join } = await started(2, amounts)
    const [one, other] = all
    if (one === undefined || other === undefined) throw new Error('none')
    return { one, other, join, all }
  }

  describe(`${name}: several processes`, () => {
    test.each([1, 7, 100, 1_000])('keep one limit of %d requests together', async (requests) => {
      const { all } = await started(4, { requests })
      const admitted: LimitAdmission[] = []
      for (const process of turnsOf(all, requests + 20)) admitted.push(await admit(process))
      const asked = all.reduce((sum, process) => sum + process.asked, 0)
      expect(passed(admitted).length).toBeLessThanOrEqual(requests)
      if (requests === 1_000) expect(asked).toBeLessThan(requests / 2)
      await returnAll(all)
      for (const process of turnsOf(all, requests - passed(admitted).length)) admitted.push(await admit(process))
      await returnAll(all)
      admitted.push(...(await Promise.all(turnsOf(all, 4).map((process) => admit(process)))))
      expect(passed(admitted).length).toBe(requests)
    })

    test('never exceed a limit when all ask at once', async () => {
      const { all } = await started(4, { requests: 200, atOnce: 150 })
      const admitted = await Promise.all(turnsOf(all, 600).map((process) => admit(process)))
      expect(passed(admitted).length).toBe(150)
      for (const admission of admitted) admission.end(undefined)
      expect(await left(all)).toEqual({ requests: 50, at_once: 150 })
    })

    test('use slots that another process has free', async () => {
      const { one, other } = await two({ atOnce: 3 })
      const first = await Promise.all([admit(one), admit(one), admit(one)])
      expect(passed(first).length).toBe(3)
      expect((await admit(other)).refused?.counter.spec.kind).toBe('at_once')
      for (const admission of first.slice(1)) admission.end(undefined)
      await one.returnAll()
      expect(passed([await admit(other), await admit(other), await admit(other)]).length).toBe(2)
    })

    test('the slots of a process that was killed come back, and those of its successor are its own', async () => {
      const { one, other, join } = await two({ atOnce: 5 })
      await Promise.all([admit(one), admit(one), admit(one), admit(one), admit(one)])
      expect(passed([await admit(other)]).length).toBe(0)
      await one.kill()
      const successor = join()
      expect(passed(await Promise.all(turnsOf([other, successor], 6).map((each) => admit(each)))).length).toBe(5)
    })

    test('complaint: a refusal by one limit uses up another › does not happen', async () => {
      const { one, other, all } = await two({ requests: 50, atOnce: 1 })
      const open = await admit(one)
      for (let attempt = 0; attempt < 10; attempt++)
        expect((await admit(other)).refused?.counter.spec.kind).toBe('at_once')
      open.end(undefined)
      expect(await left(all)).toEqual({ requests: 49, at_once: 1 })
    })

    test('settle tokens for all: what was not used is back, and debts delay every process', async () => {
      const { one, other, all } = await two({ tokens: 1_000 })
      const admission = await admit(one, 900)
      expect((await admit(other, 900)).refused?.counter.spec.kind).toBe('tokens')
      admission.end(100)
      await one.returnAll()
      const second = await admit(other, 900)
      expect(second.refused).toBeUndefined()
      second.end(2_000)
      expect(await left(all)).toEqual({ tokens: 0 })
      expect((await admit(one, 1)).refused?.waitMs).toBeGreaterThan(60_000)
    })

    test('complaint: a limit of tokens is exceeded as long as debts are on their way › is not so', async () => {
      const { all } = await two({ tokens: 100_000 })
      // Busy processes have leases.
      for (const process of turnsOf(all, 6)) (await admit(process, 1_000)).end(100)
      let answered = 0
      for (const process of turnsOf(all, 20)) {
        const admission = await admit(process, 1_000)
        if (admission.refused === undefined) {
          answered += 1
          admission.end(60_000)
        }
        // The authority answers after it has what the process returned before.
        await process.limits.stateOf({})
      }
      expect(answered).toBe(2)
    })

    test('an amount of 0 allows nothing, for ever', async () => {
      const { one } = await two({ requests: 0, atOnce: 0 })
      expect((await admit(one)).refused?.waitMs).toBe(Number.POSITIVE_INFINITY)
    })

    test('hold in any order of events', async () => {
      const step = fc.record({
        process: fc.nat(2),
        act: fc.constantFrom('admit', 'admit', 'admit', 'end', 'kill', 'return'),
        tokens: fc.nat(300),
      })
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 60 }), async (atOnce, steps) => {
          const { all, join } = await started(3, { atOnce, tokens: 10_000 })
          const processes: (LimitedProcess | undefined)[] = [...all]
          const open = new Map<LimitedProcess, LimitAdmission[]>()
          const ownOf = (process: LimitedProcess | undefined) => (process && open.get(process)) ?? []
          const running: Promise<void>[] = []
          for (const { process: index, act, tokens } of steps) {
            const process = processes[index]
            if (process === undefined) continue
            const own = ownOf(process)
            open.set(process, own)
            if (act === 'admit')
              running.push(
                admit(process, tokens).then(
                  (admission) => {
                    if (admission.refused === undefined) own.push(admission)
                    expect(processes.flatMap(ownOf).length).toBeLessThanOrEqual(atOnce)
                  },
                  () => undefined,
                ),
              )
            else if (act === 'end') own.pop()?.end(0)
            else if (act === 'return') void process.returnAll()
            else {
              processes[index] = undefined
              await process.kill()
              processes[index] = join()
            }
            if (tokens % 3 === 0) await Promise.all(running.splice(0))
          }
          await Promise.all(running)
          for (const process of processes) for (const admission of ownOf(process)) admission.end(0)
          expect((await left(processes.filter((each) => each !== undefined)))['at_once']).toBe(atOnce)
        }),
        { numRuns: runs },
      )
    })
  })
}
