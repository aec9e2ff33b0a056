import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { recordOutbox } from './record-outbox.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

/** Lets everything happen that waits for nothing. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

/** An outbox whose batches are taken one by one, or at once. */
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
    /** Takes what is under way, and what follows at once. */
    async takeAll() {
      for (await settle(); open.length > 0; await settle()) open.shift()?.resolve()
    },
  }
}

const upTo = (count: number, from = 0) => Array.from({ length: count - from }, (_, index) => from + index)

describe('an outbox', () => {
  test('sends what came within a quarter of a second together', async () => {
    const { add, batches } = subject()
    add(2)
    jest.advanceTimersByTime(249)
    add(1)
    expect(batches).toEqual([])
    jest.advanceTimersByTime(1)
    expect(batches).toEqual([[0, 1, 2]])
  })

  test('sends five hundred at once', async () => {
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

  test('sends one batch after the other, in order, however slowly they are taken', async () => {
    const { add, batches, open, takeAll } = subject({ isSlow: true })
    add(1_800)
    await settle()
    expect([batches.length, open.length]).toEqual([1, 1])
    await takeAll()
    expect(batches.map(({ length }) => length)).toEqual([500, 500, 500])
    jest.advanceTimersByTime(250)
    expect(batches.flat()).toEqual(upTo(1_800))
  })

  test('holds ten thousand while nobody takes them, and counts the others as dropped', async () => {
    const { add, batches, outbox, takeAll } = subject({ isSlow: true })
    add(500)
    add(10_000)
    expect(outbox.dropped).toBe(0)
    add(123)
    expect(outbox.dropped).toBe(123)
    await takeAll()
    expect(batches.flat()).toEqual(upTo(10_500))
  })

  test('counts what could not be sent as dropped, and goes on', async () => {
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
  test('sends at once, and ends when it is taken', async () => {
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

  test('sends a batch even when there is nothing, for what goes with it', async () => {
    const { outbox, batches } = subject()
    await outbox.flush()
    expect(batches).toEqual([[]])
  })

  test('waits for what is under way, and for all that was added before', async () => {
    const { add, outbox, batches, takeAll } = subject({ isSlow: true })
    add(1_234)
    const flushed = outbox.flush()
    await takeAll()
    await flushed
    expect(batches.flat()).toEqual(upTo(1_234))
  })

  test('sends a batch that is made after it was asked for, for what goes with it', async () => {
    const { add, outbox, batches, takeAll } = subject({ isSlow: true })
    add(500)
    const flushed = outbox.flush()
    await takeAll()
    await flushed
    expect(batches.map(({ length }) => length)).toEqual([500, 0])
  })

  test('does not wait for what comes afterwards', async () => {
    const { add, outbox, open } = subject({ isSlow: true })
    add(1)
    const flushed = outbox.flush()
    await settle()
    add(1_000)
    open.shift()?.resolve()
    await flushed
    expect(outbox.dropped).toBe(0)
  })

  test('ends although nothing can be sent', async () => {
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
