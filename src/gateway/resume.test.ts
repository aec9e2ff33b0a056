import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChatReply } from '../protocols/protocol.ts'
import { failover } from '../service/failover.ts'
import type { Call } from '../service/service.ts'
import { callOf } from '../service/testing.ts'
import type { ChatChunk } from '../wire/chat-chunk.ts'
import { WireError } from '../wire/error.ts'
import { deltaChunk } from '../wire/testing.ts'
import { resumable } from './resume.ts'
import {
  chunks,
  cutFailure,
  fakeProvider,
  fakeStream,
  failureOf,
  headFrom,
  jsonOf,
  readAll,
  requestOf,
  silentStream,
  textOf,
  wholeReply,
  type FakeProvider,
  type StreamStep,
} from './testing.ts'

const request = requestOf({ stream: true })
const { text, finish } = chunks

/** A stream that was cut after these steps, and those who may take it up. */
function interrupted(
  steps: readonly StreamStep[],
  others: readonly FakeProvider[],
  call: Call = callOf(),
  isResumable = true,
) {
  const first = fakeStream(...steps, cutFailure())
  const walk = failover<ReturnType<FakeProvider['candidate']>, ChatReply>(
    others.map((provider) => provider.candidate('m')),
  )
  return resumable({ first, request, call, walk, isResumable })
}

/** Another provider that answers with these steps. */
function other(...steps: readonly StreamStep[]): FakeProvider {
  return fakeProvider('second', [fakeStream(...steps)])
}

function texts(...pieces: string[]): ChatChunk[] {
  return pieces.map((piece) => text(piece, 'second'))
}

function expectCutOff(error: unknown): void {
  expect(error).toBeInstanceOf(WireError)
  expect(error).toMatchObject({
    status: 502,
    type: 'api_error',
    code: 'provider_error',
    message: 'The answer was cut off: the stream broke off',
  })
}

describe('a stream that is not cut', () => {
  test('passes as it is, and asks nobody else', async () => {
    const second = other()
    const first = fakeStream(chunks.role(), text('Hello'), finish(), chunks.usage())
    const walk = failover<ReturnType<FakeProvider['candidate']>, ChatReply>([second.candidate('m')])
    const { chunks: read, error } = await readAll(
      resumable({ first, request, call: callOf(), walk, isResumable: true }),
    )
    expect(error).toBeUndefined()
    expect(read).toEqual([chunks.role(), text('Hello'), finish(), chunks.usage()])
    expect(second.requests).toEqual([])
  })

  test('tells whether it is empty', () => {
    const walk = failover<ReturnType<FakeProvider['candidate']>, ChatReply>([])
    expect(
      resumable({ first: { ...fakeStream(), isEmpty: true }, request, call: callOf(), walk, isResumable: true })
        .isEmpty,
    ).toBe(true)
  })
})

describe('a stream that is cut', () => {
  const same: readonly (readonly [string, readonly StreamStep[], readonly StreamStep[]])[] = [
    ['in the same pieces', [text('Hel'), text('lo')], texts('Hel', 'lo', ' world')],
    ['in smaller pieces', [text('Hello')], texts('H', 'e', 'l', 'l', 'o', ' world')],
    ['in larger pieces', [text('H'), text('e'), text('llo')], texts('Hello world')],
    ['with a border elsewhere', [text('Hel'), text('lo')], texts('He', 'llo w', 'orld')],
    ['all in one read', [text('Hel'), text('lo')], [texts('He', 'llo w', 'orld')]],
    [
      'with chunks between that say nothing',
      [chunks.role(), text('Hello')],
      [chunks.role(), text('Hello'), chunks.role(), text(' world')],
    ],
    ['which is not plain ASCII', [text('Grüße, 🌍')], texts('Grü', 'ße, ', '🌍', ' und alle')],
  ]
  test.each(same)("goes on exactly once with another's same text %s", async (_name, before, after) => {
    const { chunks: read, error } = await readAll(interrupted(before, [other(...after, finish('stop', 'second'))]))
    expect(error).toBeUndefined()
    expect(textOf(read)).toBe(_name.startsWith('which') ? 'Grüße, 🌍 und alle' : 'Hello world')
    expect(read.at(-1)?.finishReason).toBe('stop')
  })

  test('goes on exactly once however both are cut into chunks', async () => {
    const answer = 'The quick brown fox jumps over the läzy dog 🌍 twice.'
    const borders = fc.array(fc.nat(answer.length), { maxLength: 12 })
    const cut = (from: number, to: number, at: readonly number[]) => {
      const sorted = [
        from,
        ...at.filter((place) => place > from && place < to).toSorted((one, another) => one - another),
        to,
      ]
      return sorted
        .slice(1)
        .map((end, index) => answer.slice(sorted[index], end))
        .filter((piece) => piece !== '')
    }
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: answer.length }),
        borders,
        borders,
        fc.boolean(),
        async (place, mine, theirs, isOneRead) => {
          const after = texts(...cut(0, answer.length, theirs))
          const { chunks: read, error } = await readAll(
            interrupted(
              cut(0, place, mine).map((piece) => text(piece)),
              [other(...(isOneRead ? [after] : after), finish('stop', 'second'))],
            ),
          )
          expect(error).toBeUndefined()
          expect(textOf(read)).toBe(answer)
          expect(read.filter(({ finishReason }) => finishReason !== undefined)).toHaveLength(1)
        },
      ),
      { numRuns: 100 },
    )
  })

  test('keeps id, created and model of its first chunk (failover.md row 39)', async () => {
    const { chunks: read } = await readAll(
      interrupted([text('Hel')], [other(...texts('Hel', 'lo', ' world'), finish('stop', 'second'))]),
    )
    for (const chunk of read) expect(jsonOf(chunk)).toMatchObject(headFrom('first'))
  })

  test('passes on the usage of the one that finished it', async () => {
    const { chunks: read } = await readAll(
      interrupted([text('Hel')], [other(...texts('Hello'), finish(), chunks.usage())]),
    )
    expect(read.at(-1)?.usage).toEqual({ promptTokens: 3, completionTokens: 4, totalTokens: 7 })
  })

  test('ends well when only its finish_reason was missing', async () => {
    const { chunks: read, error } = await readAll(
      interrupted([text('Hello')], [other(...texts('Hello'), finish('length', 'second'))]),
    )
    expect(error).toBeUndefined()
    expect(textOf(read)).toBe('Hello')
    expect(read.at(-1)?.finishReason).toBe('length')
  })

  test('ends well when the finish_reason comes with the last of the same text', async () => {
    const last = { ...text('llo', 'second'), finishReason: 'stop' }
    const { chunks: read, error } = await readAll(interrupted([text('Hello')], [other(text('He', 'second'), last)]))
    expect(error).toBeUndefined()
    expect(textOf(read)).toBe('Hello')
    expect(read.at(-1)?.finishReason).toBe('stop')
  })

  const differing: readonly (readonly [string, readonly StreamStep[]])[] = [
    ['at the first character', texts('Good day', ' to you')],
    ['later', texts('Hel', 'p me')],
    ["in a letter's case", texts('HELLO world')],
    ['by ending before', [...texts('Hel'), finish('stop', 'second')]],
    ['by saying nothing', [finish('stop', 'second')]],
    ['by ending before without an end', texts('Hel')],
  ]
  test.each(differing)('is given up when the other differs %s', async (_name, after) => {
    const stream = fakeStream(...after)
    const { chunks: read, error } = await readAll(interrupted([text('Hello')], [fakeProvider('second', [stream])]))
    expectCutOff(error)
    expect(textOf(read)).toBe('Hello')
    expect(stream.isCancelled).toBe(true)
  })

  test('is not read any further at the first difference', async () => {
    const stream = fakeStream(...texts('Hel', 'p', 'me', 'now'))
    await readAll(interrupted([text('Hello')], [fakeProvider('second', [stream])]))
    expect(stream.reads).toBe(2)
  })

  test('is taken up by the third when the second differs', async () => {
    const third = fakeProvider('third', [fakeStream(text('Hello world', 'third'), finish())])
    const { chunks: read, error } = await readAll(interrupted([text('Hello')], [other(...texts('Good day')), third]))
    expect(error).toBeUndefined()
    expect(textOf(read)).toBe('Hello world')
  })

  test('is taken up by the third when the second fails, at once or while it repeats', async () => {
    for (const second of [
      fakeProvider('second', [failureOf('server_error')]),
      other(text('Hel', 'second'), cutFailure('another cut')),
    ]) {
      const third = fakeProvider('third', [fakeStream(text('Hello world', 'third'), finish())])
      const { chunks: read, error } = await readAll(interrupted([text('Hello')], [second, third]))
      expect(error).toBeUndefined()
      expect(textOf(read)).toBe('Hello world')
    }
  })

  test('survives several cuts in a row', async () => {
    const second = other(...texts('Hel', 'lo', ', wor'), cutFailure('second cut'))
    const third = fakeProvider('third', [fakeStream(text('Hello, world', 'third'), cutFailure('third cut'))])
    const fourth = fakeProvider('fourth', [fakeStream(text('Hello, world!', 'fourth'), finish('stop', 'fourth'))])
    const { chunks: read, error } = await readAll(interrupted([text('Hello')], [second, third, fourth]))
    expect(error).toBeUndefined()
    expect(textOf(read)).toBe('Hello, world!')
    for (const chunk of read) expect(jsonOf(chunk)).toMatchObject(headFrom('first'))
  })

  test('tells the last cut when nobody is left', async () => {
    const { chunks: read, error } = await readAll(
      interrupted([text('Hello')], [other(...texts('Hello world'), cutFailure('cut again'))]),
    )
    expect(textOf(read)).toBe('Hello world')
    expect(error).toMatchObject({ message: 'The answer was cut off: cut again' })
  })

  test('tells the cut, not why nobody took it up', async () => {
    for (const failure of [failureOf('credential'), failureOf('content_policy', { isFinal: true })]) {
      expectCutOff((await readAll(interrupted([text('Hello')], [fakeProvider('second', [failure])]))).error)
    }
  })

  test('is an error at once when it is not to be resumed', async () => {
    const second = other(...texts('Hello world'), finish())
    expectCutOff((await readAll(interrupted([text('Hello')], [second], callOf(), false))).error)
    expect(second.requests).toEqual([])
  })

  test('is an error at once after its finish_reason', async () => {
    const second = other(...texts('Hello'), finish(), chunks.usage())
    expectCutOff((await readAll(interrupted([text('Hello'), finish()], [second]))).error)
    expect(second.requests).toEqual([])
  })

  const beyondText: readonly (readonly [string, StreamStep])[] = [
    ['a tool call', chunks.toolCall()],
    ['reasoning', chunks.reasoning('They ask')],
    ['a refusal', chunks.refusal('I cannot')],
    ['a second choice', chunks.secondChoice('Hi')],
  ]
  test.each(beyondText)('is an error at once when it had %s', async (_name, step) => {
    const second = other(...texts('Hello world'), finish())
    expectCutOff((await readAll(interrupted([text('Hel'), step, text('lo')], [second]))).error)
    expect(second.requests).toEqual([])
  })

  test('goes on with a tool call that begins where the text ended', async () => {
    const { chunks: read, error } = await readAll(
      interrupted([text('Hello')], [other(...texts('Hello'), chunks.toolCall(), finish('tool_calls', 'second'))]),
    )
    expect(error).toBeUndefined()
    expect(read.map(({ isBeyondText }) => isBeyondText)).toEqual([false, true, false])
    expect(read.at(-1)?.finishReason).toBe('tool_calls')
  })

  test('is not taken up by one that calls a tool before the text ends', async () => {
    expectCutOff(
      (
        await readAll(
          interrupted(
            [text('Hello')],
            [other(text('Hel', 'second'), chunks.toolCall(), text('lo', 'second'), finish('tool_calls', 'second'))],
          ),
        )
      ).error,
    )
  })

  test('never loses a tool call that comes with the last of the same text', async () => {
    const both = deltaChunk(headFrom('second'), {
      content: 'lo',
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '' } }],
    })
    const { chunks: read, error } = await readAll(
      interrupted([text('Hello')], [other(text('Hel', 'second'), both, finish('tool_calls', 'second'))]),
    )
    expect(error !== undefined || read.some(({ isBeyondText }) => isBeyondText)).toBe(true)
    expect(textOf(read)).toBe('Hello')
  })

  test('is not resumed again after a tool call of the one that took it up', async () => {
    const third = fakeProvider('third', [fakeStream(text('Hello'))])
    const { error } = await readAll(
      interrupted([text('Hello')], [other(...texts('Hello'), chunks.toolCall(), cutFailure()), third]),
    )
    expectCutOff(error)
    expect(third.requests).toEqual([])
  })

  test('is not resumed when the other answers whole', async () => {
    expectCutOff(
      (await readAll(interrupted([text('Hello')], [fakeProvider('second', [wholeReply('Hello world')])]))).error,
    )
  })

  test('is not resumed beyond 1 Mi characters of text', async () => {
    const second = other(...texts('x'))
    expectCutOff((await readAll(interrupted([text('x'.repeat(1024 * 1024 + 1))], [second]))).error)
    expect(second.requests).toEqual([])
  })

  test('does not hide a mistake of ours', async () => {
    const mistake = new TypeError('ours')
    const walk = failover<ReturnType<FakeProvider['candidate']>, ChatReply>([other().candidate('m')])
    const { error } = await readAll(
      resumable({ first: fakeStream(text('Hi'), mistake), request, call: callOf(), walk, isResumable: true }),
    )
    expect(error).toBe(mistake)
  })
})

describe('a stream that is cut and continued', () => {
  const continuing = (...steps: readonly StreamStep[]) =>
    fakeProvider('second', [fakeStream(...steps)], { continues: true })
  const messagesOf = (provider: FakeProvider, position = 0): unknown => {
    const body = provider.requests[position]?.body
    return body === undefined ? undefined : jsonOf({ data: body })['messages']
  }

  test('asks the next to go on after what the client has', async () => {
    const second = continuing(chunks.role(), ...texts(' wor', 'ld'), finish('stop', 'second'))
    const { chunks: read, error } = await readAll(interrupted([text('Hel'), text('lo')], [second]))
    expect(error).toBeUndefined()
    expect(textOf(read)).toBe('Hello world')
    expect(messagesOf(second)).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ])
    for (const chunk of read) expect(jsonOf(chunk)).toMatchObject(headFrom('first'))
  })

  test('is continued after all that the client has when it is cut again', async () => {
    const third = fakeProvider('third', [fakeStream(text('!', 'third'), finish())], { continues: true })
    const { chunks: read } = await readAll(
      interrupted([text('Hello')], [continuing(...texts(' world'), cutFailure()), third]),
    )
    expect(textOf(read)).toBe('Hello world!')
    expect(messagesOf(third)).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello world' },
    ])
  })

  test('is asked for afresh when the continuation is rejected', async () => {
    const second = fakeProvider(
      'second',
      [failureOf('bad_request', { status: 400 }), fakeStream(...texts('Hello world'), finish())],
      { continues: true },
    )
    const { chunks: read, error } = await readAll(interrupted([text('Hello')], [second]))
    expect(error).toBeUndefined()
    expect(textOf(read)).toBe('Hello world')
    expect(messagesOf(second, 1)).toEqual([{ role: 'user', content: 'Hi' }])
  })

  test('is not asked for afresh when it failed otherwise', async () => {
    const second = fakeProvider('second', [failureOf('server_error')], { continues: true })
    const third = fakeProvider('third', [fakeStream(...texts('Hello world'), finish())])
    const { chunks: read } = await readAll(interrupted([text('Hello')], [second, third]))
    expect(second.requests).toHaveLength(1)
    expect(textOf(read)).toBe('Hello world')
  })

  test('never tells the client of a rejected continuation', async () => {
    const second = fakeProvider('second', [failureOf('bad_request', { status: 400 })], { continues: true })
    expectCutOff((await readAll(interrupted([text('Hello')], [second]))).error)
    expect(second.requests).toHaveLength(2)
  })

  test('escapes what the client has as JSON', async () => {
    const second = continuing(finish('stop', 'second'))
    await readAll(interrupted([text('"quoted"\n🌍\\')], [second]))
    expect(messagesOf(second)).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '"quoted"\n🌍\\' },
    ])
  })

  test('moves on when the continuation says nothing', async () => {
    const third = fakeProvider('third', [fakeStream(...texts('Hello world'), finish())])
    const { chunks: read, error } = await readAll(interrupted([text('Hello')], [continuing(chunks.role()), third]))
    expect(error).toBeUndefined()
    expect(textOf(read)).toBe('Hello world')
  })
})

describe('a stream that is cancelled', () => {
  test('cancels who serves it', () => {
    const first = fakeStream(text('Hello'))
    const walk = failover<ReturnType<FakeProvider['candidate']>, ChatReply>([])
    resumable({ first, request, call: callOf(), walk, isResumable: true }).cancel()
    expect(first.isCancelled).toBe(true)
  })

  test('cancels who took it up', async () => {
    const stream = fakeStream(...texts('Hello', ' wor', 'ld'))
    const reply = interrupted([text('Hello')], [fakeProvider('second', [stream])])
    await reply.read()
    await reply.read()
    reply.cancel()
    expect(stream.isCancelled).toBe(true)
  })

  test('cancels who is just repeating what the client has', async () => {
    const stream = silentStream()
    const reply = interrupted([text('Hello')], [fakeProvider('second', [stream])])
    await reply.read()
    const reading = readAll(reply)
    await Bun.sleep(1)
    reply.cancel()
    expect((await reading).error).toBeUndefined()
    expect(stream.isCancelled).toBe(true)
  })

  test('while another repeats asks nobody else', async () => {
    const third = fakeProvider('third', [fakeStream(text('Hello world', 'third'))])
    const reply = interrupted([text('Hello')], [fakeProvider('second', [silentStream()]), third])
    await reply.read()
    const reading = readAll(reply)
    await Bun.sleep(1)
    reply.cancel()
    await reading
    expect(third.requests).toEqual([])
  })

  test("while another is asked lets go of that one's answer", async () => {
    let answer = (_reply: ChatReply): void => undefined
    const late = fakeStream(...texts('Hello world'))
    const second = fakeProvider('second', [
      () =>
        new Promise<ChatReply>((resolve) => {
          answer = resolve
        }),
    ])
    const reply = interrupted([text('Hello')], [second])
    await reply.read()
    const reading = readAll(reply)
    await Bun.sleep(1)
    reply.cancel()
    answer(late)
    expect(await reading).toEqual({ chunks: [] })
    expect(late.isCancelled).toBe(true)
  })

  test('does not take its failure for a cut', async () => {
    const second = other(...texts('Hello world'))
    const reply = interrupted([text('Hello')], [second])
    await reply.read()
    reply.cancel()
    await readAll(reply)
    expect(second.requests).toEqual([])
  })

  test("by the caller's leaving asks nobody else, and tells the reason", async () => {
    const controller = new AbortController()
    const gone = new Error('gone')
    const second = fakeProvider('second', [
      async () => {
        controller.abort(gone)
        throw failureOf('reset')
      },
    ])
    const third = fakeProvider('third', [fakeStream(...texts('Hello world'))])
    const { error } = await readAll(interrupted([text('Hello')], [second, third], callOf(controller.signal)))
    expect(error).toBe(gone)
    expect(third.requests).toEqual([])
  })
})

describe('the request behind a stream', () => {
  /** What was told after each read: how often the request was let go of. */
  async function lettingGo(steps: readonly StreamStep[], isResumable = true): Promise<readonly number[]> {
    let times = 0
    const walk = failover<ReturnType<FakeProvider['candidate']>, ChatReply>([])
    const stream = resumable({
      first: fakeStream(...steps),
      request,
      call: callOf(),
      walk,
      isResumable,
      letGo: () => {
        times += 1
      },
    })
    const told = [times]
    for (let chunks = await stream.read(); chunks !== undefined; chunks = await stream.read()) told.push(times)
    return told
  }

  test('is let go of at once where nobody could resume it', async () => {
    expect(await lettingGo([text('a'), text('b')], false)).toEqual([1, 1, 1])
  })

  test('is held while somebody could', async () => {
    expect(await lettingGo([text('a'), text('b')])).toEqual([0, 0, 0])
  })

  test('is let go of once the answer is beyond text, or has its finish reason', async () => {
    expect(await lettingGo([text('a'), chunks.toolCall(), chunks.toolCall()])).toEqual([0, 0, 1, 1])
    expect(await lettingGo([text('a'), finish(), chunks.usage()])).toEqual([0, 0, 1, 1])
  })
})
