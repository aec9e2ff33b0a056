import { describe, expect, test } from 'bun:test'
import { testedRedis } from '../../../test/fakes/redis-peers.ts'
import { startRedisServer } from '../../../test/fakes/redis-server.ts'
import { needs } from '../../../test/needs.ts'
import { CounterBook } from '../counter-book.ts'
import type { OwnReport } from '../leased-accounts.ts'
import { Leases } from '../leases.ts'
import { Limiter } from '../limiter.ts'
import {
  admit,
  authorityContract,
  counterKeys,
  passed,
  policyOf,
  type Amounts,
  type Join,
  type LimitedProcess,
} from '../testing-authority.ts'
import type { Peer } from './peer.ts'
import { SharedAccounts } from './shared-accounts.ts'

interface Machine extends LimitedProcess {
  readonly own: Peer
}

describe.skipIf(needs('redis-server') === undefined)('limits in Redis', () => {
  const redis = testedRedis()

  function machine(amounts: Amounts, url?: string): Machine {
    const { own, crash } = redis.join(url)
    const clock = () => performance.now()
    const authority = new SharedAccounts({ peer: own, clock })
    let asked = 0
    const leases = new Leases({
      authority: {
        claim(claims) {
          asked += 1
          return authority.claim(claims)
        },
        report: (reports) => authority.report(reports),
      },
      clock,
      // Only `returnAll` returns leases.
      leaseMs: 60_000,
      isCalledBack: false,
    })
    const limits = new Limiter({
      clock,
      counters: new CounterBook(undefined, (spec) => leases.counter(spec)),
      leases,
    })
    limits.replace(policyOf(amounts))
    return {
      limits,
      own,
      get asked() {
        return asked
      },
      async returnAll() {
        const isOwn = (each: readonly [string, object]): each is [string, OwnReport] => 'spec' in each[1]
        authority.report(new Map([...leases.callBack(counterKeys)].filter(isOwn)))
        // Messages of one process arrive in order.
        await own.beat()
      },
      kill: crash,
    }
  }

  async function service(amounts: Amounts): Promise<Join> {
    await redis.clear()
    return () => machine(amounts)
  }

  authorityContract('an authority in Redis', service, 25)

  test('frees the slots of a process that was silent for 10 s, and takes those of one that comes back', async () => {
    const [one, other] = [machine({ atOnce: 3 }), machine({ atOnce: 3 })]
    for (let request = 0; request < 3; request++) await admit(one)
    expect(passed([await admit(other)])).toHaveLength(0)
    await redis.direct.hset('svc:limits:alive', one.own.name, `${(Date.now() - 9_000) * 1_000} 50`)
    expect(passed([await admit(other)])).toHaveLength(0)
    await redis.direct.hset('svc:limits:alive', one.own.name, `${(Date.now() - 10_001) * 1_000} 3`)
    const second = await admit(other)
    expect(passed([second])).toHaveLength(1)
    await one.own.beat()
    second.end(undefined)
    await other.returnAll()
    expect(passed([await admit(other)])).toHaveLength(0)
    expect(one.own.processes).toBe(2)
  })

  test('while Redis is away, keep an equal part each, and count it when Redis is back, empty', async () => {
    const away = await startRedisServer()
    const [one, other] = [1, 2].map(() => machine({ requests: 13, atOnce: 6 }, away.url))
    if (one === undefined || other === undefined) throw new Error('none')
    await one.own.beat()
    await other.own.beat()
    const early = await admit(one)
    expect(one.own.processes).toBe(2)
    await away.kill()
    const all = await Promise.all(Array.from({ length: 8 }, () => admit(one)))
    expect(passed(all)).toHaveLength(2)
    expect(all.at(-1)?.refused).toMatchObject({ waitMs: 1_000, counter: { spec: { kind: 'at_once' } } })
    for (const each of [...passed(all), early]) each.end(undefined)
    const late = await Promise.all(Array.from({ length: 3 }, () => admit(one)))
    expect(passed(late)).toHaveLength(3)
    expect((await admit(one)).refused?.counter.spec.kind).toBe('at_once')
    late.shift()?.end(undefined)
    late.push(await admit(one))
    expect((await admit(one)).refused?.counter.spec.kind).toBe('requests')
    await using again = await startRedisServer({ port: away.port })
    await one.own.beat()
    await other.own.beat()
    const rest = await Promise.all(Array.from({ length: 8 }, () => admit(other)))
    expect([again.port, passed(rest).length]).toEqual([away.port, 3])
    for (const each of [...late, ...rest]) each.end(undefined)
    await Promise.all([one.returnAll(), other.returnAll()])
    const [requests, slots] = await other.limits.stateOf({})
    expect([requests?.remaining, slots?.remaining]).toEqual([4, 6])
  })

  test('wait for a Redis that hangs no longer than its time limit, once', async () => {
    await using stuck = await startRedisServer()
    const one = machine({ requests: 100 }, stuck.url)
    await one.own.beat()
    stuck.pause()
    const started = performance.now()
    await Promise.all(Array.from({ length: 10 }, () => admit(one)))
    expect(performance.now() - started).toBeWithin(400, 2_000)
    const next = performance.now()
    expect(passed([await admit(one)])).toHaveLength(1)
    expect(performance.now() - next).toBeLessThan(400)
    stuck.resume()
  })

  test.each([
    ['of another type', ['SET', 'KEY', 'text']],
    ['with nonsense in it', ['HSET', 'KEY', 'used', 'nan(', 'at', '-x', 'other', 'much']],
  ])('a counter %s does not stop requests', async (_what, [command = '', _key, ...rest]) => {
    const one = machine({ requests: 5, atOnce: 5 })
    const first = await admit(one)
    for (const key of await redis.direct.keys('svc:limits:*')) {
      await redis.direct.del(key)
      await redis.direct.send(command, [key, ...rest])
    }
    expect(passed([first, await admit(one), await admit(one)])).toHaveLength(3)
  })

  test('asks on when Redis has lost its scripts', async () => {
    const [one, other] = [machine({ requests: 10 }), machine({ requests: 10 })]
    for (let round = 0; round < 2; round++) await Promise.all([admit(one), admit(other)])
    await redis.direct.send('SCRIPT', ['FLUSH'])
    const rest = await Promise.all(Array.from({ length: 10 }, (_, turn) => admit(turn % 2 ? one : other)))
    expect(passed(rest)).toHaveLength(6)
  })

  test('ignores a message that a later one has overtaken, and answers alone', async () => {
    const one = machine({ requests: 10 })
    await admit(one)
    const keys = await redis.direct.keys('svc:limits:*')
    const key = keys.find((each) => !each.endsWith('alive')) ?? ''
    const before = await redis.direct.hget(key, 'used')
    await redis.direct.hset('svc:limits:alive', one.own.name, `${Date.now() * 1_000} 1000`)
    expect(passed([await admit(one)])).toHaveLength(1)
    expect(await redis.direct.hget(key, 'used')).toBe(before)
  })

  test('shows no names in its keys, which expire', async () => {
    const one = machine({ requests: 5, atOnce: 5, tokens: 5 })
    await admit(one)
    const keys = (await redis.direct.keys('*')).toSorted()
    expect(keys).toHaveLength(4)
    for (const key of keys) {
      expect(key).toMatch(/^svc:limits:(?:alive|[\w-]{43})$/)
      expect(await redis.direct.pttl(key)).toBeWithin(1, 86_400_002)
    }
  })
})
