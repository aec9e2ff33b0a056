import { describe, expect, test } from 'bun:test'
import { answerOf, chat, errorOf, isDone, question, rawChat, rawConnection } from '../client.ts'
import type { Script } from '../fakes/fault-upstream.ts'
import { firstTokens } from '../fakes/faults/cut.ts'
import { good, goodText } from '../fakes/good.ts'
import { framed, streamHead } from '../fakes/replies.ts'
import { startRig } from '../rig.ts'

const endless: Script = async (exchange) => {
  await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens('a'))]))
  await exchange.hang()
}

describe('row 41 › draining', () => {
  test('SIGTERM during a stream › it finishes, and the service exits with 0', async () => {
    await using rig = await startRig([good({ tokens: 30, pauseMs: 10 })])
    const answer = rig.askStream()
    await rig.upstreams[0]?.nextHit()
    rig.service.signal('SIGTERM')
    const { content, ...rest } = await answer
    expect([content, isDone({ content, ...rest })]).toEqual([goodText({ tokens: 30 }), true])
    expect(await rig.service.exited).toBe(0)
  })

  test.each(['SIGHUP', 'SIGUSR2'] as const)(
    '%s meanwhile › changes nothing: what is open finishes, and the service exits with 0',
    async (signal) => {
      await using rig = await startRig([good({ tokens: 50, pauseMs: 10 })], {
        environment: { SVC_DRAIN_WINDOW_MS: '300' },
      })
      const answer = rig.askStream()
      await rig.upstreams[0]?.nextHit()
      rig.service.signal('SIGTERM')
      while ((await fetch(`${rig.service.url}/ready`)).status === 200) await Bun.sleep(5)
      rig.service.signal(signal)
      expect((await answer).content).toBe(goodText({ tokens: 50 }))
      expect(await rig.service.exited).toBe(0)
    },
  )

  test('/ready fails at once, /health does not, and new requests are served within the window', async () => {
    await using rig = await startRig([good({ tokens: 30, pauseMs: 10 })], {
      environment: { SVC_DRAIN_WINDOW_MS: '300' },
    })
    expect((await fetch(`${rig.service.url}/ready`)).status).toBe(200)
    rig.service.signal('SIGTERM')
    await Bun.sleep(30)
    const [ready, health, answer] = await Promise.all([
      fetch(`${rig.service.url}/ready`),
      fetch(`${rig.service.url}/health`),
      rig.ask(),
    ])
    expect([ready.status, health.status, answer.status]).toEqual([503, 200, 200])
    expect(await rig.service.exited).toBe(0)
  })

  test.each([
    ['on connections of their own', false],
    ['on kept connections', true],
  ] as const)(
    'under steady load, %s › refuses new connections after the window, answers every accepted request, ' +
      'and exits with 0 long before the deadline',
    async (_, keepalive) => {
      const windowMs = 300
      await using rig = await startRig([good({ pauseMs: 30 })], {
        environment: { SVC_DRAIN_WINDOW_MS: String(windowMs), SVC_DRAIN_MS: '10000' },
      })
      const statuses: number[] = []
      let refusedAt = Number.POSITIVE_INFINITY
      const clients = Array.from({ length: 16 }, async () => {
        while (refusedAt === Number.POSITIVE_INFINITY) {
          try {
            const response = await fetch(`${rig.service.url}/v1/chat/completions`, {
              method: 'POST',
              body: JSON.stringify(question({ stream: true })),
              keepalive,
            })
            if (isDone(answerOf(response, await response.text()))) statuses.push(response.status)
          } catch {
            // Refused, or never accepted: accepted requests are counted at the upstream.
            refusedAt = Math.min(refusedAt, performance.now())
          }
        }
      })
      await Bun.sleep(300)
      const stoppedAt = performance.now()
      rig.service.signal('SIGTERM')
      expect(await rig.service.exited).toBe(0)
      const exitMs = performance.now() - stoppedAt
      await Promise.all(clients)
      expect(refusedAt - stoppedAt).toBeGreaterThan(windowMs - 50)
      expect(exitMs).toBeLessThan(3_000)
      expect(statuses.length).toBeGreaterThan(16)
      expect([...new Set(statuses)]).toEqual([200])
      expect(statuses.length).toBe(rig.hits()[0] ?? 0)
    },
    15_000,
  )

  test('SIGINT twice › ends at once', async () => {
    await using rig = await startRig([endless])
    const client = rawConnection(rig.service.port, rawChat(JSON.stringify(question({ stream: true }))))
    await client.until('a-2')
    rig.service.signal('SIGINT')
    // A second signal before the first is handled would count as one.
    const isReady = () =>
      fetch(`${rig.service.url}/ready`).then(
        ({ status }) => status === 200,
        () => false,
      )
    while (await isReady()) await Bun.sleep(5)
    const started = performance.now()
    rig.service.signal('SIGINT')
    expect(await rig.service.exited).not.toBe(0)
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})

describe('row 42 › our own resources', () => {
  test('out of descriptors › 503 or no connection, no failure of a provider, and all works afterwards', async () => {
    await using rig = await startRig([good({ name: 'a', tokens: 3, pauseMs: 100 }), good({ name: 'b' })], {
      descriptors: 64,
    })
    const answers = await Promise.allSettled(
      Array.from({ length: 100 }, () =>
        chat(rig.service.url, question({ stream: true }), {
          headers: { connection: 'close' },
          signal: AbortSignal.timeout(4_000),
        }),
      ),
    )
    const seen = answers.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    const refused = seen.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    expect([
      ...new Set(
        refused.map((answer) => `${answer.status} ${String(errorOf(answer)?.type)} ${String(errorOf(answer)?.code)}`),
      ),
    ]).toEqual(['503 overloaded_error overloaded'])
    expect(refused.filter(({ headers }) => headers.get('retry-after') === null)).toEqual([])
    expect([...new Set(seen.filter(({ status }) => status === 200).map((answer) => answer.content))]).toEqual([
      goodText({ name: 'a' }),
    ])
    expect(rig.hits()[1]).toBe(0)
    await Bun.sleep(100)
    expect((await rig.ask()).headers.get('x-svc-provider')).toBe('a')
  }, 15_000)
})
