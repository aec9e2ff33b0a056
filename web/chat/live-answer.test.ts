import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Unreachable } from '../api/client.ts'
import { takeUp, unbroken } from './live-answer.ts'
import { apiError } from './testing.ts'

/** A response with bytes in these pieces, whose connection then breaks or ends. */
function responseOf(pieces: readonly Uint8Array<ArrayBuffer>[], isBroken: boolean): Response {
  const rest = [...pieces]
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        const next = rest.shift()
        if (next !== undefined) controller.enqueue(next)
        else if (isBroken) controller.error(new TypeError('network error'))
        else controller.close()
      },
    }),
    { headers: { 'x-svc-provider': 'a' } },
  )
}

describe('unbroken', () => {
  test('has every byte once, wherever connections break', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), fc.array(fc.nat(70)), async (all, breaks) => {
        const bytes = new Uint8Array(all)
        const ends = [...breaks]
        const connect = (from: number): Response => {
          const end = ends.shift()
          const until = Math.max(from, end ?? bytes.length)
          const middle = Math.min(until, from + 3)
          return responseOf([bytes.slice(from, middle), bytes.slice(middle, until)], end !== undefined)
        }
        const response = unbroken(connect(0), async (position) => connect(position))
        expect(await response.bytes()).toEqual(bytes)
        expect(response.headers.get('x-svc-provider')).toBe('a')
      }),
    )
  })

  test('breaks if the answer cannot be taken up', async () => {
    const response = unbroken(responseOf([new Uint8Array(3)], true), () => Promise.reject(new Unreachable('gone')))
    const outcome = await response.bytes().catch((error: unknown) => error)
    expect(outcome).toBeInstanceOf(Unreachable)
  })
})

describe('takeUp', () => {
  const waited: number[] = []
  const wait = async (ms: number): Promise<void> => void waited.push(ms)

  test('tries again while the service is not reached', async () => {
    let attempts = 0
    const found = await takeUp(async () => {
      if (++attempts < 3) throw new Unreachable('gone')
      return new Response('here')
    }, wait)
    expect([await found.text(), waited]).toEqual(['here', [500, 1_500]])
  })

  test.each([
    ['after the last attempt', new Unreachable('gone'), 3],
    ['at once if the service refuses', apiError(404, 'answer_not_found'), 1],
  ])('fails %s', async (_, error, expected) => {
    let attempts = 0
    const outcome = await takeUp(() => {
      attempts++
      return Promise.reject(error)
    }, wait).catch((caught: unknown) => caught)
    expect([outcome, attempts]).toEqual([error, expected])
  })
})
