import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { pacedBody } from './paced-body.ts'

const bytes = Uint8Array.from({ length: 150_000 }, (_, index) => index % 251)
const stallMs = 1_000

function subject() {
  const ends: boolean[] = []
  const { body, cut } = pacedBody({ bytes, stallMs, onEnd: (isWhole) => ends.push(isWhole) })
  return { body, cut, ends }
}

describe('a paced body', () => {
  beforeEach(() => {
    jest.useFakeTimers()
  })
  afterEach(() => {
    jest.useRealTimers()
  })

  test('is read unchanged, and ends', async () => {
    const { body, ends } = subject()
    expect(await new Response(body).bytes()).toEqual(bytes)
    expect(ends).toEqual([true])
  })

  test('is sent in pieces, each only on demand', async () => {
    const { body, ends } = subject(),
      reader = body.getReader(),
      lengths: (number | undefined)[] = []
    for (let piece = 0; piece < 3; piece += 1) lengths.push((await reader.read()).value?.length)
    expect([lengths, ends]).toEqual([[65_536, 65_536, 18_928], []])
    expect((await reader.read()).done).toBe(true)
    expect(ends).toEqual([true])
  })

  test('ends when its client leaves', async () => {
    const { body, cut, ends } = subject(),
      reader = body.getReader()
    await reader.read()
    await reader.cancel()
    cut()
    expect(ends).toEqual([false])
  })

  test('is aborted by a cut, and ends once', async () => {
    const { body, cut, ends } = subject(),
      reader = body.getReader()
    await reader.read()
    cut()
    cut()
    expect(
      await reader.read().then(
        () => 'more',
        () => 'broken',
      ),
    ).toBe('broken')
    expect(ends).toEqual([false])
  })

  test('is aborted after the stall time without a read, and not before', async () => {
    const { body, ends } = subject(),
      reader = body.getReader()
    jest.advanceTimersByTime(stallMs - 1)
    await reader.read()
    jest.advanceTimersByTime(stallMs - 1)
    expect(ends).toEqual([])
    jest.advanceTimersByTime(stallMs + 1)
    expect(ends).toEqual([false])
    expect(
      await reader.read().then(
        () => 'more',
        () => 'broken',
      ),
    ).toBe('broken')
  })
})
