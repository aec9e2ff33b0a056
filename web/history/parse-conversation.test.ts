import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { TrailEntry } from '../../src/observe/request-entry.ts'
import type { AnswerError, AssistantMessage, Parameters, Provenance } from './conversation.ts'
import { conversationSizeMax, parseConversation, parseDraft, parseHead, plainHead } from './parse-conversation.ts'
import { conversationOf, questionOf } from './testing.ts'

const good = conversationOf()

function whyOf(value: unknown): string | undefined {
  const parsed = parseConversation(value)
  return parsed.kind === 'damaged' ? parsed.why : undefined
}

/** The valid conversation with another value at this path. */
function withValue(place: readonly (string | number)[], value: unknown): unknown {
  const copy: unknown = structuredClone(good)
  let holder: unknown = copy
  for (const name of place.slice(0, -1))
    holder = typeof holder === 'object' && holder !== null ? Reflect.get(holder, name) : undefined
  if (typeof holder === 'object' && holder !== null) Reflect.set(holder, place.at(-1) ?? '', value)
  return copy
}

describe('a conversation', () => {
  test('is parsed as it was written', () => {
    expect(parseConversation(JSON.parse(JSON.stringify(good)))).toEqual({ kind: 'ok', value: good })
    expect(parseConversation(structuredClone(good))).toEqual({ kind: 'ok', value: good })
  })

  test('loses no field, for any combination of fields', () => {
    const parameters: Required<Parameters> = {
      temperature: 1,
      top_p: 0.5,
      frequency_penalty: -1,
      presence_penalty: 1,
      max_tokens: 5,
      max_completion_tokens: 6,
      stop: ['a', 'b'],
      seed: -7,
      logprobs: true,
      top_logprobs: 3,
      reasoning_effort: 'low',
      enable_thinking: false,
      stream: true,
    }
    const trail: Required<TrailEntry> = { provider: 'p', status: 500, failure: 'server', ms: 1.5 }
    const provenance: Required<Provenance> = {
      requestId: 'r',
      provider: 'p',
      model: 'm',
      trail: [trail],
      firstTokenMs: 1,
      totalMs: 2,
      promptTokens: 3,
      completionTokens: 4,
      cost: 0.5,
      isEstimated: true,
    }
    const error: Required<AnswerError> = {
      kind: 'network',
      status: 500,
      type: 't',
      code: 'c',
      param: 'p',
      message: 'm',
      retryAfter: 5,
    }
    const answer: Required<AssistantMessage> = {
      role: 'assistant',
      id: 'a',
      parent: 'q',
      time: 5,
      text: 't',
      reasoning: 'r',
      reasoningMs: 8,
      status: 'failed',
      live: { id: 'r', text: 1, reasoning: 0 },
      error,
      finishReason: 'length',
      tools: [{ id: 't', name: 'n', arguments: '{', result: 'x' }],
      logprobs: [{ token: 't', logprob: -1, top: [] }],
      provenance,
    }
    const everything = conversationOf({
      folder: 'Physics',
      settings: { model: 'm', system: 's', parameters },
      messages: [questionOf('q', 'x'), answer],
      leaf: 'a',
    })
    expect(parseConversation(JSON.parse(JSON.stringify(everything)))).toEqual({ kind: 'ok', value: everything })
  })

  test('without a leaf is one branch, whatever its parents are', () => {
    const [one, two] = [questionOf('a', 'x'), questionOf('b', 'y')]
    expect(parseConversation({ ...good, messages: [{ ...one, parent: 'b' }, two] })).toEqual({
      kind: 'ok',
      value: { ...good, messages: [one, two] },
    })
  })

  test('has a leaf without messages after it', () => {
    const messages = [questionOf('a', 'x'), { ...questionOf('b', 'y'), parent: 'a' }, questionOf('c', 'z')]
    expect(parseConversation({ ...good, messages, leaf: 'a' })).toMatchObject({ value: { leaf: 'b' } })
  })

  test.each([
    ['itself', 'b'],
    ['a later message', 'c'],
    ['an unknown message', 'x'],
  ])('is damaged by a message after %s', (_, parent) => {
    const messages = [questionOf('a', ''), { ...questionOf('b', ''), parent }, { ...questionOf('c', ''), parent: 'b' }]
    expect(whyOf({ ...good, messages, leaf: 'c' })).toBe('b has no parent before it')
  })

  test('is damaged by a leaf that is not there, or no id', () => {
    expect(whyOf({ ...good, leaf: 'x' })).toBe('the leaf is not among the messages')
    expect(whyOf({ ...good, messages: [], leaf: 'x' })).toBe('the leaf is not among the messages')
    expect(whyOf({ ...good, leaf: '../x' })).toBe('leaf: is not an id')
  })

  test('of 100,000 versions, or as many messages in a row, is read in time', () => {
    const ids = Array.from({ length: 100_000 }, (_, index) => `m${index}`)
    for (const parentOf of [() => undefined, (index: number) => ids[index - 1]]) {
      const messages = ids.map((id, index) => ({ ...questionOf(id, ''), parent: parentOf(index) }))
      const started = performance.now()
      expect(parseConversation({ ...good, messages, leaf: ids[0] }).kind).toBe('ok')
      expect(performance.now() - started).toBeLessThan(2_000)
    }
  })

  test('drops unknown fields', () => {
    const parsed = parseConversation(
      JSON.parse(
        '{"__proto__":{"isPinned":true},"constructor":1,"extra":2,' +
          JSON.stringify({ ...good, settings: { ...good.settings, toString: 1 } }).slice(1),
      ),
    )
    expect(parsed).toEqual({ kind: 'ok', value: good })
    expect(JSON.stringify(parsed)).not.toMatch(/extra|constructor|__proto__|toString/)
  })

  test('ignores fields of a prototype', () => {
    expect(whyOf(JSON.parse('{"__proto__":' + JSON.stringify(good) + '}'))).toBe('id: expected a text, found nothing')
    expect(whyOf(Object.create(good))).toBe('id: expected a text, found nothing')
  })

  test.each([
    [['id'], undefined, 'id: expected a text, found nothing'],
    [['id'], '', 'id: is not an id'],
    [['id'], 'new', 'id: is not an id'],
    [['id'], '../x', 'id: is not an id'],
    [['id'], 'x'.repeat(65), 'id: is not an id'],
    [['title'], 5, 'title: expected a text, found the number 5'],
    [['title'], 'x'.repeat(1_001), 'title: has 1,001 characters, at most 1,000 are allowed'],
    [['isPinned'], 'true', 'isPinned: expected true or false, found a text'],
    [['created'], null, 'created: expected a number, found null'],
    [['created'], -1, 'created: -1 is not a time'],
    [['updated'], 9e15, 'updated: 9000000000000000 is not a time'],
    [['updated'], Number.NaN, 'updated: expected a number, found the number NaN'],
    [['settings'], [], 'settings: expected an object, found a list'],
    [['settings', 'parameters', 'stop'], 'x', 'settings.parameters.stop: expected a list, found a text'],
    [
      ['settings', 'parameters', 'temperature'],
      true,
      'settings.parameters.temperature: expected a number, found a boolean',
    ],
    [['messages'], {}, 'messages: expected a list, found an object'],
    [['messages', 0], 'hello', 'messages[0]: expected an object, found a text'],
    [['messages', 0, 'role'], 'system', "messages[0].role: expected user or assistant, found 'system'"],
    [['messages', 0, 'images'], undefined, 'messages[0].images: expected a list, found nothing'],
    [['messages', 1, 'id'], 'm1', 'messages: two have the same id'],
    [
      ['messages', 1, 'status'],
      'toString',
      "messages[1].status: expected streaming or complete or stopped or interrupted or failed, found 'toString'",
    ],
    [
      ['messages', 1, 'provenance', 'trail', 1, 'ms'],
      '1',
      'messages[1].provenance.trail[1].ms: expected a number, found a text',
    ],
    [
      ['messages', 1, 'logprobs', 0, 'top', 0, 'logprob'],
      Number.NEGATIVE_INFINITY,
      'messages[1].logprobs[0].top[0].logprob: expected a number, found the number -Infinity',
    ],
  ])('with %j of %p is damaged', (place, value, why) => {
    expect(whyOf(withValue(place, value))).toBe(why)
  })

  test.each([
    'javascript:alert(1)',
    'https://example.com/a.png',
    '//example.com',
    '',
    'data:text/html;base64,AAAA',
    'data:image/svg+xml;base64,AAAA',
    'data:image/png,AAAA',
    'data:image/png;base64,',
    'data:image/png;base64,<script>',
    'data:image/png;base64,AA AA',
    ' data:image/png;base64,AAAA',
    'data:image/png;base64,AAAA\n',
    'DATA:image/png;base64,AAAA',
    'data:image/png;charset=x;base64,AAAA',
    'data:image/png;base64,AAAA#x',
    'blob:https://example.com/1',
  ])('with a picture at %j is damaged', (url) => {
    expect(whyOf(withValue(['messages', 0, 'images', 0, 'dataUrl'], url))).toContain(
      'messages[0].images[0].dataUrl: is not a picture',
    )
  })

  test.each(['png', 'jpeg', 'webp', 'gif', 'avif'])('may have pictures that are %s', (kind) => {
    expect(
      parseConversation(withValue(['messages', 0, 'images', 0, 'dataUrl'], `data:image/${kind};base64,AA==`)).kind,
    ).toBe('ok')
  })

  test('has no two different images with one id', () => {
    const [first, second] = good.messages
    if (first?.role !== 'user' || second === undefined) throw new Error('the example has changed')
    const other = {
      ...first,
      id: 'm3',
      images: first.images.map((each) => ({ ...each, dataUrl: 'data:image/png;base64,BBBB' })),
    }
    expect(parseConversation(conversationOf({ messages: [first, second, { ...first, id: 'm3' }] })).kind).toBe('ok')
    expect(whyOf(conversationOf({ messages: [first, second, other] }))).toBe('messages: two pictures have the same id')
  })

  test('that is too large with its images is damaged', () => {
    const dataUrl = `data:image/png;base64,${'A'.repeat(conversationSizeMax)}`
    expect(whyOf(withValue(['messages', 0, 'images', 0, 'dataUrl'], dataUrl))).toMatch(
      /^is too large: [\d,]+ characters, at most 67,108,864 are kept$/,
    )
  })

  test('never throws for any value, nor does a head or a draft', () => {
    fc.assert(
      fc.property(
        fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true, withTypedArray: true }),
        (value) => {
          for (const parse of [parseConversation, parseHead, parseDraft]) expect(parse(value).kind).toBe('damaged')
        },
      ),
    )
  })

  test('with damage at any one place never throws, and is valid when accepted', () => {
    const places: (readonly (string | number)[])[] = []
    const collect = (value: unknown, place: readonly (string | number)[]): void => {
      if (place.length > 0) places.push(place)
      if (Array.isArray(value)) value.forEach((each: unknown, index) => collect(each, [...place, index]))
      else if (typeof value === 'object' && value !== null)
        for (const [name, each] of Object.entries(value)) collect(each, [...place, name])
    }
    collect(good, [])
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.anything(), (place, value) => {
        const parsed = parseConversation(withValue(place, value))
        if (parsed.kind === 'ok') expect(parseConversation(JSON.parse(JSON.stringify(parsed.value)))).toEqual(parsed)
      }),
      { numRuns: 500 },
    )
  })
})

test('a plain head is what the parser reads', () => {
  const head = fc.record(
    {
      id: fc.oneof(fc.constantFrom('a', 'new', '', 'a b'), fc.anything()),
      title: fc.oneof(fc.string(), fc.constant('x'.repeat(1_001)), fc.anything()),
      isPinned: fc.oneof(fc.boolean(), fc.anything()),
      folder: fc.oneof(fc.constantFrom(undefined, '', 'F', 'x'.repeat(101)), fc.anything()),
      created: fc.oneof(fc.nat(), fc.double()),
      updated: fc.oneof(fc.nat(), fc.constant(8.65e15)),
      messageCount: fc.oneof(fc.nat(), fc.anything()),
      other: fc.anything(),
    },
    { requiredKeys: ['id', 'title', 'isPinned', 'created', 'updated'] },
  )
  fc.assert(
    fc.property(head, (value) => {
      const plain = plainHead(value)
      if (plain !== undefined) expect(parseHead(value)).toEqual({ kind: 'ok', value: plain })
    }),
  )
  const good = { id: 'a', title: '', isPinned: true, folder: 'F', created: 1, updated: 2, messageCount: 3 }
  expect(plainHead({ ...good, other: 1 })).toEqual(good)
})
