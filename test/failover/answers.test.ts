import { describe, expect, test } from 'bun:test'
import type { FailureClass } from '../../src/service/failure.ts'
import { errorOf, isDone, pick, trailOf } from '../client.ts'
import type { Script } from '../fakes/fault-upstream.ts'
import { firstTokens } from '../fakes/faults/cut.ts'
import { streamOf } from '../fakes/faults/stream.ts'
import { good, goodText } from '../fakes/good.ts'
import { chunk, completion, done, errorReply, event, framed, reply, streamHead, tokens } from '../fakes/replies.ts'
import { startRig } from '../rig.ts'
import { beforeGood, testOnRows } from './test-on-rows.ts'

const role = event(chunk({ role: 'assistant', content: '' }))

function answering(value: unknown): Script {
  return (exchange) => exchange.write(reply(200, JSON.stringify(value)))
}

function policy(code: number, error: object): Script {
  return (exchange) => exchange.write(errorReply(code, error))
}

describe('content policy', () => {
  const rejection = policy(400, {
    message: 'This request was rejected by the safety system.',
    type: 'invalid_request_error',
    code: 'content_policy_violation',
  })

  testOnRows(
    'row 13 › %s › stops, and the client gets the reason',
    beforeGood([
      ['400 content_policy_violation', rejection],
      ['403 content_filter', policy(403, { message: 'filtered', code: 'content_filter' })],
      ['400 whose type is safety', policy(400, { message: 'blocked', type: 'safety' })],
      ['200 with an error whose code is content_filter', policy(200, { message: 'filtered', code: 'content_filter' })],
      [
        '200 with an error whose code is content_policy_violation',
        policy(200, { message: 'rejected', code: 'content_policy_violation' }),
      ],
    ]),
    async (rig) => {
      const answer = await rig.ask()
      expect([answer.status, errorOf(answer)?.code, errorOf(answer)?.type]).toEqual([
        400,
        'content_policy_violation',
        'invalid_request_error',
      ])
      expect(answer.headers.get('x-should-retry')).toBe('false')
      expect(rig.hits()).toEqual([1, 0])
    },
  )

  const flagged: readonly (readonly [words: string, failure: FailureClass, script: Script])[] = [
    [
      'row 14 › 403 that says an account was flagged',
      'credential',
      policy(403, { message: 'Your account has been flagged for suspicious activity' }),
    ],
    [
      'row 14 › 403 that speaks of a request, too, but says a key was flagged',
      'credential',
      policy(403, { message: 'The API key used in this request was flagged as leaked' }),
    ],
    [
      'row 14 › 403 that says an organization was flagged',
      'credential',
      policy(403, { message: 'Your organization was flagged for review' }),
    ],
    [
      'row 10 › 400 that does not know a parameter named safety',
      'bad_request',
      policy(400, { message: 'Unknown parameter: safety', type: 'invalid_request_error', code: 'unknown_parameter' }),
    ],
    [
      'row 10 › 400 about a value of safety',
      'bad_request',
      policy(400, { message: "Invalid value for 'safety': expected an object", type: 'invalid_request_error' }),
    ],
  ]
  testOnRows(
    '%s › is none, and moves on',
    flagged.map(([words, failure, script]) => ({ words, failure, scripts: [script, good()] })),
    async (rig, { failure }) => {
      const answer = await rig.ask()
      expect([answer.status, answer.content, trailOf(answer)[0]?.['class']]).toEqual([200, goodText(), failure])
      expect(rig.hits()).toEqual([1, 1])
    },
  )

  test('row 13 › finish_reason content_filter after tokens › is a normal end', async () => {
    await using rig = await startRig([streamOf(firstTokens('a') + event(chunk({}, 'content_filter')) + done), good()])
    const answer = await rig.askStream()
    expect([answer.content, isDone(answer), errorOf(answer)]).toEqual([tokens(3, 'a').join(''), true, undefined])
    expect(rig.hits()).toEqual([1, 0])
  })
})

describe('one attempt a provider', () => {
  test('row 8 › three informational responses › do no harm', async () => {
    await using rig = await startRig([
      async (exchange) => {
        await exchange.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(3))
        await good({ name: 'a' })(exchange)
      },
      good(),
    ])
    expect((await rig.ask()).content).toBe(goodText({ name: 'a' }))
    expect(rig.hits()).toEqual([1, 0])
  })
})

describe('a stream that fails before its first token', () => {
  const openEnds: readonly (readonly [words: string, text: string])[] = [
    ['an error event', event({ error: { message: 'Overloaded', type: 'overloaded_error' } })],
    ['a role and an error event', role + event({ error: { message: 'Overloaded', type: 'overloaded_error' } })],
    ['a malformed event', 'data: {oops\n\n'],
    ['[DONE]', done],
    ['an event above 1 MiB', event(chunk({ content: 'a'.repeat(1024 * 1024 + 10) }))],
    ['an event above 1 MiB that has not ended', `data: ${'a'.repeat(1024 * 1024 + 10)}`],
    ['65 events that mean nothing', role.repeat(65)],
    ['256 KiB that mean nothing', event(chunk({ role: 'assistant', padding: 'a'.repeat(40_000) })).repeat(7)],
  ]
  testOnRows(
    'rule 6 › with %s, and stays open › is closed before the next provider is tried',
    beforeGood(
      openEnds.map(([words, text]) => [
        words,
        async (exchange) => {
          await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(text)]))
          await exchange.hang()
        },
      ]),
    ),
    async (rig) => {
      const answer = await rig.askStream()
      expect([answer.status, answer.content, errorOf(answer)]).toEqual([200, goodText(), undefined])
      expect(await rig.upstreams[0]?.hits[0]?.left).toBeNumber()
      expect(rig.hits()).toEqual([1, 1])
    },
  )
})

describe('an event of a tool call that is garbled', () => {
  const piece = (text: string) => event(chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }))
  const garbled = streamOf(
    event(
      chunk({
        role: 'assistant',
        tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'pay', arguments: '' } }],
      }),
    ),
    piece('{"amount":1'),
    'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"ind00\n\n',
    piece('}'),
    event(chunk({}, 'tool_calls')),
    done,
  )

  test('row 34 › in a stream › is a cut: an error event, no finish_reason, no [DONE]', async () => {
    await using rig = await startRig([garbled, good()])
    const answer = await rig.askStream()
    expect([answer.status, errorOf(answer)?.code, isDone(answer)]).toEqual([200, 'provider_error', false])
    expect(
      answer.events
        .map(({ json }) => pick(json, 'choices', 0, 'finish_reason'))
        .filter((reason) => typeof reason === 'string'),
    ).toEqual([])
    expect(rig.hits()).toEqual([1, 0])
  })

  test('row 34 › gathered for a plain request › moves on', async () => {
    await using rig = await startRig([garbled, good()])
    const answer = await rig.ask()
    expect([answer.status, answer.content, trailOf(answer)[0]?.['class']]).toEqual([200, goodText(), 'malformed'])
    expect(rig.hits()).toEqual([1, 1])
  })
})

describe('a stream with [DONE] and without a finish_reason', () => {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }

  testOnRows(
    'row 36 › after %s › gets a last chunk that has one',
    [
      { words: 'text', scripts: [streamOf(firstTokens('a') + done), good()], reason: 'stop' },
      {
        words: 'a tool call',
        scripts: [streamOf(role + event(chunk({ tool_calls: [call] })) + done), good()],
        reason: 'tool_calls',
      },
    ],
    async (rig, { reason }) => {
      const answer = await rig.askStream()
      expect([isDone(answer), errorOf(answer)]).toEqual([true, undefined])
      expect(answer.events.at(-2)?.json).toMatchObject({ ...chunk({}, reason) })
      expect(rig.hits()).toEqual([1, 0])
    },
  )
})

describe('parallel tool calls that a provider gives the same index', () => {
  const piece = (id: string, text: string) =>
    event(chunk({ tool_calls: [{ index: 0, id, type: 'function', function: { name: 'f', arguments: text } }] }))
  const calls = streamOf(role + piece('a', '{"x":1}') + piece('b', '{"y":2}') + event(chunk({}, 'tool_calls')) + done)

  test('are numbered in a stream', async () => {
    await using rig = await startRig([calls])
    const { events } = await rig.askStream()
    expect(events.flatMap(({ json }) => pick(json, 'choices', 0, 'delta', 'tool_calls', 0, 'index') ?? [])).toEqual([
      0, 1,
    ])
  })

  test('are two calls in the answer that is gathered of it', async () => {
    await using rig = await startRig([calls])
    const { json } = await rig.ask()
    expect(pick(json, 'choices', 0, 'message', 'tool_calls')).toMatchObject([
      { id: 'a', function: { arguments: '{"x":1}' } },
      { id: 'b', function: { arguments: '{"y":2}' } },
    ])
  })
})

describe('empty answers', () => {
  test('row 27 › an empty stream › gives its slot at the provider back', async () => {
    const empty = streamOf(role + event(chunk({}, 'stop')) + done)
    await using rig = await startRig([empty], { each: { a: { max_concurrent: 1 } } })
    for (let request = 0; request < 3; request++) expect((await rig.askStream()).status).toBe(200)
    expect(rig.hits()).toEqual([3])
  })

  const limits = ['length', 'content_filter']
  testOnRows(
    'row 28 › empty with finish %s › is delivered',
    beforeGood(
      limits.map((finish_reason) => [finish_reason, answering(completion('', { choice: { finish_reason } }))]),
    ),
    async (rig, { words }) => {
      const answer = await rig.ask()
      expect([answer.status, pick(answer.json, 'choices', 0, 'finish_reason')]).toEqual([200, words])
      expect(rig.hits()).toEqual([1, 0])
    },
  )

  testOnRows(
    'row 28 › a stream that is empty with finish %s › is delivered',
    beforeGood(limits.map((reason) => [reason, streamOf(role + event(chunk({}, reason)) + done)])),
    async (rig) => {
      const answer = await rig.askStream()
      expect([answer.status, isDone(answer)]).toEqual([200, true])
      expect(rig.hits()).toEqual([1, 0])
    },
  )

  const contents: readonly (readonly [words: string, message: object])[] = [
    [
      'a tool call',
      { content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    ],
    ['a refusal', { content: null, refusal: 'I will not.' }],
    ['reasoning', { content: '', reasoning_content: 'hm' }],
  ]
  testOnRows(
    'row 27 › an answer that is only %s › is none of the empty ones',
    beforeGood(contents.map(([words, message]) => [words, answering(completion('', { message }))])),
    async (rig) => {
      const answer = await rig.ask()
      expect([answer.status, answer.headers.get('x-svc-provider')]).toEqual([200, rig.ids[0] ?? null])
      expect(rig.hits()).toEqual([1, 0])
    },
  )
})
