import { describe, expect, test } from 'bun:test'
import { chat, question, trailOf } from '../client.ts'
import { faultUpstream, type FaultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { status } from '../fakes/faults/status.ts'
import { good, goodText } from '../fakes/good.ts'
import { errorReply } from '../fakes/replies.ts'
import { talker } from '../fakes/talker.ts'
import { provider, startService } from '../harness.ts'
import { startRig, type Row } from '../rig.ts'
import { beforeGood, testOnRows } from './test-on-rows.ts'

/** Waits, then runs `script`, and counts its concurrent requests. */
function crowded(waitMs: number, script: Script): { readonly script: Script; readonly most: () => number } {
  let underWay = 0,
    most = 0
  return {
    most: () => most,
    async script(exchange) {
      underWay += 1
      most = Math.max(most, underWay)
      try {
        await exchange.pause(waitMs)
      } finally {
        underWay -= 1
      }
      await script(exchange)
    },
  }
}

async function askTimes(rig: Row, times: number): Promise<void> {
  for (let round = 0; round < times; round++) await rig.ask()
}

function saying(code: number, error: object): Script {
  return (exchange) => exchange.write(errorReply(code, error))
}

describe('row 18 › 429', () => {
  test.concurrent.each([
    ['retry-after in seconds', { 'retry-after': '1' }],
    ['retry-after-ms', { 'retry-after-ms': '900' }],
    [
      'an HTTP date against the provider’s own clock',
      { date: 'Tue, 01 Jan 2030 00:00:00 GMT', 'retry-after': 'Tue, 01 Jan 2030 00:00:01 GMT' },
    ],
  ] as const)('%s › moves on, and the provider is skipped for that time', async (_, headers) => {
    await using rig = await startRig([status(429, headers), good()])
    await askTimes(rig, 3)
    expect(rig.hits()).toEqual([1, 3])
    rig.upstreams[0]?.use(good({ name: 'a' }))
    await Bun.sleep(1_100)
    expect((await rig.ask()).headers.get('x-svc-provider')).toBe('a')
  })

  const nonsense = ['-5', 'soon', '1e99', '', 'Infinity', '0x10']
  testOnRows(
    'nonsense in Retry-After (%s) › is ignored: order is a promise',
    beforeGood(nonsense.map((value) => [JSON.stringify(value), status(429, { 'retry-after': value })])),
    async (rig) => {
      await askTimes(rig, 2)
      expect(rig.hits()).toEqual([2, 2])
    },
  )

  test('with retries and a short Retry-After › asks the same provider again', async () => {
    let asked = 0
    await using rig = await startRig(
      [(exchange) => (asked++ === 0 ? status(429, { 'retry-after-ms': '50' }) : good({ name: 'a' }))(exchange), good()],
      { every: { retries: 1 } },
    )
    expect((await rig.ask()).content).toBe(goodText({ name: 'a' }))
    expect(rig.hits()).toEqual([2, 0])
  })

  test.concurrent.each([
    ['0 s', { 'retry-after': '0' }],
    ['1 ms', { 'retry-after-ms': '1' }],
  ] as const)('with retries and a Retry-After of %s › waits 250 ms, then 500 ms', async (_, headers) => {
    await using rig = await startRig([status(429, headers), good()], { every: { retries: 2 } })
    expect((await rig.ask()).content).toBe(goodText())
    expect(rig.hits()).toEqual([3, 1])
    const [first = 0, second = 0, third = 0] = rig.upstreams[0]?.hits.map(({ at }) => at) ?? []
    // Timers may fire a millisecond early.
    expect(second - first).toBeGreaterThan(248)
    expect(third - second).toBeGreaterThan(498)
  })

  test('with retries and a long Retry-After › moves on', async () => {
    await using rig = await startRig([status(429, { 'retry-after': '4' }), good()], { every: { retries: 2 } })
    expect((await rig.ask()).content).toBe(goodText())
    expect(rig.hits()).toEqual([1, 1])
  })
})

describe('row 19 › retries', () => {
  test.each([500, 503])('%d once, with retries › the same provider answers', async (code) => {
    let asked = 0
    await using rig = await startRig(
      [(exchange) => (asked++ === 0 ? status(code) : good({ name: 'a' }))(exchange), good()],
      { every: { retries: 1 } },
    )
    const answer = await rig.ask()
    expect([answer.content, answer.headers.get('x-svc-attempts')]).toEqual([goodText({ name: 'a' }), '2'])
    expect(rig.hits()).toEqual([2, 0])
  })

  test('500 every time, with retries › moves on when they are used up', async () => {
    await using rig = await startRig([status(500), good()], { each: { a: { retries: 1 } } })
    expect((await rig.ask()).content).toBe(goodText())
    expect(rig.hits()).toEqual([2, 1])
  })

  testOnRows(
    '%s, with retries › is not asked again',
    beforeGood([400, 401, 402, 404, 413].map((code) => [String(code), status(code)])),
    async (rig) => {
      await rig.ask()
      expect(rig.hits()).toEqual([1, 1])
    },
    { every: { retries: 2 } },
  )
})

describe('a cool-down', () => {
  test('does not begin while successes lie between', async () => {
    let asked = 0
    await using rig = await startRig([
      (exchange) => (asked++ % 3 === 2 ? good({ name: 'a' }) : status(401))(exchange),
      good(),
    ])
    await askTimes(rig, 9)
    expect(rig.hits()).toEqual([9, 6])
  })

  test('of a key that only a status refuses is the whole provider’s once a second model confirms it', async () => {
    const key = faultUpstream(status(401)),
      gone = faultUpstream(saying(404, { message: 'no', code: 'model_not_found' })),
      last = faultUpstream(good())
    await using service = await startService({
      providers: [
        provider('key', key.url, ['k1', 'k2']),
        provider('gone', gone.url, ['g1', 'g2']),
        provider('last', last.url, ['k1', 'k2', 'g1', 'g2']),
      ],
    })
    for (const model of ['k1', 'k1', 'k1', 'k2', 'k2', 'g1', 'g1', 'g1', 'g2'])
      expect((await chat(service.url, question({ model }))).status).toBe(200)
    expect([key.hits.length, gone.hits.length]).toEqual([4, 4])
    for (const upstream of [key, gone, last]) upstream.stop()
  })

  test('of a key that the list of models refuses too is the whole provider’s', async () => {
    const key = faultUpstream(status(401)),
      last = faultUpstream(good())
    await using service = await startService({
      providers: [provider('key', key.url, [], { models: '*' }), provider('last', last.url, [], { models: '*' })],
    })
    const asked = ({ hits }: FaultUpstream) => hits.filter(({ method }) => method === 'POST').length
    for (const model of ['k1', 'k1', 'k1', 'k2'])
      expect((await chat(service.url, question({ model }))).status).toBe(200)
    expect([asked(key), asked(last)]).toEqual([3, 4])
    key.stop()
    last.stop()
  })

  test.each([
    ['a key', 401, { message: 'Incorrect API key provided', code: 'invalid_api_key' }, [3, 3]],
    ['an account without credit', 429, { message: 'Your credits are exhausted' }, [3, 3]],
    ['a country', 400, { message: 'Your location is not supported' }, [3, 3]],
    ['the quota of one model', 403, { message: 'no', code: 'AllocationQuota.FreeTierOnly' }, [4, 3]],
    ['content', 403, { message: 'The content violates usage guidelines' }, [9, 0]],
    ['a length', 500, { message: 'Prompt length (9) exceeds maximum input length (8)' }, [9, 9]],
    ['a template', 500, { message: 'conversation roles must alternate' }, [9, 9]],
  ] as const)('of %s with %d › rests as much as it concerns', async (_, code, error, [first, second]) => {
    const upstream = faultUpstream(saying(code, error)),
      last = faultUpstream(good())
    await using service = await startService({
      providers: [provider('first', upstream.url, ['a', 'b']), provider('last', last.url, ['a', 'b'])],
    })
    for (const model of ['a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'b']) await chat(service.url, question({ model }))
    const asked = upstream.hits.length
    expect([asked, last.hits.length > 0]).toEqual([first, second > 0])
    upstream.stop()
    last.stop()
  })

  test('of everyone › they are tried anyway, in order', async () => {
    await using rig = await startRig([status(401), status(401)])
    await askTimes(rig, 6)
    expect(rig.hits()).toEqual([6, 6])
  })
})

describe('the circuit breaker', () => {
  test('a skipped provider is not counted as an attempt', async () => {
    await using rig = await startRig([status(500), good()])
    await askTimes(rig, 6)
    const answer = await rig.ask()
    expect([answer.headers.get('x-svc-attempts'), trailOf(answer).length]).toEqual(['1', 1])
  })

  test('does not skip the only provider', async () => {
    await using rig = await startRig([status(500)])
    await askTimes(rig, 8)
    expect(rig.hits()).toEqual([8])
  })

  test('stays closed when a provider refuses pictures with 500: text still goes there', async () => {
    const seesNothing: Script = (exchange) =>
      (Buffer.from(exchange.hit.body).includes('image_url')
        ? saying(500, { code: 500, message: 'image input is not supported', type: 'server_error' })
        : good({ name: 'a' }))(exchange)
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    await using rig = await startRig([seesNothing, good()], { every: { retries: 1 } })
    for (let round = 0; round < 6; round++) {
      const answer = await rig.ask({ messages: [{ role: 'user', content: [picture] }] })
      expect(trailOf(answer).map(({ name, class: failure }) => `${name} ${failure ?? ''}`)).toEqual([
        'a bad_request',
        'b ',
      ])
    }
    expect((await rig.ask()).headers.get('x-svc-provider')).toBe('a')
    expect(rig.hits()).toEqual([7, 6])
  })

  test('is one model’s: another model at the same provider is still asked', async () => {
    const first = faultUpstream((exchange) =>
        (Buffer.from(exchange.hit.body).includes('"m1"') ? status(500) : good({ name: 'a' }))(exchange),
      ),
      second = faultUpstream(good())
    await using service = await startService({
      providers: [provider('first', first.url, ['m1', 'm2']), provider('second', second.url, ['m1', 'm2'])],
    })
    for (let round = 0; round < 6; round++) await chat(service.url, question({ model: 'm1' }))
    expect((await chat(service.url, question({ model: 'm2' }))).headers.get('x-svc-provider')).toBe('first')
    first.stop()
    second.stop()
  })

  test('counts on when a stream ends well that began before the provider failed', async () => {
    const talk = talker()
    await using rig = await startRig([talk.script, good()])
    const stream = rig.askStream(),
      old = await talk.next()
    await old.say('begun')
    rig.upstreams[0]?.use(status(500))
    await askTimes(rig, 4)
    await old.finish()
    expect((await stream).headers.get('x-svc-provider')).toBe('a')
    await askTimes(rig, 3)
    expect(rig.hits()).toEqual([6, 7])
  })

  test.concurrent.each([
    ['the first in order', 0],
    ['one that is reached by failing over', 1],
  ] as const)(
    'after its time lets one real request probe %s, and a success closes it',
    async (_, place) => {
      const refusing: readonly Script[] = place === 0 ? [] : [status(400)]
      await using rig = await startRig([...refusing, status(500), good()])
      const id = place === 0 ? 'a' : 'b'
      await askTimes(rig, 6)
      expect(rig.hits()[place]).toBe(5)
      // Open for 5 s, ± 20 %.
      await Bun.sleep(3_800)
      await rig.ask()
      expect(rig.hits()[place]).toBe(5)
      await Bun.sleep(2_300)
      rig.upstreams[place]?.use(async (exchange) => {
        await exchange.pause(150)
        await good({ name: id })(exchange)
      })
      const answers = await Promise.all(Array.from({ length: 5 }, () => rig.ask()))
      expect(answers.map(({ headers }) => headers.get('x-svc-provider')).filter((served) => served === id).length).toBe(
        1,
      )
      expect(rig.hits()[place]).toBe(6)
      expect((await rig.ask()).headers.get('x-svc-provider')).toBe(id)
    },
    15_000,
  )
})

describe('the circuit breaker of a provider with retries', () => {
  test.concurrent('counts requests, not attempts; its probe makes one attempt', async () => {
    await using rig = await startRig([status(500), good()], { each: { a: { retries: 1 } } })
    await Promise.all(Array.from({ length: 4 }, () => rig.ask()))
    expect(rig.hits()).toEqual([8, 4])
    await askTimes(rig, 3)
    expect(rig.hits()).toEqual([10, 7])
    // Open for 5 s, ± 20 %.
    await Bun.sleep(6_100)
    expect(trailOf(await rig.ask()).map(({ name }) => name)).toEqual(['a', 'b'])
    expect(rig.hits()).toEqual([11, 8])
  }, 15_000)

  test('counts no failure of a request that a retry saves', async () => {
    let asked = 0
    await using rig = await startRig(
      [(exchange) => (asked++ < 6 ? status(500) : good({ name: 'a' }))(exchange), good()],
      { each: { a: { retries: 1 } } },
    )
    const saved = Promise.all(Array.from({ length: 6 }, () => rig.ask()))
    while (asked < 6) await rig.upstreams[0]?.nextHit()
    await Bun.sleep(50)
    expect((await rig.ask()).headers.get('x-svc-provider')).toBe('a')
    expect((await saved).map(({ headers }) => headers.get('x-svc-provider'))).toEqual(Array(6).fill('a'))
  })

  test('a short Retry-After keeps other requests away while the retry waits', async () => {
    let asked = 0
    await using rig = await startRig(
      [(exchange) => (asked++ === 0 ? status(503, { 'retry-after': '1' }) : good({ name: 'a' }))(exchange), good()],
      { each: { a: { retries: 1 } } },
    )
    const seen = rig.upstreams[0]?.nextHit(),
      first = rig.ask()
    await seen
    await Bun.sleep(100)
    expect((await rig.ask()).headers.get('x-svc-provider')).toBe('b')
    expect((await first).headers.get('x-svc-provider')).toBe('a')
  })
})

describe('max_concurrent', () => {
  test.each([
    ['plain', false],
    ['streaming', true],
  ] as const)(
    'of a provider that is reached by failing over › is kept, however many come at once, %s',
    async (_, stream) => {
      const { script, most } = crowded(40, good({ name: 'b' }))
      const refusing: Script = async (exchange) => {
        await exchange.pause(30)
        await status(400)(exchange)
      }
      await using rig = await startRig([refusing, script, good({ name: 'c' })], { each: { b: { max_concurrent: 2 } } })
      const answers = await Promise.all(Array.from({ length: 12 }, () => rig.ask({ stream })))
      expect(most()).toBe(2)
      const served = answers.map(({ status, headers }) => `${status} ${headers.get('x-svc-provider')}`)
      expect([...new Set(served)].toSorted()).toEqual(['200 b', '200 c'])
      expect(rig.hits()[2]).toBe(12 - (rig.hits()[1] ?? 0))
    },
  )

  test('of the last provider, reached by failover › requests above its limit get 503 with Retry-After', async () => {
    const { script, most } = crowded(60, good({ name: 'b' }))
    await using rig = await startRig([status(400), script], { each: { b: { max_concurrent: 1 } } })
    const answers = await Promise.all(Array.from({ length: 4 }, () => rig.ask()))
    expect(most()).toBe(1)
    expect([
      ...new Set(
        answers
          .filter(({ status }) => status !== 200)
          .map(({ status, headers }) => `${status} ${headers.get('x-should-retry')}`),
      ),
    ]).toEqual(['502 true'])
  })

  test('of a provider that is asked again › is kept between and during its retries', async () => {
    const { script, most } = crowded(30, status(500))
    await using rig = await startRig([script, crowded(300, good({ name: 'b' })).script], {
      each: { a: { max_concurrent: 1, retries: 1 } },
    })
    const asked: Promise<unknown>[] = []
    for (let round = 0; round < 12; round++) {
      asked.push(rig.ask())
      await Bun.sleep(30)
    }
    await Promise.all(asked)
    expect(most()).toBe(1)
  })

  test('of a provider › above it the provider is skipped, which is no failure', async () => {
    await using rig = await startRig([good({ name: 'a', pauseMs: 60 }), good({ name: 'b' })], {
      each: { a: { max_concurrent: 2 } },
    })
    const answers = await Promise.all(Array.from({ length: 5 }, () => rig.askStream()))
    expect(answers.map(({ headers }) => headers.get('x-svc-provider')).toSorted()).toEqual(['a', 'a', 'b', 'b', 'b'])
    expect((await rig.ask()).headers.get('x-svc-provider')).toBe('a')
  })

  test('of all providers › 503 and Retry-After', async () => {
    await using rig = await startRig([good({ pauseMs: 60 })], { each: { a: { max_concurrent: 1 } } })
    const answers = await Promise.all([rig.askStream(), rig.askStream()])
    const refused = answers.find((answer) => answer.status !== 200)
    expect([refused?.status, refused?.headers.get('x-should-retry')]).toEqual([503, 'true'])
    expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/)
  })

  test('of the service › 503, overloaded, and Retry-After', async () => {
    await using rig = await startRig([good({ pauseMs: 60 })], { limits: { max_concurrent: 1 } })
    const answers = await Promise.all([rig.askStream(), rig.askStream()])
    const refused = answers.find((answer) => answer.status !== 200)
    expect([refused?.status, refused?.json]).toMatchObject([
      503,
      { error: { type: 'overloaded_error', code: 'overloaded' } },
    ])
    expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(rig.hits()).toEqual([1])
  })
})
