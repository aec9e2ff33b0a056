import { describe, expect, test } from 'bun:test'
import { channel, ChannelClosed, type Channel } from './channel.ts'

const answers = {
  double: (number: number) => number * 2,
  late: async (text: string) => text,
  fail: (): string => {
    throw new TypeError('no')
  },
  note: (text: string): void => {
    noted.push(text)
  },
}
const noted: string[] = []

/** Two ends; messages pass as between processes. */
function pair(): { readonly one: Channel<typeof answers>; readonly faults: unknown[] } {
  const faults: unknown[] = []
  const one: Channel<typeof answers> = channel(
    (message) => queueMicrotask(() => other.take(structuredClone(message))),
    {},
    (error) => faults.push(error),
  )
  const other = channel(
    (message) => queueMicrotask(() => one.take(structuredClone(message))),
    answers,
    (error) => faults.push(error),
  )
  return { one, faults }
}

describe('channel', () => {
  test('gives each who asks the answer to what they asked', async () => {
    const { one } = pair()
    expect(await Promise.all([one.ask('double', 1), one.ask('late', 'later'), one.ask('double', 3)])).toEqual([
      2,
      'later',
      6,
    ])
  })

  test('gives what was thrown as an error with its message', async () => {
    expect(
      await pair()
        .one.ask('fail', undefined as never)
        .catch((error: unknown) => error),
    ).toEqual(new Error('no'))
  })

  test('tells in order, and nobody waits; what throws then is reported where it was thrown', async () => {
    const { one, faults } = pair()
    one.tell('note', 'a')
    one.tell('note', 'b')
    one.tell('fail', undefined as never)
    await one.ask('double', 1)
    expect([noted.splice(0), faults]).toEqual([['a', 'b'], [new TypeError('no')]])
  })

  test('whoever waits when it is closed learns of it, and whoever asks afterwards', async () => {
    const { one } = pair()
    const open = one.ask('late', 'never')
    one.close()
    expect(await open.catch((error: unknown) => error)).toBeInstanceOf(ChannelClosed)
    expect(await one.ask('double', 1).catch((error: unknown) => error)).toBeInstanceOf(ChannelClosed)
    one.tell('note', 'lost')
    expect(noted).toEqual([])
  })

  test('a process that cannot be reached any more is closed', async () => {
    const end: Channel<typeof answers> = channel(
      () => {
        throw new Error('EPIPE')
      },
      {},
      () => undefined,
    )
    expect(await end.ask('double', 1).catch((error: unknown) => error)).toBeInstanceOf(ChannelClosed)
  })

  test('messages that are none of ours, and answers nobody waits for, are passed over', async () => {
    const { one } = pair()
    for (const message of [
      undefined,
      null,
      1,
      'ask',
      {},
      { kind: 'internal' },
      { kind: 'answer', id: 99, value: 1 },
      { cmd: 'NODE_HANDLE' },
    ])
      one.take(message)
    expect(await one.ask('double', 4)).toBe(8)
  })

  test('a name that is on every object is nobody’s', async () => {
    const ours: Channel<Record<string, () => unknown>> = channel(
      (message) => queueMicrotask(() => other.take(message)),
      {},
      () => undefined,
    )
    const other = channel(
      (message) => queueMicrotask(() => ours.take(message)),
      answers,
      () => undefined,
    )
    expect(await ours.ask('toString', undefined as never).catch((error: unknown) => error)).toEqual(
      new Error('nobody answers to toString'),
    )
  })
})
