import { afterEach, describe, expect, jest, test } from 'bun:test'
import { chat } from '../../formats/chat/format.ts'
import { WireError } from '../../formats/error.ts'
import type { StreamReply } from '../../formats/reply.ts'
import { writtenStream, type FakeStream } from '../../gateway/testing.ts'
import { answerParts, readPieces } from '../testing.ts'
import { eventStreamBody, type StreamOutcome } from './event-stream-body.ts'

afterEach(() => void jest.useRealTimers())

const heartbeatMs = 10_000
const stallMs = 30_000
const keepAlive = ': keep-alive\n\n'
const done = 'data: [DONE]\n\n'

function subject(reply: StreamReply | Promise<StreamReply>) {
  const outcomes: StreamOutcome[] = []
  let aborts = 0
  const stream = eventStreamBody({
    reply,
    format: chat.stream,
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
  return { ...stream, outcomes, aborts: () => aborts }
}

function eventOf(part: { readonly data: Uint8Array }): string {
  return `data: ${new TextDecoder().decode(part.data)}\n\n`
}

const errorEvent = (message: string) =>
  `data: {"error":{"message":"${message}","type":"api_error","param":null,"code":"provider_error"}}\n\n`

/** Lets everything happen that waits for nothing. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

/** Reads one piece as text. */
async function readOne(reader: {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>
}): Promise<string | undefined> {
  const { value } = await reader.read()
  return value === undefined ? undefined : new TextDecoder().decode(value)
}

describe('a stream to a client', () => {
  test('sends parts as they arrive, several in one piece, and [DONE] after a complete stream', async () => {
    const { body, outcomes } = subject(
      writtenStream([[answerParts.text('Hel')], [answerParts.text('lo'), answerParts.finish()]]),
    )
    expect(await readPieces(body)).toEqual([
      eventOf(answerParts.text('Hel')),
      eventOf(answerParts.text('lo')) + eventOf(answerParts.finish()),
      done,
    ])
    expect(outcomes).toEqual([{ hasClientLeft: false, usage: undefined }])
  })

  test('ends with an error event and no [DONE] when it fails (failover.md rule 4)', async () => {
    const { body, outcomes, aborts } = subject(writtenStream([[answerParts.text('Hel')], new Error('cut')]))
    expect(await readPieces(body)).toEqual([eventOf(answerParts.text('Hel')), errorEvent('told: cut')])
    expect(outcomes).toMatchObject([{ hasClientLeft: false, error: { code: 'provider_error' } }])
    expect(aborts()).toBe(1)
  })

  test('tells usage when it has ended', async () => {
    const { body, outcomes } = subject(
      writtenStream([[answerParts.text('Hi')], [answerParts.finish()], [answerParts.usage()]]),
    )
    await readPieces(body)
    expect(outcomes[0]?.usage).toEqual({ promptTokens: 1, completionTokens: 2, totalTokens: 3 })
  })

  test('reads as fast as the client and no faster', async () => {
    const reply = writtenStream([[answerParts.text('a')], [answerParts.text('b')], [answerParts.text('c')]])
    const { body, leave } = subject(reply)
    await settle()
    expect(reply.reads).toBe(0)
    const reader = body.getReader()
    await reader.read()
    await settle()
    expect(reply.reads).toBe(1)
    leave()
  })

  test('leaves no timer when it has ended', async () => {
    jest.useFakeTimers()
    const { body } = subject(writtenStream([[answerParts.text('a')]]))
    await readPieces(body)
    expect(jest.getTimerCount()).toBe(0)
  })
})

describe('a stream that is not decided yet', () => {
  function undecided() {
    let decide = (_reply: StreamReply): void => undefined
    let refuse = (_error: Error): void => undefined
    const reply = new Promise<StreamReply>((resolve, reject) => {
      decide = resolve
      refuse = reject
    })
    return { ...subject(reply), decide: (given: StreamReply) => decide(given), refuse: (error: Error) => refuse(error) }
  }

  test('is kept alive with a comment at once, which takes the headers with it, and one every 10 s', async () => {
    jest.useFakeTimers()
    const { body, decide } = undecided()
    const reader = body.getReader()
    const comments: string[] = []
    const note = async () => {
      comments.push(String(await readOne(reader)))
    }
    const counts: number[] = []
    for (const waitMs of [1, heartbeatMs, heartbeatMs]) {
      const reading = note()
      await settle()
      jest.advanceTimersByTime(waitMs - 1)
      await settle()
      counts.push(comments.length)
      jest.advanceTimersByTime(1)
      await reading
      counts.push(comments.length)
    }
    expect(comments).toEqual([keepAlive, keepAlive, keepAlive])
    expect(counts.slice(1)).toEqual([1, 1, 2, 2, 3])
    decide(writtenStream([[answerParts.text('Hi')]]))
    expect(await readOne(reader)).toBe(eventOf(answerParts.text('Hi')))
    expect(await readOne(reader)).toBe(done)
  })

  test('begins as soon as it is decided', async () => {
    const { body, decide } = undecided()
    const reading = readPieces(body)
    decide(writtenStream([[answerParts.text('Hi')]]))
    expect(await reading).toEqual([eventOf(answerParts.text('Hi')), done])
  })

  test('ends with an error event when all have failed', async () => {
    const { body, refuse, outcomes } = undecided()
    const reading = readPieces(body)
    refuse(new Error('all failed'))
    expect(await reading).toEqual([errorEvent('told: all failed')])
    expect(outcomes).toHaveLength(1)
  })

  test('ends with the error given to fail', async () => {
    const { body, fail, refuse } = undecided()
    const reading = readPieces(body)
    await settle()
    fail(new WireError(504, 'api_error', 'provider_error', 'time is up'))
    refuse(new Error('aborted'))
    expect(await reading).toEqual([errorEvent('time is up')])
  })
})

describe('a stream that must end', () => {
  const stop = new WireError(503, 'api_error', 'provider_error', 'the service stops')

  test('while it waits for the upstream ends with an error event', async () => {
    const reply = writtenStream([[answerParts.text('Hel')]], { hangs: true })
    const { body, fail, outcomes } = subject(reply)
    const reading = readPieces(body)
    await settle()
    fail(stop)
    expect(await reading).toEqual([eventOf(answerParts.text('Hel')), errorEvent('the service stops')])
    expect(reply.isCancelled).toBe(true)
    expect(outcomes).toEqual([{ hasClientLeft: false, usage: undefined, error: stop }])
  })

  test('while the client does not read ends with an error event after what it has', async () => {
    const { body, fail, outcomes } = subject(writtenStream([[answerParts.text('Hel')], [answerParts.text('lo')]]))
    const reader = body.getReader()
    expect(await readOne(reader)).toBe(eventOf(answerParts.text('Hel')))
    fail(stop)
    expect(outcomes).toHaveLength(1)
    expect(await readOne(reader)).toBe(errorEvent('the service stops'))
    expect(await readOne(reader)).toBeUndefined()
  })

  test('before it was read at all ends with an error event', async () => {
    const { body, fail } = subject(writtenStream([[answerParts.text('Hel')]]))
    fail(stop)
    expect(await readPieces(body)).toEqual([errorEvent('the service stops')])
  })

  test('but has ended is left alone', async () => {
    const { body, fail, outcomes, aborts } = subject(writtenStream([[answerParts.text('Hel')]]))
    await readPieces(body)
    fail(stop)
    expect(outcomes).toHaveLength(1)
    expect(aborts()).toBe(0)
  })

  test('ends once, also with further ends', async () => {
    const { body, fail, leave, outcomes } = subject(writtenStream([[answerParts.text('Hel')]], { hangs: true }))
    const reading = readPieces(body)
    await settle()
    fail(stop)
    await reading
    leave()
    expect(outcomes).toEqual([{ hasClientLeft: false, usage: undefined, error: stop }])
  })
})

describe('a client that', () => {
  function served(): { readonly reply: FakeStream } & ReturnType<typeof subject> {
    const reply = writtenStream([[answerParts.text('Hel')], [answerParts.usage()], [answerParts.text('lo')]], {
      hangs: true,
    })
    return { reply, ...subject(reply) }
  }

  test('leaves aborts the request, and is no failure', async () => {
    const { body, reply, outcomes, aborts } = served()
    const reader = body.getReader()
    await reader.read()
    await reader.read()
    await reader.cancel()
    expect(outcomes).toEqual([{ hasClientLeft: true, usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } }])
    expect(aborts()).toBe(1)
    expect(reply.isCancelled).toBe(true)
  })

  test('leaves before anything came ends the work', async () => {
    const { body, outcomes, reply } = served()
    await body.cancel()
    expect(outcomes).toMatchObject([{ hasClientLeft: true }])
    expect(reply.isCancelled).toBe(true)
  })

  test('leaves while the upstream is waited for ends the work', async () => {
    const reply = writtenStream([], { hangs: true })
    const { body, outcomes } = subject(reply)
    const reader = body.getReader()
    void reader.read().catch(() => undefined)
    await settle()
    await reader.cancel()
    await settle()
    expect(outcomes).toEqual([{ hasClientLeft: true, usage: undefined }])
    expect(reply.isCancelled).toBe(true)
  })

  test('does not read for 30 s is taken to have left', async () => {
    jest.useFakeTimers()
    const { body, outcomes, reply } = served()
    const reader = body.getReader()
    await reader.read()
    // The watchdog counts from the last piece that was taken: it fires at most twice its limit later.
    jest.advanceTimersByTime(stallMs - 1)
    expect(outcomes).toEqual([])
    jest.advanceTimersByTime(stallMs + 1)
    expect(outcomes).toMatchObject([{ hasClientLeft: true }])
    expect(reply.isCancelled).toBe(true)
    await expect(reader.read()).rejects.toThrow('the client does not read')
    expect(jest.getTimerCount()).toBe(0)
  })

  test('waits for the upstream is not taken to have left', async () => {
    jest.useFakeTimers()
    const { body, outcomes, leave } = subject(writtenStream([], { hangs: true }))
    void body
      .getReader()
      .read()
      .catch(() => undefined)
    await settle()
    jest.advanceTimersByTime(10 * stallMs)
    expect(outcomes).toEqual([])
    leave()
  })

  test('does not read the keep-alive comments is taken to have left', async () => {
    jest.useFakeTimers()
    const { body, outcomes } = subject(new Promise<StreamReply>(() => undefined))
    const reading = readOne(body.getReader())
    await settle()
    jest.advanceTimersByTime(heartbeatMs)
    expect(await reading).toBe(keepAlive)
    jest.advanceTimersByTime(2 * stallMs)
    expect(outcomes).toMatchObject([{ hasClientLeft: true }])
  })
})
