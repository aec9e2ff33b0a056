import { describe, expect, test } from 'bun:test'
import { incomingBody } from './incoming-body.ts'
import { readBytesMax } from './read-scheduler.ts'
import { TransportError } from './transport.ts'

function watched() {
  const calls: string[] = []
  const incoming = incomingBody(
    {
      hasPendingBytes: () => false,
      pause: () => void calls.push('pause'),
      resume: () => void calls.push('resume'),
      drop: () => void calls.push('drop'),
    },
    false,
  )
  return { incoming, body: incoming.body, calls }
}

const half = new Uint8Array(readBytesMax / 2)
const cut = new TransportError('short_body', 'cut')

describe('a body', () => {
  test('passes on each piece without copying, in order, then the end', async () => {
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

  test('pauses its source while the reader leaves a slice unread, and resumes it afterwards', async () => {
    const { incoming, body, calls } = watched()
    incoming.push(half)
    expect(calls).toEqual([])
    for (let index = 0; index < 2; index++) incoming.push(half)
    expect(calls).toEqual(['pause'])
    for (let index = 0; index < 2; index++) await body.read()
    expect(calls).toEqual(['pause'])
    await body.read()
    expect(calls).toEqual(['pause', 'resume'])
  })

  test('pushes pieces to a receiver while it takes them, and to no other', async () => {
    const { incoming, body, calls } = watched()
    const received: (number | undefined)[] = []
    const receiverOf = (count: number) => ({
      receive(bytes: Uint8Array | undefined) {
        received.push(bytes?.[0])
        return received.length < count
      },
      fail: (error: TransportError) => void calls.push(error.kind),
    })
    const push = (...pieces: readonly number[]) => pieces.forEach((each) => incoming.push(new Uint8Array([each])))
    push(1)
    body.readTo?.(receiverOf(3))
    expect(received).toEqual([])
    await Promise.resolve()
    push(2, 3, 4)
    expect(received).toEqual([1, 2, 3])
    body.readTo?.(receiverOf(9))
    await Promise.resolve()
    incoming.fail(cut, true)
    expect([received, calls]).toEqual([[1, 2, 3, 4], ['short_body']])
  })

  test('pauses its source after many small pieces', () => {
    const { incoming, calls } = watched()
    for (let index = 0; index < 100; index++) incoming.push(new Uint8Array(1))
    expect(calls).toEqual(['pause'])
  })

  test('does not pause its source during readAll', async () => {
    const { incoming, body, calls } = watched()
    for (let index = 0; index < 3; index++) incoming.push(half)
    const all = body.readAll()
    for (let index = 0; index < 3; index++) incoming.push(half)
    incoming.end()
    expect((await all).length).toBe(6 * half.length)
    expect(calls).toEqual(['pause', 'resume'])
  })

  test('throws for a piece that readAll cannot reserve memory for', async () => {
    const { incoming, body } = watched()
    const asked: number[] = []
    const all = body.readAll({ reserve: (bytes) => asked.push(bytes) < 2 })
    incoming.push(half)
    expect(() => incoming.push(half)).toThrow(expect.objectContaining({ kind: 'resources' }))
    incoming.fail(cut, false)
    expect(all).rejects.toBe(cut)
    expect(asked).toEqual([half.length, half.length])
  })

  test('that has ended calls its source no more', async () => {
    const { incoming, body, calls } = watched()
    for (let index = 0; index < 3; index++) incoming.push(half)
    incoming.end()
    expect(calls).toEqual(['pause', 'resume'])
    for (let index = 0; index < 3; index++) await body.read()
    body.cancel()
    expect(calls).toEqual(['pause', 'resume'])
  })

  test('of one piece is read whole without a copy', async () => {
    const { incoming, body } = watched()
    incoming.push(half)
    incoming.end()
    expect(await body.readAll()).toBe(half)
  })

  test('that fails can be read up to the failure', async () => {
    const { incoming, body } = watched()
    incoming.push(half)
    incoming.fail(cut, true)
    expect(await body.read()).toBe(half)
    expect(body.read()).rejects.toBe(cut)
    expect(body.readAll()).rejects.toBe(cut)
  })

  test('that fails wakes its reader', async () => {
    for (const way of ['read', 'readAll'] as const) {
      const { incoming, body } = watched()
      const waiting: Promise<unknown> = body[way]()
      incoming.fail(cut, true)
      expect(waiting).rejects.toBe(cut)
    }
  })

  test('that was cancelled with unread bytes never looks complete', async () => {
    const { incoming, body } = watched()
    incoming.push(half)
    incoming.end()
    body.cancel()
    expect(body.read()).rejects.toMatchObject({ kind: 'aborted' })
  })
})
