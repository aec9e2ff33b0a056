import { describe, expect, test } from 'bun:test'
import { Changes } from '../changes.ts'
import type { UpstreamFailure } from '../failure.ts'
import { healthBook } from '../health/health.ts'
import { stack, type Layer } from '../service.ts'
import { callOf, failureOf, fakeClock, rejection } from '../testing.ts'
import { observed } from './observed.ts'
import { retry } from './retry.ts'
import { traced } from './traced.ts'

const target = { system: 'groq', address: 'groq.test', port: 443 }

interface Reply {
  readonly text: string
}

function subject({ isProbe = false } = {}) {
  const clock = fakeClock()
  const settled: string[] = []
  const health = {
    unavailable: () => undefined,
    retrying: () => undefined,
    begin: () => ({
      isProbe,
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
  const outer = observed<string, Reply>({
    health,
    now: clock.now,
    onEnd: (_reply, listener) => void ends.push(listener),
  })
  const layer: Layer<string, Reply> = (inner) => stack(inner, outer, traced({ name: 'groq', target, now: clock.now }))
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
  test('that is answered is in the trail with its time, and returns the reply', async () => {
    const { layer, clock, settled } = subject()
    const call = callOf()
    const reply = await layer(async () => {
      clock.pass(340)
      return { text: 'hello' }
    })('', call)
    expect(reply).toEqual({ text: 'hello' })
    expect(call.trail).toEqual([{ name: 'groq', status: 200, ms: 340 }])
    expect(settled).toEqual(['answered'])
  })

  test('succeeds when the reply has completed', async () => {
    const { layer, settled, end } = subject()
    await layer(async () => ({ text: '' }))('', callOf())
    end(undefined)
    expect(settled).toEqual(['answered', 'succeeded'])
  })

  test('fails when the reply is cut, and marks its entry in the trail', async () => {
    const { layer, settled, end, clock } = subject()
    const call = callOf()
    await layer(async () => ({ text: '' }))('', call)
    clock.pass(500)
    end(failureOf('cut'))
    expect(settled).toEqual(['answered', 'failed: cut'])
    expect(call.trail).toEqual([{ name: 'groq', status: 200, failure: 'cut', reason: 'it was cut', ms: 500 }])
  })

  test('is abandoned when the caller leaves during the reply', async () => {
    const { layer, settled, end } = subject()
    const call = callOf()
    await layer(async () => ({ text: '' }))('', call)
    end(new Error('cancelled'))
    expect(settled).toEqual(['answered', 'abandoned'])
    expect(call.trail).toHaveLength(1)
  })

  test('that fails is in the trail with its class, status and reason', async () => {
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

  test('whose work may have been done is marked as ambiguous', async () => {
    const { layer } = subject()
    const call = callOf()
    await rejection(
      layer(async () => {
        throw failureOf('reset', { ambiguous: true })
      })('', call),
    )
    expect(call.trail).toEqual([{ name: 'groq', failure: 'reset', reason: 'it was reset', ms: 0, ambiguous: true }])
  })

  test('is abandoned when the caller has left (failover.md row 40)', async () => {
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

  test('is abandoned when the service lacks resources (failover.md rule 5)', async () => {
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

  test('is abandoned after an internal error', async () => {
    const { layer, settled } = subject()
    const internalError = new TypeError('ours')
    expect(
      await rejection(
        layer(async () => {
          throw internalError
        })('', callOf()),
      ),
    ).toBe(internalError)
    expect(settled).toEqual(['abandoned'])
  })

  test('notes what was not sent, also as a probe', async () => {
    const { layer } = subject({ isProbe: true })
    const call = { ...callOf(), changes: new Changes() }
    await layer(async (_request, { changes }) => {
      changes?.drop('reasoning')
      return { text: '' }
    })('', call)
    expect(call.changes.dropped).toEqual(['reasoning'])
  })

  test('that is cut keeps the facts that were noted since it was answered', async () => {
    const { layer, end } = subject()
    const call = callOf()
    await layer(async () => ({ text: '' }))('', call)
    call.trail[0] = { name: 'groq', status: 200, ms: 0, answerTokensMax: 100 }
    end(failureOf('cut'))
    expect(call.trail).toMatchObject([{ failure: 'cut', answerTokensMax: 100 }])
  })

  test('is marked as a probe for the inner layers only when it is one', async () => {
    const seen: unknown[] = []
    for (const isProbe of [true, false]) {
      await subject({ isProbe }).layer(async (_, call) => {
        seen.push(call.isProbe)
        return { text: '' }
      })('', callOf())
    }
    expect(seen).toEqual([true, undefined])
  })

  test('with retries inside is settled once, by its last attempt; the trail has all of them', async () => {
    const clock = fakeClock(),
      settled: string[] = [],
      waited: string[] = []
    const health = {
      unavailable: () => undefined,
      retrying: ({ failure }: UpstreamFailure) => {
        waited.push(failure)
      },
      begin: () => ({
        isProbe: false,
        answered() {},
        succeeded() {},
        abandoned() {},
        failed: ({ failure }: UpstreamFailure) => {
          settled.push(failure)
        },
      }),
    }
    const failures = [failureOf('overloaded', { retryAfterMs: 1 }), failureOf('reset')]
    const call = callOf()
    await rejection(
      stack<string, Reply>(
        async () => {
          throw failures[call.trail.length]
        },
        observed({ health, now: clock.now, onEnd: () => undefined }),
        retry({ retries: 5, sleep: async () => undefined, onRetry: health.retrying }),
        traced({ name: 'groq', target, now: clock.now }),
      )('', call),
    )
    expect({ settled, waited, trail: call.trail.map(({ failure }) => failure) }).toEqual({
      settled: ['reset'],
      waited: ['overloaded'],
      trail: ['overloaded', 'reset'],
    })
  })

  test('tells callers apart, for keys that only a status refuses', async () => {
    const book = healthBook(fakeClock().now, () => 0.5)
    const options = { now: fakeClock().now, onEnd: () => undefined }
    const service = observed<string, Reply>({ health: book.of('groq', 'm'), ...options })(async () => {
      throw failureOf('credential', { isUnproven: true })
    })
    for (const id of ['ann', 'ann', 'ann']) await rejection(service('', { ...callOf(), callerId: () => id }))
    expect(book.of('groq', 'other').unavailable()).toBeUndefined()
    await rejection(service('', { ...callOf(), callerId: () => 'bob' }))
    expect(book.of('groq', 'other').unavailable()?.reason).toBe('cool_down')
  })

  test('opens a real breaker at the fifth failure', async () => {
    const clock = fakeClock()
    const book = healthBook(clock.now, () => 0.5)
    const layer = observed<string, Reply>({ health: book.of('groq', 'm'), now: clock.now, onEnd: () => undefined })
    const service = layer(async () => {
      throw failureOf('timeout')
    })
    for (let time = 0; time < 5; time += 1) await rejection(service('', callOf()))
    expect(book.of('groq', 'm').unavailable()).toEqual({ reason: 'open', remainingMs: 5_000 })
  })
})
