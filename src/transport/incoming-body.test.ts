import { describe, expect, test } from 'bun:test'
import { incomingBody } from './incoming-body.ts'
import { TransportError } from './transport.ts'
import { sliceBytes } from './turns.ts'

function watched() {
  const calls: string[] = []
  const incoming = incomingBody(
    {
      hasArrived: () => false,
      hold: () => void calls.push('hold'),
      release: () => void calls.push('release'),
      drop: () => void calls.push('drop'),
    },
    false,
  )
  return { incoming, body: incoming.body, calls }
}

const half = new Uint8Array(sliceBytes / 2)
const cut = new TransportError('short_body', 'cut')

describe('a body', () => {
  test('hands on each piece itself, in order, then the end', async () => {
    const { incoming, body } = watched()
    const pieces = [new Uint8Array([1]), new Uint8Array([2]), new Uint8Array([3])] as const
    const early = body.read()
    for (const piece of pieces) incoming.push(piece)
    incoming.end()
    expect(await early).toBe(pieces[0])
    expect(await body.read()).toBe(pieces[1])
    expect(await body.read()).toBe(pieces[2])
    expect(await body.read()).toBeUndefined()
    expect(await body.read()).toBeUndefined()
  })

  test('keeps the order of thousands of pieces', async () => {
    const { incoming, body } = watched()
    for (let index = 0; index < 5_000; index++) incoming.push(new Uint8Array([index & 255]))
    for (let index = 0; index < 5_000; index++) expect((await body.read())?.[0]).toBe(index & 255)
  })

  test('is held back when its reader has a slice that it does not read, and goes on when that is read', async () => {
    const { incoming, body, calls } = watched()
    incoming.push(half)
    expect(calls).toEqual([])
    for (let index = 0; index < 2; index++) incoming.push(half)
    expect(calls).toEqual(['hold'])
    for (let index = 0; index < 2; index++) await body.read()
    expect(calls).toEqual(['hold'])
    await body.read()
    expect(calls).toEqual(['hold', 'release'])
  })

  test('is held back in spite of how small its pieces are', () => {
    const { incoming, calls } = watched()
    for (let index = 0; index < 100; index++) incoming.push(new Uint8Array(1))
    expect(calls).toEqual(['hold'])
  })

  test('is not held back by a reader of the whole', async () => {
    const { incoming, body, calls } = watched()
    for (let index = 0; index < 3; index++) incoming.push(half)
    const all = body.readAll()
    for (let index = 0; index < 3; index++) incoming.push(half)
    incoming.end()
    expect((await all).length).toBe(6 * half.length)
    expect(calls).toEqual(['hold', 'release'])
  })

  test('is refused a piece that the reader of the whole may not hold', async () => {
    const { incoming, body } = watched()
    const asked: number[] = []
    const all = body.readAll((bytes) => asked.push(bytes) < 2)
    incoming.push(half)
    expect(() => incoming.push(half)).toThrow(expect.objectContaining({ kind: 'resources' }))
    incoming.fail(cut, false)
    expect(all).rejects.toBe(cut)
    expect(asked).toEqual([half.length, half.length])
  })

  test('that has ended leaves its connection to others, and asks nothing more of it', async () => {
    const { incoming, body, calls } = watched()
    for (let index = 0; index < 3; index++) incoming.push(half)
    incoming.end()
    expect(calls).toEqual(['hold', 'release'])
    for (let index = 0; index < 3; index++) await body.read()
    body.cancel()
    expect(calls).toEqual(['hold', 'release'])
  })

  test('of one piece is read whole without a copy', async () => {
    const { incoming, body } = watched()
    incoming.push(half)
    incoming.end()
    expect(await body.readAll()).toBe(half)
  })

  test('that breaks can be read as far as it came', async () => {
    const { incoming, body } = watched()
    incoming.push(half)
    incoming.fail(cut, true)
    expect(await body.read()).toBe(half)
    expect(body.read()).rejects.toBe(cut)
    expect(body.readAll()).rejects.toBe(cut)
  })

  test('that breaks wakes its reader', async () => {
    for (const way of ['read', 'readAll'] as const) {
      const { incoming, body } = watched()
      const waiting: Promise<unknown> = body[way]()
      incoming.fail(cut, true)
      expect(waiting).rejects.toBe(cut)
    }
  })

  test('that was dropped with bytes left never looks complete', async () => {
    const { incoming, body } = watched()
    incoming.push(half)
    incoming.end()
    body.cancel()
    expect(body.read()).rejects.toMatchObject({ kind: 'aborted' })
  })
})
