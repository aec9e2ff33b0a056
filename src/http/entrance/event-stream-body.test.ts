import { afterEach, describe, expect, jest, test } from 'bun:test'
import { chat } from '../../formats/chat/format.ts'
import { WireError } from '../../formats/error.ts'
import type { StreamFormat } from '../../formats/format.ts'
import type { PartStream } from '../../formats/reply.ts'
import { writtenStream, type StreamStep } from '../../gateway/testing.ts'
import { answerParts } from '../testing.ts'
import { eventStreamBody, type EventStreamBody, type StreamOutcome } from './event-stream-body.ts'

afterEach(() => void jest.useRealTimers())

const heartbeatMs = 10_000
const stallMs = 30_000
const keepAlive = ': keep-alive\n\n'
const done = 'data: [DONE]\n\n'

function subject(reply: PartStream | Promise<PartStream>, format: StreamFormat = chat.stream) {
  const outcomes: StreamOutcome[] = []
  let aborts = 0
  const stream = eventStreamBody({
    reply,
    format,
    heartbeatMs,
    stallMs,
    describe: (error) =>
      error instanceof WireError
        ? error
        : new WireError(502, 'api_error', 'provider_error', `told: ${error instanceof Error ? error.message : ''}`),
    abort() {
      aborts += 1
      if (!(reply instanceof Promise)) reply.cancel()
    },
    onEnd: (outcome) => outcomes.push(outcome),
  })
  return {
    send: (sink: Parameters<EventStreamBody['send']>[0]) => stream.send(sink),
    fail: (error: unknown) => stream.fail(error),
    leave: () => stream.leave(),
    outcomes,
    aborts: () => aborts,
  }
}

function eventOf(chunk: { readonly data: Uint8Array }): string {
  return `data: ${new TextDecoder().decode(chunk.data)}\n\n`
}

const errorEvent = (message: string) =>
  `data: {"error":{"message":"${message}","type":"api_error","param":null,"code":"provider_error"}}\n\n`

/** Lets everything happen that waits for nothing. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

/** A client's socket. While `isBlocked`, each write waits for `unblock`. */
function fakeSink() {
  const pieces: string[] = []
  let waiting: PromiseWithResolvers<void> | undefined
  return {
    pieces,
    isBlocked: false,
    isEnded: false,
    write(bytes: Uint8Array) {
      expect(this.isEnded).toBe(false)
      pieces.push(new TextDecoder().decode(bytes))
      if (!this.isBlocked) return bytes.length
      waiting ??= Promise.withResolvers()
      return waiting.promise
    },
    end() {
      this.isEnded = true
    },
    unblock() {
      this.isBlocked = false
      waiting?.resolve()
      waiting = undefined
    },
  }
}

/** Everything that a stream writes for a client that reads at once. */
async function sent({ send }: Pick<EventStreamBody, 'send'>): Promise<readonly string[]> {
  const sink = fakeSink()
  await send(sink)
  expect(sink.isEnded).toBe(true)
  return sink.pieces
}

describe('a stream to a client', () => {
  test('gives parts as they arrive, several in one piece, and [DONE] after a complete stream', async () => {
    const { send, outcomes } = subject(
      writtenStream([[answerParts.text('Hel')], [answerParts.text('lo'), answerParts.finish()]]),
    )
    expect(await sent({ send })).toEqual([
      eventOf(answerParts.text('Hel')),
      eventOf(answerParts.text('lo')) + eventOf(answerParts.finish()),
      done,
    ])
    expect(outcomes).toEqual([
      { hasClientLeft: false, usage: undefined, isCut: false, answerBytes: expect.any(Number) },
    ])
  })

  test('ends with an error event and no [DONE] when it fails (failover.md rule 4)', async () => {
    const { send, outcomes, aborts } = subject(writtenStream([[answerParts.text('Hel')], new Error('cut')]))
    expect(await sent({ send })).toEqual([eventOf(answerParts.text('Hel')), errorEvent('told: cut')])
    expect(outcomes).toMatchObject([{ hasClientLeft: false, error: { code: 'provider_error' } }])
    expect(aborts()).toBe(1)
  })

  test('without an end marker ends with its last part', async () => {
    const { send, outcomes } = subject(writtenStream([answerParts.finish()]), { ...chat.stream, end: new Uint8Array() })
    expect(await sent({ send })).toEqual([eventOf(answerParts.finish())])
    expect(outcomes).toEqual([
      { hasClientLeft: false, usage: undefined, isCut: false, answerBytes: expect.any(Number) },
    ])
  })

  test('writes its error event by the first and the last part of the client', async () => {
    const delivered: unknown[] = []
    const hidden = { ...answerParts.text(''), data: new Uint8Array() }
    const { send } = subject(
      writtenStream([hidden, answerParts.text('Hel'), answerParts.text('lo'), hidden, new Error('cut')]),
      {
        ...chat.stream,
        error(error, parts) {
          delivered.push(parts)
          return chat.stream.error(error, parts)
        },
      },
    )
    await sent({ send })
    expect(delivered).toMatchObject([{ first: answerParts.text('Hel'), last: answerParts.text('lo') }])
  })

  test('reports usage when it has ended', async () => {
    const { send, outcomes } = subject(
      writtenStream([[answerParts.text('Hi')], [answerParts.finish()], [answerParts.usage()]]),
    )
    await sent({ send })
    expect(outcomes[0]?.usage).toEqual({ promptTokens: 1, completionTokens: 2, totalTokens: 3 })
  })

  test('reads as fast as the client and no faster', async () => {
    const reply = writtenStream([[answerParts.text('a')], [answerParts.text('b')], [answerParts.text('c')]])
    const { send } = subject(reply)
    await settle()
    expect(reply.reads).toBe(0)
    const sink = fakeSink()
    sink.isBlocked = true
    const sending = send(sink)
    await settle()
    expect([reply.reads, sink.pieces.length]).toEqual([1, 1])
    sink.unblock()
    await sending
    expect(sink.pieces).toHaveLength(4)
  })

  test('leaves no timer when it has ended', async () => {
    jest.useFakeTimers()
    const { send } = subject(writtenStream([[answerParts.text('a')]]))
    const sink = fakeSink()
    sink.isBlocked = true
    const sending = send(sink)
    await settle()
    expect(jest.getTimerCount()).toBe(1)
    sink.unblock()
    await sending
    expect(jest.getTimerCount()).toBe(0)
  })
})

describe('a stream whose parts may wait', () => {
  test.each([true, false])('is kept alive while none comes: %p', async (mayWait) => {
    jest.useFakeTimers()
    const reply = { ...writtenStream([answerParts.text('Hi')], { hangs: true }), mayWait }
    const { send, leave } = subject(reply)
    const sink = fakeSink()
    void send(sink)
    const counts: number[] = []
    for (const waitMs of [1, heartbeatMs - 2, 2, heartbeatMs, 1]) {
      await settle()
      jest.advanceTimersByTime(waitMs)
      await settle()
      jest.advanceTimersByTime(1)
      counts.push(sink.pieces.length)
    }
    leave()
    expect(counts).toEqual(mayWait ? [1, 2, 2, 3, 3] : [1, 1, 1, 1, 1])
    expect(sink.pieces.slice(1)).toEqual(mayWait ? [keepAlive, keepAlive] : [])
  })
})

describe('a stream without a reply yet', () => {
  function undecided() {
    const { promise, resolve: decide, reject: refuse } = Promise.withResolvers<PartStream>()
    return { ...subject(promise), decide, refuse }
  }

  test('is kept alive with a comment at once, which takes the headers with it, and one every 10 s', async () => {
    jest.useFakeTimers()
    const { send, decide } = undecided()
    const sink = fakeSink()
    const sending = send(sink)
    const counts: number[] = []
    for (const waitMs of [1, heartbeatMs - 1, 1, heartbeatMs - 1, 1]) {
      await settle()
      jest.advanceTimersByTime(waitMs)
      await settle()
      counts.push(sink.pieces.length)
    }
    expect(counts).toEqual([1, 1, 2, 2, 3])
    decide(writtenStream([[answerParts.text('Hi')]]))
    await sending
    expect(sink.pieces).toEqual([keepAlive, keepAlive, keepAlive, eventOf(answerParts.text('Hi')), done])
  })

  test('begins as soon as it has one', async () => {
    const { send, decide } = undecided()
    const sending = sent({ send })
    decide(writtenStream([[answerParts.text('Hi')]]))
    expect(await sending).toEqual([eventOf(answerParts.text('Hi')), done])
  })

  test('ends with an error event when all have failed', async () => {
    const { send, refuse, outcomes } = undecided()
    const sending = sent({ send })
    refuse(new Error('all failed'))
    expect(await sending).toEqual([errorEvent('told: all failed')])
    expect(outcomes).toHaveLength(1)
  })

  test('ends with the error it must end with', async () => {
    const { send, fail, refuse } = undecided()
    const sending = sent({ send })
    await settle()
    fail(new WireError(504, 'api_error', 'provider_error', 'time is up'))
    refuse(new Error('aborted'))
    expect(await sending).toEqual([errorEvent('time is up')])
  })
})

describe('a stream that must end', () => {
  const stop = new WireError(503, 'api_error', 'provider_error', 'the service stops')

  test('while it waits for the upstream ends with an error event', async () => {
    const reply = writtenStream([[answerParts.text('Hel')]], { hangs: true })
    const { send, fail, outcomes } = subject(reply)
    const sending = sent({ send })
    await settle()
    fail(stop)
    expect(await sending).toEqual([eventOf(answerParts.text('Hel')), errorEvent('the service stops')])
    expect(reply.isCancelled).toBe(true)
    expect(outcomes).toEqual([
      { hasClientLeft: false, usage: undefined, isCut: true, answerBytes: expect.any(Number), error: stop },
    ])
  })

  test('while the client does not read ends with an error event after the bytes that were written', async () => {
    const { send, fail, outcomes } = subject(writtenStream([[answerParts.text('Hel')], [answerParts.text('lo')]]))
    const sink = fakeSink()
    sink.isBlocked = true
    const sending = send(sink)
    await settle()
    fail(stop)
    expect(outcomes).toHaveLength(1)
    sink.unblock()
    await sending
    expect(sink).toMatchObject({
      pieces: [eventOf(answerParts.text('Hel')), errorEvent('the service stops')],
      isEnded: true,
    })
  })

  test('before it is written ends with an error event', async () => {
    const { send, fail, outcomes } = subject(writtenStream([[answerParts.text('Hel')]]))
    fail(stop)
    expect(outcomes).toHaveLength(1)
    expect(await sent({ send })).toEqual([errorEvent('the service stops')])
  })

  test('but has ended does not change', async () => {
    const { send, fail, outcomes, aborts } = subject(writtenStream([[answerParts.text('Hel')]]))
    await sent({ send })
    fail(stop)
    expect(outcomes).toHaveLength(1)
    expect(aborts()).toBe(0)
  })

  test('ends once', async () => {
    const { send, fail, leave, outcomes } = subject(writtenStream([[answerParts.text('Hel')]], { hangs: true }))
    const sending = sent({ send })
    await settle()
    fail(stop)
    await sending
    leave()
    expect(outcomes).toEqual([
      { hasClientLeft: false, usage: undefined, isCut: true, answerBytes: expect.any(Number), error: stop },
    ])
  })
})

describe('a client that', () => {
  function served(
    steps: readonly StreamStep[] = [[answerParts.text('Hel')], [answerParts.usage()], [answerParts.text('lo')]],
  ) {
    const reply = writtenStream(steps, { hangs: true }),
      sink = fakeSink()
    return { reply, sink, ...subject(reply) }
  }

  test("leaves ends the work, and is not the provider's failure", async () => {
    const { send, leave, reply, sink, outcomes, aborts } = served()
    void send(sink)
    await settle()
    leave()
    expect(outcomes).toEqual([
      {
        hasClientLeft: true,
        usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
        isCut: true,
        answerBytes: expect.any(Number),
      },
    ])
    expect(aborts()).toBe(1)
    expect(reply.isCancelled).toBe(true)
  })

  test('leaves gets no end: its response is not complete', async () => {
    const { send, leave, sink } = served()
    const sending = send(sink)
    await settle()
    leave()
    await settle()
    expect(sink.isEnded).toBe(false)
    expect(Bun.peek.status(sending)).toBe('pending')
  })

  test('leaves before the stream is written ends the work', () => {
    const { leave, outcomes, reply } = served()
    leave()
    expect(outcomes).toMatchObject([{ hasClientLeft: true }])
    expect(reply.isCancelled).toBe(true)
  })

  test('leaves while the upstream sends nothing ends the work', async () => {
    const { send, leave, reply, sink, outcomes } = served([])
    void send(sink)
    await settle()
    leave()
    await settle()
    expect(outcomes).toEqual([{ hasClientLeft: true, usage: undefined, isCut: true, answerBytes: expect.any(Number) }])
    expect(reply.isCancelled).toBe(true)
  })

  test('does not read for 30 s is taken to have left', async () => {
    jest.useFakeTimers()
    const { send, outcomes, reply, sink } = served()
    sink.isBlocked = true
    void send(sink)
    await settle()
    jest.advanceTimersByTime(stallMs - 1)
    expect(outcomes).toEqual([])
    jest.advanceTimersByTime(2)
    expect(outcomes).toMatchObject([{ hasClientLeft: true }])
    expect(reply.isCancelled).toBe(true)
    expect(jest.getTimerCount()).toBe(0)
    sink.unblock()
    await settle()
    expect(sink.pieces).toHaveLength(1)
    expect(sink.isEnded).toBe(false)
  })

  test('reads in time, again and again, is not taken to have left', async () => {
    jest.useFakeTimers()
    const { send, outcomes, sink, leave } = served()
    for (let read = 0; read < 3; read += 1) {
      sink.isBlocked = true
      if (read === 0) void send(sink)
      await settle()
      jest.advanceTimersByTime(stallMs - 1)
      sink.unblock()
      await settle()
    }
    jest.advanceTimersByTime(10 * stallMs)
    expect(outcomes).toEqual([])
    leave()
  })

  test('waits for the upstream is not taken to have left', async () => {
    jest.useFakeTimers()
    const { send, outcomes, sink, leave } = served([])
    void send(sink)
    await settle()
    jest.advanceTimersByTime(10 * stallMs)
    expect(outcomes).toEqual([])
    leave()
  })

  test('does not read the keep-alives is taken to have left', async () => {
    jest.useFakeTimers()
    const { send, outcomes } = subject(new Promise<PartStream>(() => undefined))
    const sink = fakeSink()
    sink.isBlocked = true
    void send(sink)
    await settle()
    jest.advanceTimersByTime(1)
    await settle()
    expect(sink.pieces).toEqual([keepAlive])
    jest.advanceTimersByTime(2 * stallMs)
    expect(outcomes).toMatchObject([{ hasClientLeft: true }])
  })
})
