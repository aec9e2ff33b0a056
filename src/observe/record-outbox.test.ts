import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { recordOutbox } from './record-outbox.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

/** Waits for all pending microtasks. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

/** An outbox whose batches are received one by one, or at once. */
function subject({ isSlow = false } = {}) {
  const batches: (readonly number[])[] = []
  const open: PromiseWithResolvers<void>[] = []
  const outbox = recordOutbox<number>({
    async send(batch) {
      batches.push(batch)
      if (!isSlow) return
      const taken = Promise.withResolvers<void>()
      open.push(taken)
      await taken.promise
    },
  })
  let count = 0
  return {
    outbox,
    batches,
    open,
    add(entries: number) {
      for (let index = 0; index < entries; index += 1) outbox.add(count++)
    },
    /** Receives the batch being sent, and later ones at once. */
    async takeAll() {
      for (await settle(); open.length > 0; await settle()) open.shift()?.resolve()
    },
  }
}

const upTo = (count: number, from = 0) => Array.from({ length: count - from }, (_, index) => from + index)

describe('an outbox', () => {
  test('sends the entries of a quarter of a second together', async () => {
    const { add, batches } = subject()
    add(2)
    jest.advanceTimersByTime(249)
    add(1)
    expect(batches).toEqual([])
    jest.advanceTimersByTime(1)
    expect(batches).toEqual([[0, 1, 2]])
  })

  test('sends five hundred entries at once', async () => {
    const { add, batches } = subject()
    add(499)
    expect(batches).toEqual([])
    add(1)
    expect(batches).toEqual([upTo(500)])
    await settle()
    expect(jest.getTimerCount()).toBe(0)
  })

  test('has no timer while nothing waits', async () => {
    const { add } = subject()
    expect(jest.getTimerCount()).toBe(0)
    add(3)
    expect(jest.getTimerCount()).toBe(1)
    jest.advanceTimersByTime(250)
    await settle()
    expect(jest.getTimerCount()).toBe(0)
  })

  test('sends one batch after the other, in order, even to a slow receiver', async () => {
    const { add, batches, open, takeAll } = subject({ isSlow: true })
    add(1_800)
    await settle()
    expect([batches.length, open.length]).toEqual([1, 1])
    await takeAll()
    expect(batches.map(({ length }) => length)).toEqual([500, 500, 500])
    jest.advanceTimersByTime(250)
    expect(batches.flat()).toEqual(upTo(1_800))
  })

  test('keeps ten thousand entries while none are received, and counts the others as dropped', async () => {
    const { add, batches, outbox, takeAll } = subject({ isSlow: true })
    add(500)
    add(10_000)
    expect(outbox.dropped).toBe(0)
    add(123)
    expect(outbox.dropped).toBe(123)
    await takeAll()
    expect(batches.flat()).toEqual(upTo(10_500))
  })

  test('counts lost batches as dropped, and continues', async () => {
    let isBroken = true
    const batches: (readonly number[])[] = []
    const outbox = recordOutbox<number>({
      async send(batch) {
        if (isBroken) throw new Error('gone')
        batches.push(batch)
      },
    })
    outbox.add(1)
    outbox.add(2)
    await outbox.flush()
    isBroken = false
    outbox.add(3)
    await outbox.flush()
    expect([outbox.dropped, batches]).toEqual([2, [[3]]])
  })
})

describe('a flush', () => {
  test('sends at once, and resolves when the batch is received', async () => {
    const { add, outbox, batches, takeAll } = subject({ isSlow: true })
    add(3)
    let isDone = false
    const flushed = outbox.flush().then(() => {
      isDone = true
    })
    await settle()
    expect([batches, isDone, jest.getTimerCount()]).toEqual([[[0, 1, 2]], false, 0])
    await takeAll()
    await flushed
    expect(isDone).toBe(true)
  })

  test('sends an empty batch when there are no entries', async () => {
    const { outbox, batches } = subject()
    await outbox.flush()
    expect(batches).toEqual([[]])
  })

  test('waits for the batch being sent, and for all entries added before', async () => {
    const { add, outbox, batches, takeAll } = subject({ isSlow: true })
    add(1_234)
    const flushed = outbox.flush()
    await takeAll()
    await flushed
    expect(batches.flat()).toEqual(upTo(1_234))
  })

  test('sends a batch that is made after the call', async () => {
    const { add, outbox, batches, takeAll } = subject({ isSlow: true })
    add(500)
    const flushed = outbox.flush()
    await takeAll()
    await flushed
    expect(batches.map(({ length }) => length)).toEqual([500, 0])
  })

  test('does not wait for entries added later', async () => {
    const { add, outbox, open } = subject({ isSlow: true })
    add(1)
    const flushed = outbox.flush()
    await settle()
    add(1_000)
    open.shift()?.resolve()
    await flushed
    expect(outbox.dropped).toBe(0)
  })

  test('resolves even when sending fails', async () => {
    const outbox = recordOutbox<number>({
      async send() {
        throw new Error('gone')
      },
    })
    outbox.add(1)
    await outbox.flush()
    expect(outbox.dropped).toBe(1)
  })
})
