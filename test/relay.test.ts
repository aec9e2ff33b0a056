import { describe, expect, test } from 'bun:test'
import { parseEvents, pick, question } from './client.ts'
import { faultUpstream, type Script } from './fakes/fault-upstream.ts'
import { status } from './fakes/faults/status.ts'
import { good } from './fakes/good.ts'
import { done, event, framed, streamHead } from './fakes/replies.ts'
import { provider, startService } from './harness.ts'
import { answers, codeOf, headerNames, postTo, relayRig, streams } from './relay-rig.ts'

const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)

const completion = {
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'theirs',
  choices: [{ text: ' world', index: 0, logprobs: null, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
}
const piece = (said: string, finish_reason: string | null = null) => ({
  ...completion,
  choices: [{ text: said, index: 0, logprobs: null, finish_reason }],
  usage: null,
})
const moderation = { id: 'modr-1', model: 'theirs', results: [{ flagged: true, categories: { violence: true } }] }
const ranking = {
  id: 'r-1',
  results: [{ index: 1, relevance_score: 0.9 }],
  meta: { tokens: { input_tokens: 7, output_tokens: 0 } },
}

const rig = relayRig(60)
const { row, post, recordOf } = rig

describe.each([
  ['/v1/completions', '{ "prompt":"Hello", "model" :"$","suffix":"!","x":9007199254740993 }', completion],
  ['/v1/moderations', '{"model":"$","input":[{"type":"text","text":"\\u0061"}]}', moderation],
  ['/v1/rerank', '{"query":"q","documents":["a",{"text":"b"}],"model":"$"}', ranking],
] as const)('%s', (path, template, answer) => {
  const bodyFor = (model: string) => template.replace('$', model)

  test('reaches the second provider byte for byte but for the model, and its answer the caller', async () => {
    const spaced = ` ${JSON.stringify(answer, null, 1)}\n`
    const { model, upstreams } = row(status(500), answers(spaced))
    const response = await post(path, bodyFor(model), { 'content-type': 'text/plain', cookie: 'a=b', 'x-own': '1' })
    expect([response.status, response.text]).toEqual([200, spaced])
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-svc-trail')).toMatch(/^a-\w+;status=500.*, b-\w+;status=200/)
    expect(upstreams.map(({ hits }) => [hits[0]?.path, text(hits[0]?.body)])).toEqual([
      [path, bodyFor(model)],
      [`/v1/deep${path.slice(3)}`, bodyFor(`vendor/${model}`)],
    ])
    expect(headerNames(upstreams[1])).toEqual(['accept', 'accept-encoding', 'content-length', 'content-type', 'host'])
    expect(await recordOf(response)).toMatchObject({ api: path.slice(4), model, provider: `b-${model}`, status: 200 })
  })

  test('refuses what is malformed, and asks no provider', async () => {
    const { model, hits } = row(answers(answer))
    const body = bodyFor(model)
    const refusals: readonly (readonly [string, string])[] = [
      ['', 'invalid_json'],
      ['[]', 'invalid_json'],
      [body.slice(0, -1), 'invalid_json'],
      [template.replace('"$"', '7'), 'invalid_type'],
      [template.replace('"$"', '""'), 'invalid_value'],
      [template.replace('"$"', `"${model}","model":"other"`), 'invalid_value'],
      [`{"model":"${model}"}`, 'missing_required_parameter'],
    ]
    for (const [wrong, code] of refusals) {
      const response = await post(path, wrong)
      expect([wrong, response.status, codeOf(response)]).toEqual([wrong, 400, code])
    }
    expect(hits()).toEqual([0, 0])
  })

  test('passes over providers whose answer is an error or of another format', async () => {
    const { model, upstreams } = row(status(500), answers(answer))
    for (const wrong of ['{"error":{"message":"no"}}', '{"object":"list"}', '[]']) {
      upstreams[0].use(answers(wrong))
      const response = await post(path, bodyFor(model))
      expect([response.status, response.by]).toEqual([200, 'b'])
    }
    expect(upstreams[0].hits).toHaveLength(3)
  })

  test('says with 501 that the echo does not serve it', async () => {
    const response = await post(path, bodyFor('echo'))
    expect([response.status, codeOf(response)]).toEqual([501, 'not_supported'])
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(response.text).toContain(`No provider of the model 'echo' serves ${path}`)
  })

  test('never harms the chats of the model at a provider that lacks it', async () => {
    const { model, upstreams } = row(status(404), answers(answer))
    for (const code of [404, 405, 501, 404, 501, 501, 501, 501]) {
      upstreams[0].use(status(code))
      expect((await post(path, bodyFor(model))).by).toBe('b')
    }
    upstreams[0].use(good({ name: 'a' }))
    expect((await post('/v1/chat/completions', question({ model }))).by).toBe('a')
  })
})

test('providers of other protocols are no candidates', async () => {
  using other = faultUpstream()
  await using only = await startService({
    providers: ['anthropic', 'gemini'].map((protocol) => provider(protocol, other.url, ['m'], { protocol })),
  })
  const response = await postTo(`${only.url}/v1/completions`, { model: 'm', prompt: 'x' })
  expect([response.status, codeOf(response)]).toEqual([501, 'not_supported'])
  expect(other.hits).toEqual([])
})

describe('a request without a model', () => {
  test('is sent with the name of the endpoint’s default model', async () => {
    using upstream = faultUpstream(answers(moderation))
    await using own = await startService({
      providers: [
        provider('a', upstream.url, [], { models: [{ name: 'omni-moderation-latest', upstream: 'vendor/omni' }] }),
      ],
    })
    for (const body of ['{"input":"x"}', ' { "input" : "x" } '])
      expect((await postTo(`${own.url}/v1/moderations`, body)).status).toBe(200)
    expect(upstream.hits.map(({ body }) => text(body))).toEqual([
      '{"model":"vendor/omni","input":"x"}',
      ' { "model":"vendor/omni","input" : "x" } ',
    ])
  })

  test('has a clear error where no provider offers that one, and where there is none', async () => {
    const response = await post('/v1/moderations', { input: 'x' })
    expect([response.status, codeOf(response)]).toEqual([404, 'model_not_found'])
    expect(response.text).toContain('omni-moderation-latest')
    expect(codeOf(await post('/v1/completions', '{"prompt":"x"}'))).toBe('missing_required_parameter')
  })
})

test('only completions fail over to another model that has the name as an alias', async () => {
  using down = faultUpstream(status(500))
  using other = faultUpstream(answers(completion))
  await using own = await startService({
    providers: [
      provider('a', down.url, ['m']),
      provider('b', other.url, [], { models: [{ name: 'other', aliases: ['m'] }] }),
    ],
  })
  const cases = [
    ['/v1/completions', { model: 'm', prompt: 'x' }, 200],
    ['/v1/moderations', { model: 'm', input: 'x' }, 502],
    ['/v1/rerank', { model: 'm', query: 'q', documents: ['a'] }, 502],
  ] as const
  for (const [path, body, expected] of cases)
    expect([path, (await postTo(`${own.url}${path}`, body)).status]).toEqual([path, expected])
  expect(other.hits).toHaveLength(1)
})

describe('the openai library', () => {
  test('moderates', async () => {
    const { model } = row(status(503), answers(moderation))
    expect((await rig.client.moderations.create({ model, input: 'x' })).results[0]?.flagged).toBe(true)
  })

  test('completes, with usage and price in the record', async () => {
    const { model } = row(status(503), answers(completion))
    const { data, response } = await rig.client.completions.create({ model, prompt: 'Hello' }).withResponse()
    expect(data.choices[0]?.text).toBe(' world')
    const record = await recordOf(response)
    expect(record).toMatchObject({ api: 'completions', promptTokens: 2, completionTokens: 3 })
    expect(Number(pick(record, 'cost'))).toBeCloseTo(8 / 1_000_000, 12)
  })

  test('streams completions, whose events pass through', async () => {
    const events = [event(piece('')), event(piece(' wor')), event(piece('ld')), event(piece('', 'stop'))]
    const usage = event({ ...completion, choices: [] })
    const { model } = row(status(500), streams(...events, usage, done))
    let said = ''
    for await (const { choices } of await rig.client.completions.create({ model, prompt: 'Hello', stream: true }))
      said += choices[0]?.text ?? ''
    expect(said).toBe(' world')
    const raw = await post('/v1/completions', { model, prompt: 'x', stream: true })
    expect(raw.text).toBe([...events, usage, done].join(''))
    expect(await recordOf(raw)).toMatchObject({ stream: true, promptTokens: 2, completionTokens: 3 })
  })
})

describe('a stream of completions', () => {
  const ask = async (first: Script, second?: Script) => {
    const { model, hits } = row(first, second)
    const answer = await post('/v1/completions', { model, prompt: 'x', stream: true })
    return { ...answer, hits: hits() }
  }
  const cutAfter =
    (said: string): Script =>
    async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(event(piece(said)))]))
      exchange.close()
    }

  test.each([
    ['a cut', cutAfter('')],
    ['nothing', streams()],
    ['its end', streams(done)],
    ['an error', streams(event({ error: { message: 'no' } }))],
  ])('that begins with %s moves on', async (_, first) => {
    const { text: body, hits } = await ask(first, streams(event(piece('b', 'stop')), done))
    expect([body, hits]).toEqual([event(piece('b', 'stop')) + done, [1, 1]])
  })

  test('that is cut later never looks complete, and is not resumed', async () => {
    const { text: body, hits } = await ask(cutAfter('a'), streams(event(piece('a')), event(piece('b', 'stop')), done))
    expect(hits).toEqual([1, 0])
    const events = parseEvents(body)
    expect(events[0]?.json).toEqual(piece('a'))
    expect(pick(events.at(-1)?.json, 'error', 'code')).toBe('provider_error')
    expect(body).not.toContain('[DONE]')
  })

  test('of an answer that came whole is that answer as its only event', async () => {
    const { text: body, headers } = await ask(answers(JSON.stringify(completion, null, 2)))
    expect(headers.get('content-type')).toStartWith('text/event-stream')
    expect(parseEvents(body).map(({ json, data }) => json ?? data)).toEqual([completion, '[DONE]'])
  })

  test('for a plain request is passed over', async () => {
    const { model } = row(streams(event(piece('a', 'stop')), done), answers(completion))
    expect((await post('/v1/completions', { model, prompt: 'x' })).by).toBe('b')
  })
})

test.each(['/v1/files', '/v1/batches', '/v1/realtime', '/v1/fine_tuning/jobs', '/v1/rerank/', '/v2/rerank'])(
  '%s, which is in no table, is not served',
  async (path) => {
    const response = await post(path, { model: 'echo' })
    expect([response.status, codeOf(response)]).toEqual([404, 'not_found'])
  },
)
