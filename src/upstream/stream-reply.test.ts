import { afterEach, describe, expect, jest, test } from 'bun:test'
import fc from 'fast-check'
import { serverSentEvents } from '../bytes/framing.ts'
import { encode } from '../bytes/text.ts'
import { deltaPart } from '../formats/chat/testing.ts'
import { MalformedAnswer } from '../formats/malformed-answer.ts'
import type { Part } from '../formats/part.ts'
import { Cancelled, type StreamReply } from '../formats/reply.ts'
import { chatOf, chatRequest, endpointAt } from '../protocols/fixtures/load.ts'
import { openai } from '../protocols/openai.ts'
import {
  chunkJson,
  cutAt,
  event,
  fakeBody,
  framed,
  lengthPrefixed,
  transportError,
  type BodyStep,
  type FakeBody,
} from '../protocols/testing.ts'
import type { AnswerBudget, AnswerReservation } from '../service/answer-budget.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { streamReply, type StreamReplyOptions } from './stream-reply.ts'

const anyone = endpointAt('https://upstream.test/v1')

afterEach(() => void jest.useRealTimers())

const idleMs = 60_000
const options: StreamReplyOptions = { framing: serverSentEvents, idleMs, hidden: (error) => error }

function replyOf(body: FakeBody, first?: Uint8Array): StreamReply {
  return streamReply(body, chatOf(openai).stream(chatRequest({ stream: true }), anyone), {
    ...options,
    ...(first === undefined ? {} : { first }),
  })
}

/** Of a decoder whose end throws. */
function replyEndingWith(error: Error): StreamReply {
  const decoder = chatOf(openai).stream(chatRequest({ stream: true }), anyone)
  const end = (): never => {
    throw error
  }
  return streamReply(fakeBody([encode(event(chunkJson({ content: 'Hi' }, 'stop')))]), { ...decoder, end }, options)
}

interface Read {
  readonly parts: readonly Part[]
  readonly text: string
  readonly failure: UpstreamFailure | undefined
}

async function readAll(reply: StreamReply): Promise<Read> {
  const parts: Part[] = []
  const read = (failure?: UpstreamFailure): Read => ({ parts, text: parts.map(({ text }) => text).join(''), failure })
  try {
    for (let next = await reply.read(); next !== undefined; next = await reply.read()) {
      expect(next.length).toBeGreaterThan(0)
      parts.push(...next)
    }
    return read()
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    return read(error)
  }
}

async function readSteps(...steps: readonly BodyStep[]): Promise<Read & { readonly body: FakeBody }> {
  const body = fakeBody(steps)
  return { ...(await readAll(replyOf(body))), body }
}

const role = event(chunkJson({ role: 'assistant', content: '' }))
const hel = event(chunkJson({ content: 'Hel' }))
const lo = event(chunkJson({ content: 'lo' }))
const stop = event(chunkJson({}, 'stop'))
const usage = event({ id: 'c1', choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } })
const done = event('[DONE]')
const broken = 'data: {"choices":[{"del\n\n'

describe('a stream', () => {
  const proper: readonly (readonly [string, readonly BodyStep[]])[] = [
    ['ends with [DONE]', [role, hel, lo, stop, usage, done]],
    ['ends with a finish_reason, without [DONE] (failover.md row 36)', [hel, lo, stop]],
    ['ends with a finish_reason and then breaks off', [hel, lo, stop, transportError('short_body')]],
    ['ends with [DONE] without a finish_reason', [hel, lo, done]],
    ['ends without its last blank line', [hel, lo, stop, 'data: [DONE]']],
    ['has comments and pings in between', [': hello\n\n', hel, ': ping\n\nevent: ping\n\n', lo, stop, done]],
    [
      'goes on after [DONE], which is not listened to (row 37)',
      [hel, lo, stop, done, event(chunkJson({ content: 'more' }))],
    ],
    [
      'goes on after [DONE] in the same bytes',
      [hel + lo + stop + done + event(chunkJson({ content: 'more' })) + broken],
    ],
    [
      'has keep-alives as data in between',
      ['data: : keepalive\n\n', hel, 'data: ping\n\ndata: keep-alive\n\n', lo, stop, done],
    ],
    ['has keep-alives by name in between', [hel, 'event: heartbeat\ndata: 12:00:00\n\n', lo, stop, done]],
    ['has events without data in between', [hel, 'data:\n\n', lo, 'event: ping\ndata: \n\n', stop, done]],
  ]
  test.each(proper)('that %s ends well', async (_name, steps) => {
    const { text, failure, parts } = await readSteps(...steps)
    expect(failure).toBeUndefined()
    expect(text).toBe('Hello')
    expect(parts.every(({ kind }) => kind === 'part')).toBe(true)
  })

  const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
  test.each<readonly [string, readonly BodyStep[], string]>([
    ['text', [hel, lo, done], 'stop'],
    ['text in the same bytes', [hel + lo + done], 'stop'],
    ['a tool call', [role, event(chunkJson({ tool_calls: [call] })), done], 'tool_calls'],
    ['usage', [hel, usage, done], 'stop'],
  ])(
    'that has %s and [DONE] without a finish_reason is given one (failover.md row 36)',
    async (_name, steps, reason) => {
      const { parts, failure } = await readSteps(...steps)
      expect(failure).toBeUndefined()
      expect(parts.map(({ finishReason }) => finishReason).filter((each) => each !== undefined)).toEqual([reason])
      expect(JSON.parse(new TextDecoder().decode(parts.at(-1)?.data))).toEqual({ ...chunkJson({}, reason) })
    },
  )

  const failing: readonly (readonly [string, readonly BodyStep[], Readonly<Record<string, unknown>>, string])[] = [
    ['has nothing in it (failover.md row 32)', [], { failure: 'empty' }, ''],
    ['has comments only (row 32)', [': a\n\n', ': b\n\n'], { failure: 'empty' }, ''],
    ['has [DONE] only (row 32)', [done], { failure: 'empty' }, ''],
    ['has only a role', [role, usage], { failure: 'empty' }, ''],
    ['has only a role, then [DONE]', [role, done], { failure: 'empty' }, ''],
    ['begins with an error (row 33)', [event({ error: { message: 'no', code: 429 } })], { failure: 'rate_limit' }, ''],
    [
      'has an error after who speaks (row 33)',
      [role, event({ error: { message: 'no', type: 'overloaded_error' } })],
      { failure: 'overloaded' },
      '',
    ],
    [
      'has an error after text (row 33)',
      [hel, lo, event({ error: { message: 'no' } })],
      { failure: 'server_error' },
      'Hello',
    ],
    ['has a malformed event first (row 34)', [broken, hel, lo, stop, done], { failure: 'malformed' }, ''],
    [
      'has a malformed event after who speaks (row 34)',
      [role, broken, hel, lo, stop, done],
      { failure: 'malformed' },
      '',
    ],
    ['has a malformed event after text (row 34)', [hel, broken, lo, stop, done], { failure: 'malformed' }, 'Hel'],
    [
      'has a malformed event after its finish_reason (row 34)',
      [hel, lo, stop, broken, done],
      { failure: 'malformed' },
      'Hello',
    ],
    ['breaks off before text', [role, transportError('short_body')], { failure: 'malformed' }, ''],
    ['breaks off after text (row 35)', [hel, lo, transportError('short_body')], { failure: 'cut' }, 'Hello'],
    ['is reset after text (row 35)', [hel, lo, transportError('reset')], { failure: 'cut' }, 'Hello'],
    ['ends cleanly after text without an end (row 36)', [hel, lo], { failure: 'cut', timedOut: false }, 'Hello'],
    ['is HTML (row 24)', ['<html>\n\n<body>hello</body>\n'], { failure: 'empty' }, ''],
  ]
  test.each(failing)('that %s fails', async (_name, steps, expected, said) => {
    const { text, failure } = await readSteps(...steps)
    expect(failure).toMatchObject({ ...expected, status: 200 })
    expect(text).toBe(said)
  })

  test.each([event({ error: { message: 'no' } }), broken, done])(
    'that fails in the middle lets its upstream go: %j',
    async (step) => {
      expect((await readSteps(role, step, lo)).body.isCancelled).toBe(true)
    },
  )

  test('has events of at most 1 MiB (failover.md row 29)', async () => {
    const event1Mi = event(chunkJson({ content: 'x'.repeat(1024 * 1024 - 500) }))
    expect((await readSteps(event1Mi, stop)).failure).toBeUndefined()
    const { failure, body } = await readSteps(hel, `data: ${'x'.repeat(600_000)}`, 'x'.repeat(600_000))
    expect(failure).toMatchObject({ failure: 'too_large', status: 200 })
    expect(body.isCancelled).toBe(true)
  })

  test('is finished for no choice that begins in an event that is cut off', async () => {
    const { parts, failure } = await readSteps(hel, stop, 'data: {"choices":[{"index":1,"delta":{"content":"x"}}')
    expect(parts.map(({ finishReason }) => finishReason)).toEqual([undefined, 'stop'])
    expect(failure).toBeUndefined()
  })

  test('begins with the bytes that were already read', async () => {
    const { text, failure } = await readAll(replyOf(fakeBody([lo, stop, done]), new TextEncoder().encode(hel)))
    expect({ text, failure }).toEqual({ text: 'Hello', failure: undefined })
  })

  test('gives a part as soon as its event is whole', async () => {
    const reply = replyOf(fakeBody([hel, lo.slice(0, -1)], { hangs: true }))
    expect(await reply.read()).toHaveLength(1)
  })

  test('reads no further than it is asked to', async () => {
    const body = fakeBody([hel, lo, stop, done])
    await replyOf(body).read()
    expect(body.reads).toBe(1)
  })

  test('lets other work run while it reads a large piece', async () => {
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns++
      if (!isOver) setImmediate(count)
    }
    count()
    const { text } = await readSteps(lo.repeat(10_000), stop)
    isOver = true
    expect(text).toBe('lo'.repeat(10_000))
    expect(turns).toBeGreaterThan(50)
  })

  test('that is cancelled between two slices gives nothing more', async () => {
    const reply = replyOf(fakeBody([hel.repeat(1_000), stop]))
    const reading = reply.read()
    reply.cancel()
    expect(await reading).toBeUndefined()
  })

  test('passes an internal error on unchanged', async () => {
    const mistake = new TypeError('ours')
    const reply = streamReply(
      fakeBody([hel]),
      {
        hasOneChoice: true,
        decode() {
          throw mistake
        },
        finish: () => [],
      },
      options,
    )
    expect(await reply.read().catch((error: unknown) => error)).toBe(mistake)
  })
})

describe('a stream with large events', () => {
  const large = encode(`data: ${'x'.repeat(3 * 1024 * 1024)}\n\n`)
  const decoded: Part = {
    ...deltaPart({ id: 'a', created: 1, model: 'm' }, { content: 'x' }),
    finishReason: 'stop',
    hasOpenChoice: false,
  }

  function counted(budget: AnswerBudget, steps: readonly BodyStep[], eventBytesMax?: number): StreamReply {
    const decoder = { eventBytesMax, hasOneChoice: true, decode: () => [decoded], finish: () => [] }
    return streamReply(fakeBody(steps), decoder, { ...options, answerBudget: budget })
  }

  /** A budget whose reservations can hold this number of bytes. */
  function budgetOf(bytesMax: number) {
    const state = { held: 0, highest: 0 }
    const reservation: AnswerReservation = {
      reserve(bytes) {
        state.held += bytes
        state.highest = Math.max(state.highest, state.held)
        return state.held <= bytesMax
      },
      release: () => void (state.held = 0),
    }
    return { state, budget: { reservation: () => reservation } satisfies AnswerBudget }
  }

  const pieces = cutAt(
    large,
    Array.from({ length: 12 }, (_, index) => (index + 1) * 250_000),
  )

  test('counts their bytes, until they were taken', async () => {
    const { state, budget } = budgetOf(Infinity)
    const reply = counted(budget, [...pieces, ...pieces], 4 * 1024 * 1024)
    await reply.read()
    expect(state.highest).toBeGreaterThan(2_900_000)
    expect(state.highest).toBeLessThan(3_300_000)
    await reply.read()
    expect(state.highest).toBeLessThan(3_300_000)
    await reply.read()
    expect(state.held).toBe(0)
  })

  test('fails for lack of resources above the budget (row 42)', async () => {
    const { state, budget } = budgetOf(1_000_000)
    const { failure } = await readAll(counted(budget, pieces, 4 * 1024 * 1024))
    expect(failure).toMatchObject({ failure: 'resources', isFinal: true })
    expect([state.highest < 1_400_000, state.held]).toEqual([true, 0])
  })

  test('counts none where events are small', async () => {
    const { state, budget } = budgetOf(0)
    expect((await readAll(counted(budget, [encode('data: x\n\n')]))).failure).toBeUndefined()
    expect(state.highest).toBe(0)
  })
})

describe('a stream in a framing of its own', () => {
  const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
  const head = framed(encode(chunkJson({ content: 'Hel' })))
  const whole = Buffer.concat([head, framed(encode(chunkJson({ content: 'lo' }, 'stop'))), framed(encode({}))])

  function framedReply(steps: readonly BodyStep[]): { readonly reply: StreamReply; readonly body: FakeBody } {
    const body = fakeBody(steps)
    const decoder = chatOf(openai).stream(chatRequest({ stream: true }), anyone)
    return { reply: streamReply(body, decoder, { ...options, framing: lengthPrefixed }), body }
  }

  test('is read by that, cut at any place', async () => {
    for (let place = 0; place <= whole.length; place++) {
      const { text, failure } = await readAll(framedReply(cutAt(whole, [place])).reply)
      expect({ text, failure }).toEqual({ text: 'Hello', failure: undefined })
    }
  })

  test('is a cut when its bytes end before', async () => {
    const { text, failure } = await readAll(framedReply([whole.subarray(0, head.length + 5)]).reply)
    expect({ text, failure: failure?.failure }).toEqual({ text: 'Hel', failure: 'cut' })
  })

  test('is malformed when its bytes are not of the framing', async () => {
    const { reply, body } = framedReply([head, new Uint8Array([0xff, 0, 0, 0, 1])])
    const { text, failure } = await readAll(reply)
    expect({ text, failure: failure?.failure }).toEqual({ text: 'Hel', failure: 'malformed' })
    expect(body.isCancelled).toBe(true)
  })

  test('has events of at most 1 MiB, and is not read on when one is announced as larger', async () => {
    const { reply, body } = framedReply([head, new Uint8Array([0, 0x7f, 0, 0, 0]), whole])
    const { text, failure } = await readAll(reply)
    expect({ text, failure: failure?.failure }).toEqual({ text: 'Hel', failure: 'too_large' })
    expect(body.reads).toBe(2)
  })
})

describe('the end of a stream', () => {
  function ended(...steps: readonly BodyStep[]) {
    const reply = replyOf(fakeBody(steps))
    const ends: unknown[] = []
    reply.onEnd((failure, counted) => ends.push([failure, counted?.totalTokens]))
    return { reply, ends }
  }

  test('is reported once it was read, with the usage', async () => {
    const { reply, ends } = ended(hel, stop, usage, done)
    for (let read = 0; read < 3; read += 1) await reply.read()
    expect(ends).toEqual([])
    await readAll(reply)
    reply.cancel()
    expect(ends).toEqual([[undefined, 3]])
  })

  test('is reported with its failure', async () => {
    const { reply, ends } = ended(hel)
    const { failure } = await readAll(reply)
    await readAll(reply)
    expect(ends).toEqual([[failure, undefined]])
  })

  test('is reported as cancelled, also after all parts were read', async () => {
    for (const steps of [[hel, lo], [hel + stop + done]]) {
      const { reply, ends } = ended(...steps)
      await reply.read()
      reply.cancel()
      await readAll(reply)
      expect(ends).toEqual([[new Cancelled(), undefined]])
    }
  })

  test('has the usage of the last parts', async () => {
    const decoder = chatOf(openai).stream(chatRequest({ stream: true }), anyone)
    const counted = { promptTokens: 2, completionTokens: 3, totalTokens: 5 }
    const last = { ...deltaPart({ id: 'c1', created: 1, model: 'm' }, {}), usage: counted }
    const reply = streamReply(fakeBody([hel, stop, done]), { ...decoder, end: () => [last] }, options)
    const ends: unknown[] = []
    reply.onEnd((failure, total) => ends.push([failure, total]))
    await readAll(reply)
    expect(ends).toEqual([[undefined, counted]])
  })
})

describe('content behind a finish', () => {
  test.each([
    ['[DONE]', [stop, hel, stop, done], undefined],
    ['the end of the body', [stop, hel, stop], undefined],
    ['a broken connection, as a cut', [stop, hel, stop, transportError('short_body')], 'cut'],
  ])('passes, also before %s', async (_name, steps: readonly BodyStep[], failure) => {
    const read = await readAll(replyOf(fakeBody(steps)))
    expect(read.text).toBe('Hel')
    if (failure === undefined) expect(read.failure).toBeUndefined()
    else expect(read.failure).toMatchObject({ failure })
  })
})

describe('the last parts of the decoder', () => {
  const end = deltaPart({ id: 'c1', created: 1, model: 'm' }, { content: '!' })

  function endingReply(body: FakeBody): StreamReply {
    const decoder = chatOf(openai).stream(chatRequest({ stream: true }), anyone)
    return streamReply(body, { ...decoder, end: () => [end] }, options)
  }

  test.each([
    ['[DONE]', [hel, stop, done]],
    ['the end of the body', [hel, stop]],
    ['a broken connection after the finish', [hel, stop, transportError('short_body')]],
    ['[DONE] without a finish_reason', [hel, done]],
  ])('come once, after %s', async (_name, steps: readonly BodyStep[]) => {
    const { parts, text, failure } = await readAll(endingReply(fakeBody(steps)))
    expect(text).toBe('Hel!')
    expect(parts.at(-1)).toBe(end)
    expect(failure).toBeUndefined()
  })

  test('come after silence when only the end of the body is missing', async () => {
    jest.useFakeTimers()
    const reply = endingReply(fakeBody([hel, stop], { hangs: true }))
    for (let read = 0; read < 2; read += 1) await reply.read()
    const reading = readAll(reply)
    jest.advanceTimersByTime(idleMs + 1)
    expect((await reading).parts).toEqual([end])
  })

  test.each([
    ['a cut', [hel]],
    ['a failure', [hel, broken]],
    ['an empty stream', [done]],
  ])('do not come after %s', async (_name, steps: readonly BodyStep[]) => {
    const { parts, failure } = await readAll(endingReply(fakeBody(steps)))
    expect(parts).not.toContain(end)
    expect(failure).toBeDefined()
  })

  test('do not come after a cancel', async () => {
    const reply = endingReply(fakeBody([hel, stop, done]))
    await reply.read()
    reply.cancel()
    expect(await reply.read()).toBeUndefined()
  })
})

describe('however its bytes are cut up, a stream', () => {
  const cuts = fc.array(fc.nat(900), { maxLength: 40 })
  const whole: readonly (readonly [string, string])[] = [
    ['in order', role + hel + ': ping\n\n' + lo + stop + usage + done],
    ['with other line ends', (hel + lo + stop + done).replaceAll('\n', '\r\n')],
    ['with a byte order mark, umlauts and emoji', `\ufeff${event(chunkJson({ content: 'Grüße 🌍' }))}${stop}${done}`],
    ['without [DONE]', hel + lo + stop],
    ['with malformed events', hel + broken + lo + broken + stop + done],
    ['that is cut', role + hel + lo],
    ['with an error in it', hel + lo + event({ error: { message: 'no', code: 503 } })],
    ['that is malformed', broken + hel],
    ['that is empty', `: a\n\n${role}${done}`],
  ]
  test.each(whole)('%s gives the same parts, or the same failure', async (_name, text) => {
    const bytes = new TextEncoder().encode(text)
    const expected = await readSteps(
      ...cutAt(
        bytes,
        Array.from({ length: bytes.length }, (_each, index) => index),
      ),
    )
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const { parts, failure } = await readSteps(...cutAt(bytes, places))
        expect(failure?.failure).toBe(expected.failure?.failure)
        // Parts from the same read as the failure may be lost with it; a resume requests them again.
        const said = parts.map(({ data }) => new TextDecoder().decode(data))
        const all = expected.parts.map(({ data }) => new TextDecoder().decode(data))
        expect(said).toEqual(failure === undefined ? all : all.slice(0, said.length))
      }),
      { numRuns: 60 },
    )
  })
})

describe('a stream that falls silent', () => {
  /** Reads all parts that are there; the last read stays pending. */
  async function hanging(...steps: readonly BodyStep[]) {
    jest.useFakeTimers()
    const body = fakeBody(steps, { hangs: true })
    const reply = replyOf(body)
    for (const _step of steps) await reply.read()
    return { body, reading: readAll(reply) }
  }

  test('after text is a cut after its idle time (failover.md row 38)', async () => {
    const { body, reading } = await hanging(hel)
    jest.advanceTimersByTime(idleMs - 1)
    expect(body.isCancelled).toBe(false)
    jest.advanceTimersByTime(2)
    expect((await reading).failure).toMatchObject({
      failure: 'cut',
      message: 'silent for 60 s',
      timedOut: true,
      status: 200,
    })
    expect(body.isCancelled).toBe(true)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('after its finish_reason ends well after 5 s (failover.md row 36)', async () => {
    const { body, reading } = await hanging(hel, stop)
    jest.advanceTimersByTime(4_999)
    expect(body.isCancelled).toBe(false)
    jest.advanceTimersByTime(2)
    expect(await reading).toMatchObject({ failure: undefined })
    expect(body.isCancelled).toBe(true)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('but for pings after its finish_reason ends well after 5 s, with the usage that came', async () => {
    jest.useFakeTimers()
    let pings = 0
    const pinging = () =>
      new Promise<Uint8Array>((resolve) =>
        setTimeout(() => resolve(encode(pings++ === 2 ? usage : ': ping\n\n')), 1_000),
      )
    const steps = [hel, stop]
    const body = { ...fakeBody([]), read: async () => encode(steps.shift() ?? '') }
    const reply = replyOf({ ...body, read: () => (steps.length > 0 ? body.read() : pinging()) })
    const reading = readAll(reply)
    for (let second = 0; second < 6; second++) {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
      jest.advanceTimersByTime(1_000)
    }
    const { parts, failure } = await reading
    expect([parts.length, parts.at(-1)?.usage?.totalTokens, failure]).toEqual([3, 3, undefined])
  })

  test('after a finish_reason is a cut where another choice may follow', async () => {
    jest.useFakeTimers()
    const body = fakeBody([hel, stop], { hangs: true })
    const reply = streamReply(body, chatOf(openai).stream(chatRequest({ stream: true, n: 2 }), anyone), {
      ...options,
    })
    for (let read = 0; read < 2; read += 1) await reply.read()
    const reading = readAll(reply)
    jest.advanceTimersByTime(idleMs + 1)
    expect((await reading).failure).toMatchObject({ failure: 'cut', timedOut: true })
  })

  test('only because this process has not read its bytes is not cut', async () => {
    jest.useFakeTimers()
    let isBehind = true
    const body = fakeBody([hel], { hangs: true })
    const reply = streamReply(
      { ...body, hasPendingBytes: () => isBehind },
      chatOf(openai).stream(chatRequest({ stream: true }), anyone),
      options,
    )
    await reply.read()
    const reading = readAll(reply)
    jest.advanceTimersByTime(3 * idleMs)
    expect(body.isCancelled).toBe(false)
    isBehind = false
    jest.advanceTimersByTime(idleMs + 1)
    expect((await reading).failure).toMatchObject({ failure: 'cut', timedOut: true })
  })

  test('before text has no timer: the commit layer has one', async () => {
    jest.useFakeTimers()
    void replyOf(fakeBody([role], { hangs: true })).read()
    expect(jest.getTimerCount()).toBe(0)
  })

  test('is timed from the last bytes, comments included', async () => {
    jest.useFakeTimers()
    const left = [hel, ': ping\n\n', ': ping\n\n', lo]
    const body = {
      read: () =>
        new Promise<Uint8Array | undefined>((resolve) => {
          const step = left.shift()
          if (step === undefined) return
          setTimeout(() => resolve(new TextEncoder().encode(step)), 50_000)
        }),
      hasPendingBytes: () => false,
      cancel: () => undefined,
    }
    const reply = streamReply(body, chatOf(openai).stream(chatRequest({ stream: true }), anyone), options)
    const texts: string[] = []
    const reading = (async () => {
      for (let next = await reply.read(); next !== undefined; next = await reply.read())
        texts.push(...next.map(({ text }) => text))
    })()
    reading.catch(() => undefined)
    for (let time = 0; time < 4; time += 1) {
      jest.advanceTimersByTime(50_000)
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
    }
    expect(texts).toEqual(['Hel', 'lo'])
    reply.cancel()
  })

  /** A stream that begins with text and then sends this every 10 s. */
  async function every10s(step: string, seconds: number): Promise<StreamReply | Read> {
    jest.useFakeTimers()
    let isCancelled = false
    let isFirst = true
    const body = {
      read: () =>
        new Promise<Uint8Array | undefined>((resolve, reject) => {
          const bytes = new TextEncoder().encode(isFirst ? hel : step)
          isFirst = false
          setTimeout(() => (isCancelled ? reject(transportError('aborted')) : resolve(bytes)), 10_000)
        }),
      hasPendingBytes: () => false,
      cancel() {
        isCancelled = true
      },
    }
    const reply = streamReply(body, chatOf(openai).stream(chatRequest({ stream: true }), anyone), options)
    let outcome: Read | undefined
    void readAll(reply).then((read) => {
      outcome = read
    })
    for (let time = 0; time < seconds / 10; time += 1) {
      jest.advanceTimersByTime(10_000)
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
    }
    return outcome ?? reply
  }

  test('but for comments is a cut after 300 s without content', async () => {
    expect(await every10s(': ping\n\n', 330)).toMatchObject({
      failure: { failure: 'cut', message: 'no content for 300 s', timedOut: true },
    })
  })

  test('never, because it continues, is not cut after 300 s', async () => {
    const reply = await every10s(lo, 700)
    expect(reply).toHaveProperty('kind', 'stream')
    if ('cancel' in reply) reply.cancel()
  })

  test.each([1, 2])('without a reader after %p reads is not silent', async (reads) => {
    jest.useFakeTimers()
    const reply = replyOf(fakeBody([hel, lo, stop, done]))
    for (let read = 0; read < reads; read += 1) await reply.read()
    jest.advanceTimersByTime(200_000)
    expect((await readAll(reply)).failure).toBeUndefined()
  })
})

describe('a stream that is cancelled', () => {
  test('cancels its upstream and ends', async () => {
    const body = fakeBody([hel, lo])
    const reply = replyOf(body)
    await reply.read()
    reply.cancel()
    expect(body.isCancelled).toBe(true)
    expect(await reply.read()).toBeUndefined()
  })

  test('while it is being read ends without a failure', async () => {
    const reply = replyOf(fakeBody([hel], { hangs: true }))
    await reply.read()
    const reading = readAll(reply)
    reply.cancel()
    expect((await reading).failure).toBeUndefined()
  })

  test('before it was read cancels its upstream', () => {
    const body = fakeBody([hel])
    replyOf(body).cancel()
    expect(body.isCancelled).toBe(true)
  })

  test('twice, or after its end, is cancelled once', async () => {
    jest.useFakeTimers()
    let cancels = 0
    const body = fakeBody([hel, stop, done])
    const reply = streamReply(
      {
        ...body,
        cancel: () => {
          cancels += 1
        },
      },
      chatOf(openai).stream(chatRequest({ stream: true }), anyone),
      options,
    )
    await readAll(reply)
    reply.cancel()
    reply.cancel()
    expect(cancels).toBe(0)
  })

  test('leaves no timer', async () => {
    jest.useFakeTimers()
    const reply = replyOf(fakeBody([hel, lo]))
    await reply.read()
    expect(jest.getTimerCount()).toBe(2)
    reply.cancel()
    expect(jest.getTimerCount()).toBe(0)
  })
})

describe('after [DONE] the upstream', () => {
  async function afterDone(body: FakeBody): Promise<void> {
    jest.useFakeTimers()
    await readAll(replyOf(body))
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  }

  test('is read to its end, so that the connection can be used again', async () => {
    const body = fakeBody([hel + stop + done])
    await afterDone(body)
    expect(body.reads).toBe(2)
    expect(body.isCancelled).toBe(false)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('is cancelled when it continues (failover.md row 37)', async () => {
    const body = fakeBody([hel + stop + done, hel])
    await afterDone(body)
    expect(body.isCancelled).toBe(true)
  })

  test('is cancelled when it does not end within 250 ms', async () => {
    const body = fakeBody([hel + stop + done], { hangs: true })
    await afterDone(body)
    jest.advanceTimersByTime(249)
    expect(body.isCancelled).toBe(false)
    jest.advanceTimersByTime(1)
    expect(body.isCancelled).toBe(true)
  })
})

test('an answer that only its end shows to be none is malformed', async () => {
  const { text, failure } = await readAll(replyEndingWith(new MalformedAnswer('malformed', 'it ended with an error')))
  expect([text, failure?.failure]).toEqual(['Hi', 'malformed'])
})
