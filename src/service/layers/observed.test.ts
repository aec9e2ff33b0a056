import { describe, expect, test } from 'bun:test'
import type { UpstreamFailure } from '../failure.ts'
import { healthBook } from '../health.ts'
import { callOf, failureOf, fakeClock, rejection } from '../testing.ts'
import { observed } from './observed.ts'

interface Reply {
  readonly text: string
}

function subject() {
  const clock = fakeClock()
  const settled: string[] = []
  const health = {
    unavailable: () => undefined,
    begin: () => ({
      answered: () => {
        settled.push('answered')
      },
      succeeded: () => {
        settled.push('succeeded')
      },
      failed: ({ failure }: UpstreamFailure) => {
        settled.push(`failed: ${failure}`)
      },
      abandoned: () => {
        settled.push('abandoned')
      },
    }),
  }
  const ends: ((failure: unknown) => void)[] = []
  const layer = observed<string, Reply>({
    name: 'groq',
    health,
    now: clock.now,
    watchEnd(reply, onEnd) {
      ends.push(onEnd)
      return { text: `${reply.text}, watched` }
    },
  })
  return {
    clock,
    settled,
    layer,
    end: (failure: unknown) => {
      for (const each of ends.splice(0)) each(failure)
    },
  }
}

describe('an observed attempt', () => {
  test('that is answered stands in the trail with its time, and hands on the reply that is watched', async () => {
    const { layer, clock, settled } = subject()
    const call = callOf()
    const reply = await layer(async () => {
      clock.pass(340)
      return { text: 'hello' }
    })('', call)
    expect(reply).toEqual({ text: 'hello, watched' })
    expect(call.trail).toEqual([{ name: 'groq', status: 200, ms: 340 }])
    expect(settled).toEqual(['answered'])
  })

  test('succeeds when the reply has ended well', async () => {
    const { layer, settled, end } = subject()
    await layer(async () => ({ text: '' }))('', callOf())
    end(undefined)
    expect(settled).toEqual(['answered', 'succeeded'])
  })

  test('fails when the reply is cut, and says so in the trail', async () => {
    const { layer, settled, end, clock } = subject()
    const call = callOf()
    await layer(async () => ({ text: '' }))('', call)
    clock.pass(500)
    end(failureOf('cut'))
    expect(settled).toEqual(['answered', 'failed: cut'])
    expect(call.trail).toEqual([{ name: 'groq', status: 200, failure: 'cut', reason: 'it was cut', ms: 500 }])
  })

  test('is abandoned when the reply is no longer wanted', async () => {
    const { layer, settled, end } = subject()
    const call = callOf()
    await layer(async () => ({ text: '' }))('', call)
    end(new Error('cancelled'))
    expect(settled).toEqual(['answered', 'abandoned'])
    expect(call.trail).toHaveLength(1)
  })

  test('that fails stands in the trail with its class, status and reason', async () => {
    const { layer, settled, clock } = subject()
    const call = callOf()
    const failure = failureOf('rate_limit', { status: 429 })
    expect(
      await rejection(
        layer(async () => {
          clock.pass(12)
          throw failure
        })('', call),
      ),
    ).toBe(failure)
    expect(call.trail).toEqual([
      { name: 'groq', status: 429, failure: 'rate_limit', reason: 'it was rate_limit', ms: 12 },
    ])
    expect(settled).toEqual(['failed: rate_limit'])
  })

  test('that may have been done is marked as ambiguous', async () => {
    const { layer } = subject()
    const call = callOf()
    await rejection(
      layer(async () => {
        throw failureOf('reset', { ambiguous: true })
      })('', call),
    )
    expect(call.trail).toEqual([{ name: 'groq', failure: 'reset', reason: 'it was reset', ms: 0, ambiguous: true }])
  })

  test("is nobody's failure when the caller has left (failover.md row 40)", async () => {
    const { layer, settled } = subject()
    const call = callOf(AbortSignal.abort(new Error('gone')))
    await rejection(
      layer(async () => {
        throw failureOf('reset')
      })('', call),
    )
    expect(settled).toEqual(['abandoned'])
    expect(call.trail).toEqual([])
  })

  test("is not the upstream's failure when we are out of room (failover.md rule 5)", async () => {
    const { layer, settled } = subject()
    const call = callOf()
    await rejection(
      layer(async () => {
        throw failureOf('resources', { isFinal: true })
      })('', call),
    )
    expect(settled).toEqual(['abandoned'])
    expect(call.trail).toMatchObject([{ failure: 'resources' }])
  })

  test("is not the upstream's failure when we made a mistake", async () => {
    const { layer, settled } = subject()
    const mistake = new TypeError('ours')
    expect(
      await rejection(
        layer(async () => {
          throw mistake
        })('', callOf()),
      ),
    ).toBe(mistake)
    expect(settled).toEqual(['abandoned'])
  })

  test('opens the breaker of real health at the fifth', async () => {
    const clock = fakeClock()
    const book = healthBook(clock.now, () => 0.5)
    const layer = observed<string, Reply>({
      name: 'groq',
      health: book.of('groq', 'm'),
      now: clock.now,
      watchEnd: (reply) => reply,
    })
    const service = layer(async () => {
      throw failureOf('timeout')
    })
    for (let time = 0; time < 5; time += 1) await rejection(service('', callOf()))
    expect(book.of('groq', 'm').unavailable()).toEqual({ reason: 'open', remainingMs: 5_000 })
  })
})
