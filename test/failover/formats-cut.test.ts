import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { atLimit, events, refusing, spokenCuts, type Spoken } from '../fakes/faults/spoken.ts'
import { answering, eventsWith, streamed, type Language, type Piece } from '../fakes/languages/language.ts'
import { framed, reply, streamHead } from '../fakes/replies.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { expectFailed } from './failed-stream.ts'
import { ask, pairsOf, stage, type Pair } from './stage.ts'

/** Rows 13 and 28 to 39 at the commit and after it, for callers of each format, natively and translated. */

const text = 'Hello, you out there, and all of you.'
const hello: Piece = { kind: 'text', text }
const other: Piece = { kind: 'text', text: 'Hello yourself.' }
const good: Spoken = (language) => answering(language, [hello])

const upstream = stage()
/** With the defaults, and with `on_cut: error` and `on_content_policy: next`. */
let service: ServiceUnderTest, strict: ServiceUnderTest

interface Case extends Pair {
  readonly model: string
  readonly first: Spoken
  readonly second: Spoken
  readonly entry: Readonly<Record<string, unknown>> | undefined
}

interface More extends Partial<Pick<Case, 'second' | 'entry'>> {
  /** Formats of providers. Default: all. */
  readonly only?: readonly Language['name'][] | undefined
}

const cases: Case[] = []

/** Adds a model for each pair, at a provider that answers by `first` before one that answers by `second`. */
function modelsOf(name: string, turn: number, first: Spoken, more: More = {}): readonly Case[] {
  const { only, second = good, entry } = more
  const added = pairsOf(turn)
    .filter(({ provider }) => only?.includes(provider.name) !== false)
    .map((pair) => ({ ...pair, model: `${name}-${pair.caller.name}-${pair.provider.name}`, first, second, entry }))
  cases.push(...added)
  return added
}

function hitsOf({ model }: Case): number[] {
  return ['a', 'b'].map((role) => upstream.hits(`${role}-${model}`).length)
}

async function asked(each: Case, stream: boolean, at: ServiceUnderTest = service) {
  const before = hitsOf(each)
  const answer = await ask(at.url, each.caller, { model: each.model, stream })
  const hits = hitsOf(each).map((count, index) => count - (before[index] ?? 0))
  return { answer, hits }
}

/** Expects a whole answer of this text, and this number of requests at the two providers. */
function expectWhole(
  { model }: Case,
  { answer, hits }: Awaited<ReturnType<typeof asked>>,
  expected: number[],
  said = text,
): void {
  expect([model, answer.status, answer.text, answer.isComplete, answer.error, hits]).toEqual([
    model,
    200,
    said,
    true,
    undefined,
    expected,
  ])
}

const cuts = spokenCuts(hello).map(({ row, words, spoken, only, entry }, turn) => ({
  title: `row ${row} › ${words}`,
  same: modelsOf(`s${turn}`, turn, spoken, { only, entry }),
  differing: modelsOf(`d${turn}`, turn + 1, spoken, {
    only,
    entry,
    second: (language) => answering(language, [other]),
  }),
}))

describe('a cut in every format', () => {
  test.concurrent.each(cuts.map((cut) => [cut.title, cut] as const))('%s', async (_, { same, differing }) => {
    await Promise.all(same.map(async (each) => expectWhole(each, await asked(each, true), [1, 1])))
    await Promise.all(
      differing.map(async (each) => {
        const seen = await asked(each, true)
        expect([each.model, seen.hits]).toEqual([each.model, [1, 1]])
        expectFailed(each, seen.answer)
      }),
    )
    await Promise.all(
      same.map(async (each) => {
        const seen = await asked(each, true, strict)
        expect([each.model, seen.hits]).toEqual([each.model, [1, 0]])
        expectFailed(each, seen.answer)
      }),
    )
  })
})

/** The whole stream without its end marker. */
const withoutEnd: Spoken = events(({ provider }) =>
  eventsWith(provider, [hello]).filter((each) => !/\[DONE\]|message_stop/.test(each)),
)

/** A stream with its end marker, and without a finish. */
const withoutFinish: Spoken = ({ name, provider }) =>
  streamed(provider, [
    ...provider.begin(),
    ...provider.piece(hello, 0),
    name === 'messages' ? 'event: message_stop\ndata: {"type":"message_stop"}\n\n' : 'data: [DONE]\n\n',
  ])

/** More text behind the end, on a connection that stays open. */
const behindEnd: Spoken = ({ provider }) => {
  const all = eventsWith(provider, [hello])
  const more = provider.piece({ kind: 'text', text: 'never' }, 0)
  return async (exchange) => {
    const written = [...(provider.numbered?.(all) ?? all), ...more]
    await exchange.write(Buffer.concat([Buffer.from(streamHead), ...written.map(framed)]))
    await exchange.hang()
  }
}

/** Another id, time and model in each event. */
const changing: Spoken = events(({ provider }) =>
  eventsWith(provider, [hello]).map((each, number) =>
    each
      .replace(/"(chatcmpl-|r|resp_)1"/, `"$1${number}"`)
      .replace('1700000000', String(1_700_000_000 + number))
      .replace(/"model(Version)?":"upstream-model"/, `"model$1":"model-${number}"`),
  ),
)

const ends = [
  { title: 'row 36 › no end marker behind the finish', models: modelsOf('e0', 0, withoutEnd) },
  {
    title: 'row 37 › more behind the end',
    models: modelsOf('e2', 1, behindEnd, { only: ['chat', 'messages', 'responses'] }),
  },
  {
    title: 'row 39 › another id, time and model in each event',
    models: modelsOf('e3', 2, changing),
  },
]

describe('the end of a stream in every format', () => {
  test.each(ends.map((each) => [each.title, each.models] as const))('%s', async (_, models) => {
    for (const each of models) {
      const seen = await asked(each, true)
      expectWhole(each, seen, [1, 0])
      expect(seen.answer.body).not.toContain('never')
      for (const member of [
        /"(?:id|responseId)":"(?:chatcmpl-|r|resp_)\d+"/g,
        /"created(?:_at)?":\d+/g,
        /"model(?:Version)?":"\w+/g,
      ])
        expect(new Set(seen.answer.body.match(member)).size).toBeLessThanOrEqual(1)
    }
  })

  const unfinished = modelsOf('e1', 2, withoutFinish)
  test('row 36 › an end marker without a finish', async () => {
    for (const each of unfinished) {
      const seen = await asked(each, true)
      // The last event of Responses has the answer: without it nothing is whole, and the next provider resumes it.
      const isCut = each.caller === each.provider && each.provider.name === 'responses'
      expectWhole(each, seen, [1, isCut ? 1 : 0])
    }
  })
})

const limited = modelsOf('l', 1, (language) => answering(language, [], (each) => atLimit(language, each)))
const limits: Readonly<Record<Language['name'], RegExp>> = {
  chat: /"finish_reason":"length"/,
  messages: /"stop_reason":"max_tokens"/,
  responses: /"incomplete_details":\{"reason":"max_output_tokens"\}/,
  gemini: /"finishReason":"MAX_TOKENS"/,
}

test.each([false, true])(
  'row 28 › an empty answer at its limit is delivered in every format, streamed: %p',
  async (stream) => {
    for (const each of limited) {
      const { answer, hits } = await asked(each, stream)
      expect([each.model, answer.status, answer.text, answer.error, hits]).toEqual([
        each.model,
        200,
        '',
        undefined,
        [1, 0],
      ])
      expect(answer.body).toMatch(limits[each.caller.name])
    }
  },
)

const emptyOnly = modelsOf('n', 2, (language) => answering(language, []), { second: refusing(500) })

test.each([false, true])(
  'row 27 › an empty answer is the best of all in every format, streamed: %p',
  async (stream) => {
    for (const each of emptyOnly) expectWhole(each, await asked(each, stream), [1, 1], '')
  },
)

const wholes = modelsOf(
  'w',
  0,
  ({ provider }) =>
    (exchange) =>
      exchange.write(reply(200, JSON.stringify(provider.whole([hello])))),
)
const streams = modelsOf('g', 1, ({ provider }) => streamed(provider, eventsWith(provider, [hello])))

test('rows 30 and 31 › the other kind of answer is converted in every format', async () => {
  for (const each of wholes) expectWhole(each, await asked(each, true), [1, 0])
  for (const each of streams) expectWhole(each, await asked(each, false), [1, 0])
})

const policy = modelsOf(
  'p',
  0,
  refusing(400, { message: 'rejected: content policy', code: 'content_policy_violation' }),
)

test.each([false, true])('row 13 › content policy stops in every format, streamed: %p', async (stream) => {
  for (const each of policy) {
    const { answer, hits } = await asked(each, stream)
    expect([each.model, answer.status, hits, answer.headers.get('x-should-retry')]).toEqual([
      each.model,
      400,
      [1, 0],
      'false',
    ])
    expect(JSON.parse(answer.body)).toMatchObject(rejections[each.caller.name])
    expectWhole(each, await asked(each, stream, strict), [1, 1])
  }
})

const message = expect.stringContaining('content policy')
const rejections: Readonly<Record<Language['name'], object>> = {
  chat: { error: { message, type: 'invalid_request_error', code: 'content_policy_violation' } },
  responses: { error: { message, type: 'invalid_request_error', code: 'content_policy_violation' } },
  messages: { type: 'error', error: { type: 'invalid_request_error', message } },
  gemini: { error: { code: 400, status: 'INVALID_ARGUMENT', message } },
}

const again = [503, 429].map((status) => ({
  status,
  models: modelsOf(`t${status}`, 0, refusing(status, { headers: { 'retry-after-ms': '50' } }), {
    entry: { retries: 1 },
  }),
}))

test.concurrent.each(again.map(({ status, models }) => [status, models] as const))(
  'rows 18 to 20 › %d once, with retries, and the same provider answers in every format',
  async (_, models) => {
    await Promise.all(
      models.map(async (each) => {
        const arrived = asked(each, each.caller === each.provider)
        while (hitsOf(each)[0] === 0) await Bun.sleep(5)
        upstream.use(`a-${each.model}`, good)
        const seen = await arrived
        expectWhole(each, seen, [2, 0])
        expect(seen.answer.headers.get('x-svc-attempts')).toBe('2')
      }),
    )
  },
)

beforeAll(async () => {
  const providers = cases.flatMap((each) => {
    const { provider: language, model, first, second, entry } = each
    return [
      upstream.add({ id: `a-${model}`, language, model, spoken: first, entry }),
      upstream.add({ id: `b-${model}`, language, model, spoken: second }),
    ]
  })
  service = await startService({ providers })
  strict = await startService({ providers, failover: { on_cut: 'error', on_content_policy: 'next' } })
})

afterAll(async () => {
  upstream.stop()
  await Promise.all([service.stop(), strict.stop()])
})
