import { describe, expect, test } from 'bun:test'
import { RedisClient } from 'bun'
import { testedRedis } from '../../../test/fakes/redis-peers.ts'
import { startRedisServer } from '../../../test/fakes/redis-server.ts'
import { needs } from '../../../test/needs.ts'
import { redisScriptRunner } from '../../stores/redis/redis-script-runner.ts'
import type { SpendingSource } from '../budgets/opened-budgets.ts'
import {
  budgetContract,
  budgetOf,
  startedAt,
  type BudgetedProcess,
  type JoinBudgets,
} from '../budgets/testing-budgets.ts'
import { hashedKey, Peer, peerScript, type ScriptServer } from './peer.ts'
import { SharedAccounts, sharedBudgets } from './shared-accounts.ts'

const pingScript = `${peerScript} return {processes}`
const nothing: SpendingSource = { spending: { sumSince: async () => 0 }, now: () => startedAt }

describe.skipIf(needs('redis-server') === undefined)('budgets in Redis', () => {
  const redis = testedRedis()

  function processAt(options: SpendingSource, url?: string): BudgetedProcess & { readonly own: Peer } {
    const { own, crash } = redis.join(url)
    const clock = () => performance.now()
    const authority = sharedBudgets(new SharedAccounts({ peer: own, clock, source: options }), clock)
    return { own, authority, arrived: () => own.beat(), crash }
  }

  async function service(options: SpendingSource): Promise<JoinBudgets> {
    await redis.clear()
    return () => processAt(options)
  }

  budgetContract('an authority in Redis', service, 40)

  const month = budgetOf(startedAt, { key: 'each person "ann" 0', most: 1_000 })

  async function spend({ authority, arrived }: BudgetedProcess, cost: number, budget = month): Promise<void> {
    const answer = await authority.admit([budget], cost)
    if (answer.kind === 'refused') throw new Error('refused')
    authority.settle(answer.hold, cost)
    await arrived()
  }

  test('have the same alert in each process that counts them, and none for what was spent before it came', async () => {
    const alerts = new Map<string, string[]>()
    const watched = (name: string): SpendingSource => {
      const identities: string[] = []
      alerts.set(name, identities)
      return { ...nothing, onCrossed: ({ identity }) => void identities.push(identity) }
    }
    const budget = { ...month, key: 'alerted' }
    const [one, other] = [processAt(watched('one')), processAt(watched('other'))]
    await spend(one, 100, budget)
    await spend(other, 450, budget)
    await spend(one, 1, budget)
    const late = processAt(watched('late'))
    await spend(late, 300, budget)
    await spend(one, 1, budget)
    const [half, most] = ['budget 50 1000 alerted', 'budget 80 1000 alerted']
    expect(Object.fromEntries(alerts)).toEqual({ one: [half, most], other: [half], late: [most] })
    for (const { own } of [one, other, late]) await own.close()
  })

  test('count what this process knows was spent, when Redis has lost its data', async () => {
    const [one, other] = [processAt(nothing), processAt(nothing)]
    await spend(one, 300)
    await spend(other, 500)
    const open = await other.authority.admit([month], 50)
    const pair = [await other.authority.admit([month], 30), await other.authority.admit([month], 20)]
    await redis.direct.send('FLUSHALL', [])
    expect(await one.authority.uses([month])).toEqual([{ used: 300, held: 0 }])
    await spend(one, 1)
    for (const [index, answer] of pair.entries())
      if (answer.kind === 'held') other.authority.settle(answer.hold, 10 + index)
    await other.arrived()
    expect(await one.authority.uses([month])).toEqual([{ used: 821, held: 50 }])
    if (open.kind === 'held') other.authority.settle(open.hold, 7)
    await other.arrived()
    expect(await one.authority.uses([month])).toEqual([{ used: 828, held: 0 }])
    expect(await one.authority.admit([month], 400)).toMatchObject({ kind: 'held', amount: 172 })
  })

  test('count the larger of Redis and the sums', async () => {
    const old = { ...month, window: { start: 0, end: Infinity } }
    await spend(processAt({ ...nothing, spending: { sumSince: async () => 600 } }), 50, old)
    const one = processAt({ ...nothing, spending: { sumSince: async () => 200 } })
    await spend(one, 1, old)
    expect(await one.authority.uses([old])).toEqual([{ used: 651, held: 0 }])
  })

  test('refuse while Redis is away, and book what ended meanwhile once, when it is back', async () => {
    let away = await startRedisServer()
    const one = processAt(nothing, away.url)
    await spend(one, 100)
    const open = await one.authority.admit([month], 50)
    const { port } = away
    await away.kill()
    const refused = one.authority.admit([month], 1)
    await expect(Promise.resolve(refused)).rejects.toThrow('cannot be reached')
    if (open.kind === 'held') one.authority.settle(open.hold, 40)
    await one.arrived()
    away = await startRedisServer({ port })
    await one.arrived()
    expect(await one.authority.uses([month])).toEqual([{ used: 140, held: 0 }])
    await one.arrived()
    await spend(one, 1)
    expect(await one.authority.uses([month])).toEqual([{ used: 141, held: 0 }])
    await away.kill()
  })

  test('admit while Redis is away where all limits say so, unless they are known to be used up', async () => {
    let away = await startRedisServer()
    const one = processAt(nothing, away.url)
    const open = { ...month, key: 'open', isOpenWhenAway: true }
    await spend(one, 100)
    await spend(one, 600, open)
    const { port } = away
    await away.kill()
    await expect(Promise.resolve(one.authority.admit([open, month], 1))).rejects.toThrow('cannot be reached')
    await spend(one, 300, open)
    const under = await one.authority.admit([open], 5_000)
    expect(under).toMatchObject({ kind: 'held', amount: 5_000 })
    await spend(one, 150, open)
    expect(await one.authority.admit([open], 1)).toEqual({ kind: 'refused', by: 0, isBusy: false })
    expect((await one.authority.admit([open], 0)).kind).toBe('held')
    away = await startRedisServer({ port })
    await one.arrived()
    expect(await one.authority.uses([open, month])).toEqual([
      { used: 1_050, held: 5_000 },
      { used: 100, held: 0 },
    ])
    if (under.kind === 'held') one.authority.settle(under.hold, 7)
    await one.arrived()
    expect(await one.authority.uses([open])).toEqual([{ used: 1_057, held: 0 }])
    await away.kill()
  })

  test('keep nothing in memory of requests that were refused while Redis was away', async () => {
    let away = await startRedisServer()
    const one = processAt(nothing, away.url)
    const answer = await one.authority.admit([month], 10)
    const { port } = away
    await away.kill()
    const refused = await Promise.allSettled(Array.from({ length: 500 }, async () => one.authority.admit([month], 1)))
    expect(refused.filter(({ status }) => status === 'rejected')).toHaveLength(500)
    away = await startRedisServer({ port })
    const reader = new RedisClient(away.url, { autoReconnect: false })
    await one.arrived()
    await spend(one, 1)
    if (answer.kind === 'held') one.authority.settle(answer.hold, 9)
    await one.arrived()
    expect(await one.authority.uses([month])).toEqual([{ used: 10, held: 0 }])
    const info = String(await reader.send('INFO', ['commandstats']))
    expect(Number(/cmdstat_eval:calls=(\d+)/.exec(info)?.[1])).toBeLessThan(15)
    reader.close()
    await away.kill()
  })

  test('do not wait longer than the time limit for a Redis that hangs, and release what it held late', async () => {
    await using stuck = await startRedisServer()
    const one = processAt(nothing, stuck.url)
    await spend(one, 100)
    stuck.pause()
    const started = performance.now()
    await expect(Promise.resolve(one.authority.admit([month], 1))).rejects.toThrow('does not answer')
    expect(performance.now() - started).toBeWithin(400, 2_000)
    const next = performance.now()
    await expect(Promise.resolve(one.authority.admit([month], 1))).rejects.toThrow('does not answer')
    expect(performance.now() - next).toBeLessThan(400)
    stuck.resume()
    // A ping in the background finds out.
    for (let tries = 0; tries < 100 && (await one.own.send(pingScript, [], []).catch(() => 'away')) === 'away'; tries++)
      await Bun.sleep(20)
    await one.arrived()
    expect(await one.authority.uses([month])).toEqual([{ used: 100, held: 0 }])
  })

  test('show no names in the keys, which expire: budgets a week after their window', async () => {
    const one = processAt(nothing)
    await spend(one, 1)
    await one.authority.admit([month], 1)
    const keys = await redis.direct.keys('*')
    expect(keys).toHaveLength(2)
    for (const key of keys) {
      expect(key).toMatch(/^svc:limits:(?:alive|[\w-]{43})$/)
      const ms = await redis.direct.pttl(key)
      expect(ms).toBeWithin(3_500_000, 8 * 86_400_000 + 1)
      if (/[\w-]{43}$/.test(key)) expect(ms).toBeGreaterThan(7.9 * 86_400_000)
    }
    await one.own.close()
    expect(await processAt(nothing).authority.uses([month])).toEqual([{ used: 2, held: 0 }])
  })

  test('count the booking of a process once that was silent for 10 s, and returns', async () => {
    const [one, other] = [processAt(nothing), processAt(nothing)]
    await spend(one, 5)
    const open = await one.authority.admit([month], 100)
    await redis.direct.hset('svc:limits:alive', one.own.name, `${(Date.now() - 10_001) * 1_000} 3`)
    expect(await other.authority.uses([month])).toEqual([{ used: 105, held: 0 }])
    await spend(other, 20)
    await one.arrived()
    expect(await other.authority.uses([month])).toEqual([{ used: 125, held: 100 }])
    if (open.kind === 'held') one.authority.settle(open.hold, 60)
    await one.arrived()
    for (const [cost, used] of [
      [0, 125],
      [39, 125],
      [5, 129],
    ] as const) {
      await spend(one, cost)
      expect(await other.authority.uses([month])).toEqual([{ used, held: 0 }])
    }
  })

  test('count each cost once, and keep no hold, when answers of Redis are lost', async () => {
    const scripts = redisScriptRunner({ url: redis.url, timeoutMs: 500 })
    let runs = 0
    const lossy: ScriptServer = {
      async run(script, keys, words) {
        const answer = await scripts.run(script, keys, words)
        runs += 1
        if (runs % 3 === 0) throw new Error('the answer is lost')
        return answer
      },
      close: () => scripts.close(),
    }
    const own = new Peer({ server: lossy, beatMs: 60_000 })
    const clock = () => performance.now()
    const authority = sharedBudgets(new SharedAccounts({ peer: own, clock, source: nothing }), clock)
    let spent = 0
    for (let attempt = 0; attempt < 60; attempt++) {
      await own.beat()
      const answer = await Promise.resolve(authority.admit([month], 9)).catch(() => undefined)
      if (answer?.kind !== 'held') continue
      authority.settle(answer.hold, 7)
      spent += 7
    }
    for (let tries = 0; tries < 3; tries++) await own.beat()
    expect(spent).toBeGreaterThan(70)
    expect(await processAt(nothing).authority.uses([month])).toEqual([{ used: spent, held: 0 }])
    await own.close()
  })

  test('count each cost once when the first answers of all are lost, and the budget stays open meanwhile', async () => {
    await redis.clear()
    const scripts = redisScriptRunner({ url: redis.url, timeoutMs: 500 })
    let lost = 0
    const lossy: ScriptServer = {
      async run(script, keys, words) {
        const answer = await scripts.run(script, keys, words)
        // Beats have one key, and their answers arrive.
        if (keys.length < 2 || (lost += 1) > 4) return answer
        throw new Error('the answer is lost')
      },
      close: () => scripts.close(),
    }
    const own = new Peer({ server: lossy, beatMs: 60_000 })
    const clock = () => performance.now()
    const authority = sharedBudgets(new SharedAccounts({ peer: own, clock, source: nothing }), clock)
    const open = budgetOf(startedAt, { key: 'open', most: 1_000, isOpenWhenAway: true })
    await own.beat()
    for (let attempt = 0; attempt < 3; attempt++) {
      const answer = await authority.admit([open], 10)
      if (answer.kind === 'refused') throw new Error('refused')
      authority.settle(answer.hold, 10)
      await own.beat()
    }
    for (let tries = 0; tries < 8; tries++) await own.beat()
    expect(lost).toBeGreaterThan(4)
    expect(await processAt(nothing).authority.uses([open])).toEqual([{ used: 30, held: 0 }])
    await own.close()
  })

  describe('of the version before', () => {
    const key = hashedKey(`budget ${month.key}`)
    const earlier = crypto.randomUUID()
    const alive = () => redis.direct.hset('svc:limits:alive', earlier, `${Date.now() * 1_000} 7`)
    const open = { spent: '700', held: '250', dearest: '90', short: `${earlier}/12` }

    test('go on with what is spent, held and short while one of its processes lives', async () => {
      await alive()
      await redis.direct.hset(key, open)
      const one = processAt(nothing)
      expect(await one.authority.uses([month])).toEqual([{ used: 700, held: 250 }])
      expect(await one.authority.admit([month], 60)).toEqual({ kind: 'refused', by: 0, isBusy: true })
      const fitting = await one.authority.admit([month], 40)
      expect(fitting).toMatchObject({ kind: 'held', amount: 40, dearest: 90 })
      expect(await redis.direct.hget(key, 'held')).toBe('290')
      // The other version settles its hold of 250 with 100, and raises nothing of ours.
      await redis.direct.hset(key, { spent: '800', held: '40' })
      await redis.direct.hdel(key, 'short')
      if (fitting.kind === 'held') one.authority.settle(fitting.hold, 30)
      await one.arrived()
      expect(await one.authority.uses([month])).toEqual([{ used: 830, held: 0 }])
      expect(await redis.direct.hmget(key, ['spent', 'held', 'short'])).toEqual(['830', '0', null])
    })

    test('state a short hold for its processes, and end it', async () => {
      await alive()
      const one = processAt(nothing)
      const short = await one.authority.admit([month], 5_000)
      expect(short).toMatchObject({ amount: 1_000 })
      expect(await redis.direct.hmget(key, ['held', 'short'])).toEqual(['1000', one.own.name])
      if (short.kind === 'held') one.authority.settle(short.hold, 10)
      await one.arrived()
      expect(await redis.direct.hmget(key, ['spent', 'held', 'short'])).toEqual(['10', '0', null])
    })

    test('have the holds of its last process booked', async () => {
      await redis.direct.hset(key, open)
      expect(await processAt(nothing).authority.uses([month])).toEqual([{ used: 950, held: 0 }])
      expect(await redis.direct.hmget(key, ['spent', 'held', 'short'])).toEqual(['950', '0', null])
    })

    test('have the short hold of its last process booked at its estimate', async () => {
      await redis.direct.hset(key, { spent: '995', held: '5', short: `${earlier}/12` })
      await redis.direct.hset(`svc:limits:holds:${earlier}`, '12', `60 ${key} 5 short`)
      const [use] = await processAt(nothing).authority.uses([month])
      expect(use?.used).toBeWithin(1_055, 1_061)
    })
  })

  test.each([['text'], ['-5'], ['1e400'], ['99999999999999999999'], ['nan']])(
    'survive nonsense in Redis: spent %p',
    async (nonsense) => {
      const one = processAt(nothing)
      await spend(one, 300)
      const key = (await redis.direct.keys('*')).find((each) => /:[\w-]{43}$/.test(each)) ?? ''
      await redis.direct.hset(key, 'spent', nonsense, 'held', nonsense)
      const [use] = await one.authority.uses([month])
      expect(use?.used).toBeWithin(300, Number.MAX_SAFE_INTEGER + 1)
      const other = processAt(nothing)
      expect((await other.authority.admit([month], 1)).kind).toMatch(/held|refused/)
    },
  )
})
