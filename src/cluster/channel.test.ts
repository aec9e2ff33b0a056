import { describe, expect, test } from 'bun:test'
import { Channel, ChannelClosed } from './channel.ts'

const handlers = {
  double: (number: number) => number * 2,
  late: async (text: string) => text,
  fail: (): string => {
    throw new TypeError('no')
  },
  note: (text: string): void => {
    received.push(text)
  },
}
const received: string[] = []

/** Two ends; messages pass as between processes. */
function pair(): { readonly one: Channel<typeof handlers>; readonly faults: unknown[] } {
  const faults: unknown[] = []
  const one: Channel<typeof handlers> = new Channel(
    (message) => queueMicrotask(() => other.receive(structuredClone(message))),
    {},
    (error) => faults.push(error),
  )
  const other = new Channel(
    (message) => queueMicrotask(() => one.receive(structuredClone(message))),
    handlers,
    (error) => faults.push(error),
  )
  return { one, faults }
}

describe('channel', () => {
  test('returns to each call its own result', async () => {
    const { one } = pair()
    expect(await Promise.all([one.call('double', 1), one.call('late', 'later'), one.call('double', 3)])).toEqual([
      2,
      'later',
      6,
    ])
  })

  test('rejects with the message of the error that the handler threw', async () => {
    expect(
      await pair()
        .one.call('fail', undefined as never)
        .catch((error: unknown) => error),
    ).toEqual(new Error('no'))
  })

  test('delivers notifications in order; their errors are reported where they were thrown', async () => {
    const { one, faults } = pair()
    one.notify('note', 'a')
    one.notify('note', 'b')
    one.notify('fail', undefined)
    await one.call('double', 1)
    expect([received.splice(0), faults]).toEqual([['a', 'b'], [new TypeError('no')]])
  })

  test('rejects pending and later calls when it is closed', async () => {
    const { one } = pair()
    const open = one.call('late', 'never')
    one.close()
    expect(await open.catch((error: unknown) => error)).toBeInstanceOf(ChannelClosed)
    expect(await one.call('double', 1).catch((error: unknown) => error)).toBeInstanceOf(ChannelClosed)
    one.notify('note', 'lost')
    expect(received).toEqual([])
  })

  test('rejects calls to a process that has ended', async () => {
    const end: Channel<typeof handlers> = new Channel(
      () => {
        throw new Error('EPIPE')
      },
      {},
      () => undefined,
    )
    expect(await end.call('double', 1).catch((error: unknown) => error)).toBeInstanceOf(ChannelClosed)
  })

  test('ignores foreign messages, and results without a call', async () => {
    const { one } = pair()
    for (const message of [
      undefined,
      null,
      1,
      'call',
      {},
      { kind: 'internal' },
      { kind: 'result', id: 99, value: 1 },
      { cmd: 'NODE_HANDLE' },
    ])
      one.receive(message)
    expect(await one.call('double', 4)).toBe(8)
  })

  test('has no handler under a name that every object has', async () => {
    const ours: Channel<Record<string, () => unknown>> = new Channel(
      (message) => queueMicrotask(() => other.receive(message)),
      {},
      () => undefined,
    )
    const other = new Channel(
      (message) => queueMicrotask(() => ours.receive(message)),
      handlers,
      () => undefined,
    )
    expect(await ours.call('toString', undefined as never).catch((error: unknown) => error)).toEqual(
      new Error('no handler for toString'),
    )
  })
})
