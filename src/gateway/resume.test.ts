import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { chunkReader } from '../formats/chat/chunk.ts'
import { chat } from '../formats/chat/format.ts'
import { choicePart, deltaPart } from '../formats/chat/testing.ts'
import { chunkPart, headMembers, partGatherer } from '../formats/chat/whole-and-parts.ts'
import { WireError } from '../formats/error.ts'
import type { StreamFormat } from '../formats/format.ts'
import type { Part } from '../formats/part.ts'
import type { Reply } from '../formats/reply.ts'
import { failover } from '../service/failover.ts'
import type { Call } from '../service/service.ts'
import { callOf, failureOf } from '../service/testing.ts'
import { resumable } from './resume.ts'
import {
  parts,
  cutFailure,
  fakeProvider,
  fakeStream,
  headFrom,
  partJson,
  readAll,
  requestOf,
  silentStream,
  partsText,
  wholeReply,
  type FakeProvider,
  type StreamStep,
} from './testing.ts'

const request = requestOf({ stream: true })
const { text, finish } = parts

/** A stream that is cut after these steps, and the candidates that may resume it. */
function interrupted(
  steps: readonly StreamStep[],
  others: readonly FakeProvider[],
  call: Call = callOf(),
  isResumable = true,
) {
  const first = fakeStream(...steps, cutFailure())
  const walk = failover<ReturnType<FakeProvider['candidate']>, Reply>(others.map((provider) => provider.candidate('m')))
  return resumable({ format: chat.stream, first, request, call, walk, isResumable })
}

/** Another provider that answers with these steps. */
function other(...steps: readonly StreamStep[]): FakeProvider {
  return fakeProvider('second', [fakeStream(...steps)])
}

function texts(...pieces: string[]): Part[] {
  return pieces.map((piece) => text(piece, 'second'))
}

function expectCutOff(error: unknown): void {
  expect(error).toBeInstanceOf(WireError)
  expect(error).toMatchObject({
    status: 502,
    type: 'api_error',
    code: 'provider_error',
    message: 'The answer was cut off: the connection was lost during the stream',
  })
}

describe('a stream that is not cut', () => {
  test('passes unchanged, and asks no other candidate', async () => {
    const second = other()
    const first = fakeStream(parts.role(), text('Hello'), finish(), parts.usage())
    const walk = failover<ReturnType<FakeProvider['candidate']>, Reply>([second.candidate('m')])
    const { parts: read, error } = await readAll(
      resumable({ format: chat.stream, first, request, call: callOf(), walk, isResumable: true }),
    )
    expect(error).toBeUndefined()
    expect(read).toEqual([parts.role(), text('Hello'), finish(), parts.usage()])
    expect(second.requests).toEqual([])
  })

  test('tells whether it is empty', () => {
    const walk = failover<ReturnType<FakeProvider['candidate']>, Reply>([])
    expect(
      resumable({
        format: chat.stream,
        first: { ...fakeStream(), isEmpty: true },
        request,
        call: callOf(),
        walk,
        isResumable: true,
      }).isEmpty,
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
      'with parts between that say nothing',
      [parts.role(), text('Hello')],
      [parts.role(), text('Hello'), parts.role(), text(' world')],
    ],
    ['which is not plain ASCII', [text('Grüße, 🌍')], texts('Grü', 'ße, ', '🌍', ' und alle')],
  ]
  test.each(same)('continues exactly once with the same text of another %s', async (_name, before, after) => {
    const { parts: read, error } = await readAll(interrupted(before, [other(...after, finish('stop', 'second'))]))
    expect(error).toBeUndefined()
    expect(partsText(read)).toBe(_name.startsWith('which') ? 'Grüße, 🌍 und alle' : 'Hello world')
    expect(read.at(-1)?.finishReason).toBe('stop')
  })

  test('continues exactly once however both texts are divided into parts', async () => {
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
          const { parts: read, error } = await readAll(
            interrupted(
              cut(0, place, mine).map((piece) => text(piece)),
              [other(...(isOneRead ? [after] : after), finish('stop', 'second'))],
            ),
          )
          expect(error).toBeUndefined()
          expect(partsText(read)).toBe(answer)
          expect(read.filter(({ finishReason }) => finishReason !== undefined)).toHaveLength(1)
        },
      ),
      { numRuns: 100 },
    )
  })

  test('is continued by its format, from the first part, the last part and the text of the client', async () => {
    const asked: unknown[] = []
    const format: StreamFormat = {
      ...chat.stream,
      continuation(...given) {
        asked.push(given)
        return chat.stream.continuation(...given)
      },
    }
    const first = fakeStream(text('Hel'), text('lo'), cutFailure())
    const walk = failover<ReturnType<FakeProvider['candidate']>, Reply>([
      other(...texts('Hello you'), finish('stop', 'second')).candidate('m'),
    ])
    await readAll(resumable({ format, first, request, call: callOf(), walk, isResumable: true }))
    expect(asked).toEqual([[request, { first: text('Hel'), place: text('lo'), last: text('lo') }, 'Hello', new Set()]])
  })

  test('keeps id, created and model of its first part (failover.md row 39)', async () => {
    const { parts: read } = await readAll(
      interrupted([text('Hel')], [other(...texts('Hel', 'lo', ' world'), finish('stop', 'second'))]),
    )
    for (const part of read) expect(partJson(part)).toMatchObject(headFrom('first'))
  })

  const logprobsOf = (...tokens: string[]) => ({
    content: tokens.map((token) => ({ token, logprob: -1, bytes: null, top_logprobs: [] })),
    refusal: null,
  })
  const scored = (content: string, ...tokens: string[]) =>
    choicePart(headFrom('second'), {
      index: 0,
      delta: { content },
      logprobs: logprobsOf(...tokens),
      finish_reason: null,
    })

  test.each<readonly [string, string, readonly string[], object | null]>([
    ['of its own tokens', 'Hello world', ['Hel', 'lo', ' wor', 'ld'], logprobsOf('lo', ' wor', 'ld')],
    ['none where a token spans the border', 'Hello world', ['Hello', ' world'], null],
    ['none where the tokens are another text', 'Hello world', ['x', 'y'], null],
  ])('carries log probabilities %s', async (_, content, tokens, expected) => {
    const { parts: read } = await readAll(
      interrupted([text('Hel')], [other(scored(content, ...tokens), finish('stop', 'second'))]),
    )
    const piece = read.find((part) => part.text === 'lo world')
    expect(partJson(piece ?? text(''))).toMatchObject({
      choices: [{ delta: { content: 'lo world' }, logprobs: expected }],
    })
  })

  test('carries no log probabilities of text that the client has', async () => {
    const last = choicePart(headFrom('second'), {
      index: 0,
      delta: { content: 'Hel' },
      logprobs: logprobsOf('Hel'),
      finish_reason: 'stop',
    })
    const { parts: read } = await readAll(interrupted([text('Hel')], [other(last)]))
    expect(read.map((part) => partJson(part)).at(-1)).toMatchObject({
      choices: [{ delta: { content: '' }, logprobs: null, finish_reason: 'stop' }],
    })
  })

  test('has the usage of the candidate that finished it', async () => {
    const { parts: read } = await readAll(
      interrupted([text('Hel')], [other(...texts('Hello'), finish(), parts.usage())]),
    )
    expect(read.at(-1)?.usage).toEqual({ promptTokens: 3, completionTokens: 4, totalTokens: 7 })
  })

  test('ends well when only its finish_reason was missing', async () => {
    const { parts: read, error } = await readAll(
      interrupted([text('Hello')], [other(...texts('Hello'), finish('length', 'second'))]),
    )
    expect(error).toBeUndefined()
    expect(partsText(read)).toBe('Hello')
    expect(read.at(-1)?.finishReason).toBe('length')
  })

  test('ends well when the finish_reason comes with the last of the same text', async () => {
    const last = choicePart(headFrom('second'), { index: 0, delta: { content: 'llo' }, finish_reason: 'stop' })
    const { parts: read, error } = await readAll(interrupted([text('Hello')], [other(text('He', 'second'), last)]))
    expect(error).toBeUndefined()
    expect(partsText(read)).toBe('Hello')
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
  test.each(differing)('is not resumed when the other text differs %s', async (_name, after) => {
    const stream = fakeStream(...after)
    const { parts: read, error } = await readAll(interrupted([text('Hello')], [fakeProvider('second', [stream])]))
    expectCutOff(error)
    expect(partsText(read)).toBe('Hello')
    expect(stream.isCancelled).toBe(true)
  })

  test('is read no further than the first difference', async () => {
    const stream = fakeStream(...texts('Hel', 'p', 'me', 'now'))
    await readAll(interrupted([text('Hello')], [fakeProvider('second', [stream])]))
    expect(stream.reads).toBe(2)
  })

  test('is resumed by the third when the second differs', async () => {
    const third = fakeProvider('third', [fakeStream(text('Hello world', 'third'), finish())])
    const { parts: read, error } = await readAll(interrupted([text('Hello')], [other(...texts('Good day')), third]))
    expect(error).toBeUndefined()
    expect(partsText(read)).toBe('Hello world')
  })

  test('is resumed by the third when the second fails, at once or while it repeats', async () => {
    for (const second of [
      fakeProvider('second', [failureOf('server_error')]),
      other(text('Hel', 'second'), cutFailure('another cut')),
    ]) {
      const third = fakeProvider('third', [fakeStream(text('Hello world', 'third'), finish())])
      const { parts: read, error } = await readAll(interrupted([text('Hello')], [second, third]))
      expect(error).toBeUndefined()
      expect(partsText(read)).toBe('Hello world')
    }
  })

  test('survives several cuts in a row', async () => {
    const second = other(...texts('Hel', 'lo', ', wor'), cutFailure('second cut'))
    const third = fakeProvider('third', [fakeStream(text('Hello, world', 'third'), cutFailure('third cut'))])
    const fourth = fakeProvider('fourth', [fakeStream(text('Hello, world!', 'fourth'), finish('stop', 'fourth'))])
    const { parts: read, error } = await readAll(interrupted([text('Hello')], [second, third, fourth]))
    expect(error).toBeUndefined()
    expect(partsText(read)).toBe('Hello, world!')
    for (const part of read) expect(partJson(part)).toMatchObject(headFrom('first'))
  })

  test('fails with the last cut when no candidate remains', async () => {
    const { parts: read, error } = await readAll(
      interrupted([text('Hello')], [other(...texts('Hello world'), cutFailure('cut again'))]),
    )
    expect(partsText(read)).toBe('Hello world')
    expect(error).toMatchObject({ message: 'The answer was cut off: cut again' })
  })

  test('fails with the cut, not with the failures to resume', async () => {
    for (const failure of [failureOf('credential'), failureOf('content_policy', { isFinal: true })]) {
      expectCutOff((await readAll(interrupted([text('Hello')], [fakeProvider('second', [failure])]))).error)
    }
  })

  test("is an error at once with onCut 'error'", async () => {
    const second = other(...texts('Hello world'), finish())
    expectCutOff((await readAll(interrupted([text('Hello')], [second], callOf(), false))).error)
    expect(second.requests).toEqual([])
  })

  test('is an error at once after its finish_reason', async () => {
    const second = other(...texts('Hello'), finish(), parts.usage())
    expectCutOff((await readAll(interrupted([text('Hello'), finish()], [second]))).error)
    expect(second.requests).toEqual([])
  })

  const beyondText: readonly (readonly [string, StreamStep])[] = [
    ['a tool call', parts.toolCall()],
    ['reasoning', parts.reasoning('They ask')],
    ['a refusal', parts.refusal('I cannot')],
    ['a second choice', parts.secondChoice('Hi')],
  ]
  test.each(beyondText)('is an error at once when it had %s', async (_name, step) => {
    const second = other(...texts('Hello world'), finish())
    expectCutOff((await readAll(interrupted([text('Hel'), step, text('lo')], [second]))).error)
    expect(second.requests).toEqual([])
  })

  test('continues with a tool call that begins where the text ended', async () => {
    const { parts: read, error } = await readAll(
      interrupted([text('Hello')], [other(...texts('Hello'), parts.toolCall(), finish('tool_calls', 'second'))]),
    )
    expect(error).toBeUndefined()
    expect(read.map(({ isBeyondText }) => isBeyondText)).toEqual([false, true, false])
    expect(read.at(-1)?.finishReason).toBe('tool_calls')
  })

  test('is not resumed by a candidate that calls a tool before the text ends', async () => {
    expectCutOff(
      (
        await readAll(
          interrupted(
            [text('Hello')],
            [other(text('Hel', 'second'), parts.toolCall(), text('lo', 'second'), finish('tool_calls', 'second'))],
          ),
        )
      ).error,
    )
  })

  test('never loses a tool call that comes with the last of the same text', async () => {
    const both = deltaPart(headFrom('second'), {
      content: 'lo',
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '' } }],
    })
    const { parts: read, error } = await readAll(
      interrupted([text('Hello')], [other(text('Hel', 'second'), both, finish('tool_calls', 'second'))]),
    )
    expect(error !== undefined || read.some(({ isBeyondText }) => isBeyondText)).toBe(true)
    expect(partsText(read)).toBe('Hello')
  })

  test('is not resumed again after a tool call of the second', async () => {
    const third = fakeProvider('third', [fakeStream(text('Hello'))])
    const { error } = await readAll(
      interrupted([text('Hello')], [other(...texts('Hello'), parts.toolCall(), cutFailure()), third]),
    )
    expectCutOff(error)
    expect(third.requests).toEqual([])
  })

  test('is not resumed by a whole answer', async () => {
    expectCutOff(
      (await readAll(interrupted([text('Hello')], [fakeProvider('second', [wholeReply('Hello world')])]))).error,
    )
  })

  test('is not resumed beyond 1 Mi characters of text', async () => {
    const second = other(...texts('x'))
    expectCutOff((await readAll(interrupted([text('x'.repeat(1024 * 1024 + 1))], [second]))).error)
    expect(second.requests).toEqual([])
  })

  test('does not hide an internal error', async () => {
    const mistake = new TypeError('ours')
    const walk = failover<ReturnType<FakeProvider['candidate']>, Reply>([other().candidate('m')])
    const { error } = await readAll(
      resumable({
        format: chat.stream,
        first: fakeStream(text('Hi'), mistake),
        request,
        call: callOf(),
        walk,
        isResumable: true,
      }),
    )
    expect(error).toBe(mistake)
  })
})

describe('a stream that is cut and continued', () => {
  const continuing = (...steps: readonly StreamStep[]) =>
    fakeProvider('second', [fakeStream(...steps)], { continues: true })
  const messagesOf = (provider: FakeProvider, position = 0): unknown => {
    const body = provider.requests[position]?.body
    return body === undefined ? undefined : partJson({ data: body })['messages']
  }

  test('asks the next to continue the text that the client has', async () => {
    const second = continuing(parts.role(), ...texts(' wor', 'ld'), finish('stop', 'second'))
    const { parts: read, error } = await readAll(interrupted([text('Hel'), text('lo')], [second]))
    expect(error).toBeUndefined()
    expect(partsText(read)).toBe('Hello world')
    expect(messagesOf(second)).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ])
    for (const part of read) expect(partJson(part)).toMatchObject(headFrom('first'))
  })

  test('is continued after all text of the client when it is cut again', async () => {
    const third = fakeProvider('third', [fakeStream(text('!', 'third'), finish())], { continues: true })
    const { parts: read } = await readAll(
      interrupted([text('Hello')], [continuing(...texts(' world'), cutFailure()), third]),
    )
    expect(partsText(read)).toBe('Hello world!')
    expect(messagesOf(third)).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello world' },
    ])
  })

  test('is requested anew when the continuation is rejected', async () => {
    const second = fakeProvider(
      'second',
      [failureOf('bad_request', { status: 400 }), fakeStream(...texts('Hello world'), finish())],
      { continues: true },
    )
    const { parts: read, error } = await readAll(interrupted([text('Hello')], [second]))
    expect(error).toBeUndefined()
    expect(partsText(read)).toBe('Hello world')
    expect(messagesOf(second, 1)).toEqual([{ role: 'user', content: 'Hi' }])
  })

  test('is not requested anew after another failure', async () => {
    const second = fakeProvider('second', [failureOf('server_error')], { continues: true })
    const third = fakeProvider('third', [fakeStream(...texts('Hello world'), finish())])
    const { parts: read } = await readAll(interrupted([text('Hello')], [second, third]))
    expect(second.requests).toHaveLength(1)
    expect(partsText(read)).toBe('Hello world')
  })

  test('hides a rejected continuation from the client', async () => {
    const second = fakeProvider('second', [failureOf('bad_request', { status: 400 })], { continues: true })
    expectCutOff((await readAll(interrupted([text('Hello')], [second]))).error)
    expect(second.requests).toHaveLength(2)
  })

  test('escapes the text of the client as JSON', async () => {
    const second = continuing(finish('stop', 'second'))
    await readAll(interrupted([text('"quoted"\n🌍\\')], [second]))
    expect(messagesOf(second)).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '"quoted"\n🌍\\' },
    ])
  })

  test('moves on when the continuation is empty', async () => {
    const third = fakeProvider('third', [fakeStream(...texts('Hello world'), finish())])
    const { parts: read, error } = await readAll(interrupted([text('Hello')], [continuing(parts.role()), third]))
    expect(error).toBeUndefined()
    expect(partsText(read)).toBe('Hello world')
  })
})

describe('a stream that holds its calls', () => {
  /** A call in pieces: its name, then its arguments by two characters. */
  function callParts(index: number, input: string, name = 'first'): Part[] {
    const read = chunkReader()
    const begin = { id: `call_${name}`, type: 'function', function: { name: `tool_${index}`, arguments: '' } }
    const more = (input.match(/.{1,2}/gs) ?? []).map((piece) => ({ function: { arguments: piece } }))
    return [begin, ...more].map((members) => {
      const choice = { index: 0, delta: { tool_calls: [{ index, ...members }] }, finish_reason: null }
      return chunkPart({ ...headMembers(headFrom(name)), choices: [choice] }, read)
    })
  }
  function holding(steps: readonly StreamStep[], others: readonly FakeProvider[], call: Call = callOf()) {
    const first = fakeStream(...steps)
    const walk = failover<ReturnType<FakeProvider['candidate']>, Reply>(others.map((each) => each.candidate('m')))
    return resumable({ format: chat.stream, first, request, call, walk, isResumable: true, holdsCalls: true })
  }
  const callsIn = (read: readonly Part[]) =>
    read
      .flatMap((part) => partJson(part)['choices'])
      .map((choice) => JSON.stringify(choice))
      .join('')
      .match(/tool_\d/g)

  test('passes each call when it is complete, and all at the finish', async () => {
    const stream = holding([parts.role(), text('Hi'), ...callParts(0, '{"a":1}'), ...callParts(1, '{}'), finish()], [])
    const counts: number[] = []
    for (let read = await stream.read(); read !== undefined; read = await stream.read()) counts.push(read.length)
    expect(counts).toEqual([2, 5, 3])
  })

  test('passes a call beyond 1 MiB, which is not resumed then', async () => {
    const second = other(...texts('Hi'))
    const large = deltaPart(headFrom('first'), {
      tool_calls: [{ index: 0, function: { arguments: `{"${'x'.repeat(1024 * 1024)}` } }],
    })
    const { parts: read, error } = await readAll(
      holding([text('Hi'), ...callParts(0, ''), large, cutFailure()], [second]),
    )
    expectCutOff(error)
    expect([read.length, second.requests]).toEqual([3, []])
  })

  test('goes on with the calls of another that agree as JSON, and keeps the first ids', async () => {
    const second = other(
      ...texts('Hi'),
      ...callParts(0, '{ "b": 2, "a": 1 }', 'second'),
      ...callParts(1, '{"c":3}', 'second'),
      finish(),
    )
    const { parts: read, error } = await readAll(
      holding([text('Hi'), ...callParts(0, '{"a":1,"b":2}'), ...callParts(1, '{"c'), cutFailure()], [second]),
    )
    expect(error).toBeUndefined()
    expect(callsIn(read)).toEqual(['tool_0', 'tool_1'])
    expect(JSON.stringify(read.map(partJson)).match(/call_[a-z]+/g)).toEqual(['call_first', 'call_second'])
  })

  test('marks attempts in the trail: cut, differing, resumed', async () => {
    const call = callOf()
    call.trail.push({ name: 'first', status: 200, ms: 0 })
    const second = other(...texts('Hi'), ...callParts(0, '{"a":2}', 'second'), finish())
    const third = fakeProvider('third', [fakeStream(...texts('Hi'), ...callParts(0, '{"a":1}'), finish())])
    const steps = [text('Hi'), ...callParts(0, '{"a":1}'), ...callParts(1, '{'), cutFailure()]
    expect((await readAll(holding(steps, [second, third], call))).error).toBeUndefined()
    expect(call.trail).toMatchObject([
      {
        name: 'first',
        failure: 'cut',
        tokens: { promptTokens: expect.any(Number), completionTokens: expect.any(Number) },
      },
      { name: 'second', differedAt: 'call:1', ambiguous: true },
      { name: 'third', isResumed: true },
    ])
  })

  test('is whole for random texts and calls, cut at a random place', async () => {
    const unit = fc.oneof(
      fc.string({ minLength: 1, maxLength: 6 }).map((said) => ({ kind: 'text' as const, said })),
      fc.json({ maxDepth: 1 }).map((said) => ({ kind: 'call' as const, said: `{"a":${said}}` })),
    )
    const partsOf = (units: readonly { kind: 'text' | 'call'; said: string }[], name: string): Part[] => {
      let calls = 0
      return units.flatMap(({ kind, said }) =>
        kind === 'text' ? [...said].map((piece) => text(piece, name)) : callParts(calls++, said, name),
      )
    }
    const contentOf = (read: readonly Part[]) => {
      const gathered = partGatherer()
      for (const part of read) if (part.data.length > 0) gathered.add(part)
      return new TextDecoder().decode(gathered.finish()).replaceAll(/call_[a-z]+|"(?:id|model)":"[^"]*"/g, '')
    }
    await fc.assert(
      fc.asyncProperty(fc.array(unit, { minLength: 1, maxLength: 4 }), fc.nat(40), async (units, place) => {
        const all = [...partsOf(units, 'first'), finish()]
        const cutAt = place % all.length
        const { parts: read, error } = await readAll(
          holding(
            [parts.role(), ...all.slice(0, cutAt), cutFailure()],
            [other(...partsOf(units, 'second'), finish('stop', 'second'))],
          ),
        )
        expect(error).toBeUndefined()
        expect(contentOf(read)).toBe(contentOf(all))
      }),
      { numRuns: 100 },
    )
  })
})

describe('a stream that is cancelled', () => {
  test('cancels its provider', () => {
    const first = fakeStream(text('Hello'))
    const walk = failover<ReturnType<FakeProvider['candidate']>, Reply>([])
    resumable({ format: chat.stream, first, request, call: callOf(), walk, isResumable: true }).cancel()
    expect(first.isCancelled).toBe(true)
  })

  test('cancels the candidate that resumed it', async () => {
    const stream = fakeStream(...texts('Hello', ' wor', 'ld'))
    const reply = interrupted([text('Hello')], [fakeProvider('second', [stream])])
    await reply.read()
    await reply.read()
    reply.cancel()
    expect(stream.isCancelled).toBe(true)
  })

  test('cancels a candidate that is still repeating', async () => {
    const stream = silentStream()
    const reply = interrupted([text('Hello')], [fakeProvider('second', [stream])])
    await reply.read()
    const reading = readAll(reply)
    await Bun.sleep(1)
    reply.cancel()
    expect((await reading).error).toBeUndefined()
    expect(stream.isCancelled).toBe(true)
  })

  test('while another repeats asks no further candidate', async () => {
    const third = fakeProvider('third', [fakeStream(text('Hello world', 'third'))])
    const reply = interrupted([text('Hello')], [fakeProvider('second', [silentStream()]), third])
    await reply.read()
    const reading = readAll(reply)
    await Bun.sleep(1)
    reply.cancel()
    await reading
    expect(third.requests).toEqual([])
  })

  test('while another is asked cancels its answer', async () => {
    let answer = (_reply: Reply): void => undefined
    const late = fakeStream(...texts('Hello world'))
    const second = fakeProvider('second', [
      () =>
        new Promise<Reply>((resolve) => {
          answer = resolve
        }),
    ])
    const reply = interrupted([text('Hello')], [second])
    await reply.read()
    const reading = readAll(reply)
    await Bun.sleep(1)
    reply.cancel()
    answer(late)
    expect(await reading).toEqual({ parts: [] })
    expect(late.isCancelled).toBe(true)
  })

  test('does not treat its failure as a cut', async () => {
    const second = other(...texts('Hello world'))
    const reply = interrupted([text('Hello')], [second])
    await reply.read()
    reply.cancel()
    await readAll(reply)
    expect(second.requests).toEqual([])
  })

  test('by the caller asks no other candidate, and fails with the abort reason', async () => {
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
  /** After each read, the number of calls of `releaseRequest`. */
  async function lettingGo(steps: readonly StreamStep[], isResumable = true): Promise<readonly number[]> {
    let times = 0
    const walk = failover<ReturnType<FakeProvider['candidate']>, Reply>([])
    const stream = resumable({
      format: chat.stream,
      first: fakeStream(...steps),
      request,
      call: callOf(),
      walk,
      isResumable,
      releaseRequest: () => {
        times += 1
      },
    })
    const calls = [times]
    for (let parts = await stream.read(); parts !== undefined; parts = await stream.read()) calls.push(times)
    return calls
  }

  test('is released at once when it cannot be resumed', async () => {
    expect(await lettingGo([text('a'), text('b')], false)).toEqual([1, 1, 1])
  })

  test('is held while it can be resumed', async () => {
    expect(await lettingGo([text('a'), text('b')])).toEqual([0, 0, 0])
  })

  test('is released once the answer is beyond text, or has its finish reason', async () => {
    expect(await lettingGo([text('a'), parts.toolCall(), parts.toolCall()])).toEqual([0, 0, 1, 1])
    expect(await lettingGo([text('a'), finish(), parts.usage()])).toEqual([0, 0, 1, 1])
  })
})
