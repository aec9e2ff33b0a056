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

  test('is read as it is, and has ended then', async () => {
    const { body, ends } = subject()
    expect(await new Response(body).bytes()).toEqual(bytes)
    expect(ends).toEqual([true])
  })

  test('is handed on in pieces, none before it is asked for', async () => {
    const { body, ends } = subject(),
      reader = body.getReader(),
      lengths: (number | undefined)[] = []
    for (let piece = 0; piece < 3; piece += 1) lengths.push((await reader.read()).value?.length)
    expect([lengths, ends]).toEqual([[65_536, 65_536, 18_928], []])
    expect((await reader.read()).done).toBe(true)
    expect(ends).toEqual([true])
  })

  test('ends when its reader leaves', async () => {
    const { body, cut, ends } = subject(),
      reader = body.getReader()
    await reader.read()
    await reader.cancel()
    cut()
    expect(ends).toEqual([false])
  })

  test('breaks off when it is cut, and ends once', async () => {
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

  test('breaks off when nobody reads it for so long, and not before', async () => {
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
