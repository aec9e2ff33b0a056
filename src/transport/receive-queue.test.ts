import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readScheduler, readBytesMax, type ReadScheduler } from './read-scheduler.ts'
import { heldBytesMax, receiveQueue } from './receive-queue.ts'
import { cut } from './testing.ts'

interface Watched {
  readonly queue: ReturnType<typeof receiveQueue>
  /** The received blocks. */
  readonly received: Buffer[]
  /** Calls to the socket, and to `ended`. */
  readonly calls: string[]
}

function watched({
  scheduler = readScheduler(),
  bytesWithoutTurn = 0,
  onReceive = () => {},
}: {
  scheduler?: ReadScheduler
  bytesWithoutTurn?: number
  onReceive?: (queue: Watched['queue']) => void
} = {}): Watched {
  const received: Buffer[] = []
  const calls: string[] = []
  const queue = receiveQueue({
    scheduler,
    socket: { pause: () => void calls.push('pause'), resume: () => void calls.push('resume') },
    receiver: {
      receive(bytes) {
        received.push(bytes)
        onReceive(queue)
      },
      ended: (error) => void calls.push(error === undefined ? 'ended' : error.message),
      bytesWithoutTurn: () => bytesWithoutTurn,
    },
  })
  return { queue, received, calls }
}

/** A scheduler that grants requests only when `give` is called. */
function manualScheduler(): ReadScheduler & { give(): void } {
  const waiting: (() => void)[] = []
  return {
    take(_bytes, grant) {
      waiting.push(grant)
      return false
    },
    give: () => waiting.shift()?.(),
  }
}

const large = Buffer.alloc(heldBytesMax + 1)

describe('a receive queue', () => {
  test('passes on a small block itself, at once', () => {
    const { queue, received } = watched()
    const bytes = Buffer.from('token')
    queue.push(bytes)
    expect(received[0]).toBe(bytes)
    expect(queue.isIdle()).toBe(true)
  })

  test('passes on a large block in slices, a few in each turn', async () => {
    const { queue, received } = watched()
    queue.push(large)
    expect(received.length).toBeLessThan(8)
    while (!queue.isIdle()) await new Promise((resolve) => setImmediate(resolve))
    expect(Math.max(...received.map(({ length }) => length))).toBe(readBytesMax)
    expect(Buffer.concat(received).length).toBe(large.length)
  })

  test('passes on all bytes in order and closes last, wherever they are cut and whenever it is paused', async () => {
    const held = fc.array(fc.boolean(), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 90_000 }), { maxLength: 8 }), held, async (lengths, holds) => {
        let step = 0
        const { queue, received, calls } = watched({
          onReceive: (now) => {
            if (holds[step++] === true) now.pause()
          },
        })
        const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251))
        for (const block of cut(bytes, lengths)) queue.push(block)
        queue.close(undefined)
        while (!calls.includes('ended')) {
          queue.resume()
          await new Promise((resolve) => setImmediate(resolve))
        }
        expect(Buffer.concat(received).equals(bytes)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  test('pauses the socket when it is full, and resumes it when it is half full', () => {
    const scheduler = manualScheduler()
    const { queue, calls } = watched({ scheduler })
    queue.push(large)
    expect(calls).toEqual(['pause'])
    for (let index = 0; index < heldBytesMax / readBytesMax / 2; index++) scheduler.give()
    expect(calls).toEqual(['pause'])
    scheduler.give()
    expect(calls).toEqual(['pause', 'resume'])
  })

  test('pauses the socket after many small pieces', () => {
    const { queue, calls } = watched()
    queue.pause()
    for (let index = 0; index < 1_000; index++) queue.push(Buffer.alloc(1))
    expect(calls).toEqual(['pause'])
  })

  test('does not use the scheduler for bytes that cause little work', () => {
    const { queue, received } = watched({ scheduler: manualScheduler(), bytesWithoutTurn: 100 })
    queue.push(large)
    expect(received[0]?.length).toBe(100)
    expect(Buffer.concat(received).length).toBe(large.length)
  })

  test('passes on nothing while paused, nor after it was stopped', () => {
    const scheduler = manualScheduler()
    const { queue, received, calls } = watched({ scheduler })
    queue.push(large)
    queue.pause()
    scheduler.give()
    queue.stop()
    queue.resume()
    scheduler.give()
    expect(received).toEqual([])
    expect(calls).toEqual(['pause'])
  })
})

describe('the end of a receive queue', () => {
  test('is reported at once when all bytes were received', () => {
    const { queue, calls } = watched()
    queue.push(Buffer.from('a'))
    queue.pause()
    queue.close(new Error('reset'))
    expect(calls).toEqual(['reset'])
  })

  test('is reported once, after all bytes, without further calls to the socket', () => {
    const scheduler = manualScheduler()
    const { queue, calls } = watched({ scheduler })
    queue.push(large)
    queue.close(undefined)
    queue.close(new Error('twice'))
    for (let index = 0; index <= heldBytesMax / readBytesMax; index++) scheduler.give()
    expect(calls).toEqual(['pause', 'ended'])
    expect(queue.isIdle()).toBe(false)
  })
})
