import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/fakes/databases.ts'
import type { HeldBy, HeldCost } from '../../observe/under-way.ts'
import { personOf } from '../../people/testing.ts'
import { hasEnded, holderSilentMs, ownHolder } from './holder.ts'
import { batchOf, usedRequest } from './testing.ts'
import type { RecordedUse } from './use-batch.ts'

/** A process that runs, one of this machine that has ended, and one that cannot be seen from here. */
const alive = ownHolder()
const gone = alive.replace(/ \S*$/, ' 1')
const elsewhere = `elsewhere/pid 7 8`

function heldOf(nanoUsd: number, more: Partial<HeldCost> = {}): HeldCost {
  return { line: 0, model: 'm', provider: 'a', attempts: 1, nanoUsd, ...more }
}

function heldBy(holder: string, ...costs: readonly HeldCost[]): HeldBy {
  return { holder, costs }
}

function holding(number: number, holds: HeldBy, source = 'one', requests = 0): RecordedUse {
  const records = Array.from({ length: requests }, () => usedRequest())
  return { ...batchOf(number, records, source), holds }
}

describe('the name of a process', () => {
  test('tells whether it runs', async () => {
    const child = Bun.spawn(['sleep', '60'])
    const holder = alive.replace(/ \d+ \d*$/, '')
    const stat = await Bun.file(`/proc/${child.pid}/stat`).text()
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    const name = `${holder} ${child.pid} ${start}`
    expect([hasEnded(alive), hasEnded(name)]).toEqual([false, false])
    child.kill('SIGKILL')
    await child.exited
    expect([hasEnded(name), hasEnded(gone)]).toEqual([true, true])
  })

  test.each([elsewhere, '', 'x', `${alive.split(' ')[0]} -1 2`, `${alive.split(' ')[0]} 1;x 2`])(
    'tells nothing of what it cannot see: %p',
    (holder) => expect(hasEnded(holder)).toBeUndefined(),
  )
})

describe.each(databases)('holds in %s', (_name, make) => {
  let place: TestDatabase
  beforeEach(async () => {
    place = await make()
    await place.open()
  }, 30_000)
  afterEach(() => place.remove())

  const sums = (table = 'usage_hour') =>
    place.query(`SELECT sum(requests) AS requests, sum(cost) AS cost, sum(cost_estimated) AS estimated,
      sum(attempts) AS attempts, sum(unsettled) AS unsettled FROM ${table}`)
  const stored = () => place.query('SELECT source, attempts, cost FROM hold WHERE booked_hour IS NULL ORDER BY source')
  const unsettled = (cost: number, attempts = 1, requests = 0, exact = 0) => [
    { requests, cost: cost + exact, estimated: cost, attempts, unsettled: attempts },
  ]

  test('are stored with a batch, and end in the commit that adds their costs', async () => {
    const store = place.useStore()
    await store.write([
      holding(1, heldBy(alive, heldOf(500), heldOf(300, { line: 4, person: personOf({ user: 'ann' }) }))),
    ])
    expect(await place.query('SELECT line, person, cost FROM hold ORDER BY line')).toEqual([
      { line: 0, person: 0, cost: 500 },
      { line: 4, person: 1, cost: 300 },
    ])
    await store.write([holding(2, heldBy(alive), 'one', 2)])
    expect([await stored(), await sums()]).toEqual([
      [],
      [{ requests: 2, cost: 2_000, estimated: 0, attempts: 0, unsettled: 0 }],
    ])
  })

  test('of several batches of one message are those after the last one', async () => {
    const store = place.useStore()
    await store.write([
      holding(1, heldBy(alive, heldOf(1)), 'one'),
      holding(1, heldBy(alive, heldOf(5)), 'two'),
      holding(2, heldBy(alive, heldOf(2), heldOf(3)), 'one'),
      batchOf(3, [usedRequest()], 'one'),
    ])
    expect(await stored()).toEqual([
      { source: 'one', attempts: 2, cost: 5 },
      { source: 'two', attempts: 1, cost: 5 },
    ])
  })

  test('of a batch that is sent again do not come back', async () => {
    const store = place.useStore()
    const first = holding(1, heldBy(alive, heldOf(500)))
    await store.write([first])
    await store.write([holding(2, heldBy(alive), 'one', 1)])
    await store.write([first])
    expect(await stored()).toEqual([])
  })

  describe('reservations that never end', () => {
    test('do not exist: those of a dead process are booked at their estimates, once', async () => {
      const store = place.useStore()
      await store.write([
        holding(1, heldBy(gone, heldOf(500), heldOf(40, { model: 'other', attempts: 3 })), 'one', 1),
        holding(1, heldBy(alive, heldOf(7)), 'two'),
      ])
      expect(await store.bookDead()).toBe(true)
      expect(await store.bookDead()).toBe(true)
      for (const table of ['usage_hour', 'usage_day']) expect(await sums(table)).toEqual(unsettled(540, 4, 1, 1_000))
      expect(await stored()).toEqual([{ source: 'two', attempts: 1, cost: 7 }])
      await store.write([holding(2, heldBy(alive), 'two')])
      expect(await store.bookDead()).toBe(false)
    })

    test('on a machine that cannot be seen, they are booked when it has been silent', async () => {
      const store = place.useStore()
      await store.write([holding(1, heldBy(elsewhere, heldOf(500)))])
      await store.bookDead()
      expect(await stored()).toHaveLength(1)
      await place.tamper(`UPDATE ${place.kind === 'SQLite' ? '' : 'svc.'}batch SET time = time - ${holderSilentMs + 1}`)
      expect(await store.bookDead()).toBe(false)
      expect(await sums()).toEqual(unsettled(500))
    })

    test('of a process that lives after all are taken back, with its next batch', async () => {
      const store = place.useStore()
      await store.write([holding(1, heldBy(gone, heldOf(500), heldOf(60, { line: 2 })))])
      await store.bookDead()
      expect(await sums()).toEqual(unsettled(560, 2))
      await store.write([holding(2, heldBy(alive, heldOf(60, { line: 2 })), 'one', 1)])
      expect([await sums(), await sums('usage_day'), await stored()]).toEqual([
        [{ requests: 1, cost: 1_000, estimated: 0, attempts: 0, unsettled: 0 }],
        [{ requests: 1, cost: 1_000, estimated: 0, attempts: 0, unsettled: 0 }],
        [{ source: 'one', attempts: 1, cost: 60 }],
      ])
    })

    test('count in what a budget starts with', async () => {
      const store = place.useStore()
      await store.write([holding(1, heldBy(gone, heldOf(500, { person: personOf({ user: 'ann' }) }), heldOf(60)))])
      await store.bookDead()
      const reader = await place.useReader()
      expect(await reader.costSince({}, 0, Date.now())).toBe(560)
      expect(await reader.costSince({ people: [], userNames: ['ann'] }, 0, Date.now())).toBe(500)
      expect(await reader.costSince({ models: ['m'] }, 0, Date.now())).toBe(560)
    })
  })
})
