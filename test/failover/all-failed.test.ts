import { describe, expect, test } from 'bun:test'
import { chat, errorOf, isDone, question } from '../client.ts'
import { faultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { status } from '../fakes/faults/status.ts'
import { streamOf } from '../fakes/faults/stream.ts'
import { good } from '../fakes/good.ts'
import { errorReply, event, reply } from '../fakes/replies.ts'
import { provider, quick, startService } from '../harness.ts'
import { startRig } from '../rig.ts'
import { testOnRows } from './test-on-rows.ts'

const silent: Script = (exchange) => exchange.hang()
const quota: Script = (exchange) =>
  exchange.write(errorReply(429, { message: 'no more', type: 'insufficient_quota', code: 'insufficient_quota' }))
const tooLong: Script = (exchange) =>
  exchange.write(errorReply(400, { message: 'too long', code: 'context_length_exceeded' }))
const overflow: Script = (exchange) =>
  exchange.write(
    errorReply(400, {
      code: 400,
      message: 'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 5_000,
      n_ctx: 4_096,
    }),
  )
const notJson: Script = (exchange) => exchange.write(reply(200, '<html>'))

describe('all failed', () => {
  const table: readonly (readonly [
    words: string,
    scripts: readonly Script[],
    status: number,
    shouldRetry: string,
    retryAfter?: string,
  ])[] = [
    ['all out of quota', [quota, quota], 502, 'false'],
    ['one 429, one out of quota', [status(429, { 'retry-after': '7' }), quota], 502, 'true'],
    ['timeout and 500', [silent, status(500)], 502, 'true'],
    ['malformed answers', [notJson, notJson], 502, 'true'],
  ]

  const cases = table.flatMap(([words, scripts, code, shouldRetry, retryAfter]) =>
    [false, true].map((stream) => ({
      words: `${words}, ${stream ? 'streaming' : 'plain'} › ${code}, x-should-retry: ${shouldRetry}`,
      scripts,
      stream,
      code,
      shouldRetry,
      retryAfter,
    })),
  )

  testOnRows(
    '%s',
    cases,
    async (rig, { stream, code, shouldRetry, retryAfter }) => {
      const answer = await rig.ask(stream ? { stream } : {})
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([code, shouldRetry])
      expect(answer.headers.get('content-type')).toStartWith('application/json')
      const error = errorOf(answer)
      expect(error?.message).toStartWith(`All providers failed for model '${rig.model}'`)
      expect(error?.message).toMatch(/\ba-\d+\b.*\bb-\d+\b/s)
      expect([typeof error?.type, typeof error?.code]).toEqual(['string', 'string'])
      if (code === 502) expect([error?.type, error?.code]).toEqual(['api_error', 'provider_error'])
      if (retryAfter !== undefined) expect(answer.headers.get('retry-after')).toBe(retryAfter)
      expect(answer.headers.get('x-svc-attempts')).toBe('2')
      expect(rig.hits()).toEqual([1, 1])
    },
    { every: quick },
  )

  const saidInside = { message: 'n_ctx is 4096', type: 'exceed_context_size_error' }
  const withinSuccess: Script = (exchange) => exchange.write(errorReply(200, saidInside))
  const longCases = [
    { words: 'all by its code', scripts: [tooLong, tooLong] },
    { words: 'llama.cpp by its type', scripts: [overflow, tooLong] },
    { words: 'one in an answer that is 200', scripts: [withinSuccess, status(413)] },
    { words: 'one in the first event of a stream', scripts: [streamOf(event({ error: saidInside })), overflow] },
  ].flatMap(({ words, scripts }) =>
    [false, true].map((stream) => ({ words: `${words}, ${stream ? 'streaming' : 'plain'}`, scripts, stream })),
  )

  testOnRows(
    'the conversation is too long, %s › 400 context_length_exceeded',
    longCases,
    async (rig, { stream }) => {
      const answer = await rig.ask({ stream })
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([400, 'false'])
      const error = errorOf(answer)
      expect(error).toMatchObject({ type: 'invalid_request_error', code: 'context_length_exceeded' })
      expect(error?.message).toStartWith(`All providers failed for model '${rig.model}'`)
      expect(rig.hits()).toEqual([1, 1])
    },
    { every: quick },
  )

  test('the conversation is too long, found after a heartbeat › an error event of that code, no [DONE]', async () => {
    await using rig = await startRig(
      [
        async (exchange) => {
          await exchange.pause(150)
          await tooLong(exchange)
        },
      ],
      { environment: { SVC_HEARTBEAT_MS: '30' } },
    )
    const answer = await rig.askStream()
    expect([answer.status, isDone(answer)]).toEqual([200, false])
    expect(errorOf(answer)).toMatchObject({ type: 'invalid_request_error', code: 'context_length_exceeded' })
  })

  test('while all are cooling down › they are asked anyway, 429, with the shortest Retry-After', async () => {
    await using rig = await startRig([status(429, { 'retry-after': '20' }), status(429, { 'retry-after': '7' })])
    await rig.ask()
    const answer = await rig.ask()
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('x-should-retry')]).toEqual([
      429,
      '7',
      'true',
    ])
    expect(rig.hits()).toEqual([2, 2])
  })

  describe('a skipped provider', () => {
    const bodies: readonly (readonly [words: string, script: Script])[] = [
      ['refuses the request', status(400)],
      ['refuses the key', status(401)],
    ]

    test.each(bodies)(
      'because it asked to be left alone, while the other %s › 502, x-should-retry: true',
      async (_, script) => {
        await using rig = await startRig([status(429, { 'retry-after': '30' }), script])
        await rig.ask()
        const answer = await rig.ask()
        expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'true'])
        expect(rig.hits()).toEqual([1, 2])
      },
    )

    test.each(bodies)(
      'because its breaker is open, while the other %s › 502, x-should-retry: true',
      async (_, script) => {
        await using rig = await startRig([status(500), good()])
        for (let round = 0; round < 5; round++) await rig.ask()
        rig.upstreams[1]?.use(script)
        const answer = await rig.ask()
        expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'true'])
      },
    )

    test('that is asked after all › counts as asked: both refuse › 400, x-should-retry: false', async () => {
      await using rig = await startRig([status(401), status(401)])
      for (let round = 0; round < 3; round++) await rig.ask()
      for (const upstream of rig.upstreams) upstream.use(status(400))
      const answer = await rig.ask()
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([400, 'false'])
      expect(rig.hits()).toEqual([4, 4])
    })
  })

  test('a lone provider that refuses the key › x-should-retry: false, however often it is asked', async () => {
    await using rig = await startRig([status(401)])
    const told: string[] = []
    for (let round = 0; round < 7; round++) {
      const answer = await rig.ask()
      told.push(`${answer.status} ${answer.headers.get('x-should-retry')}`)
    }
    expect(told).toEqual(Array(7).fill('502 false'))
    expect(rig.hits()).toEqual([7])
  })

  test('three providers, two dead › the third answers, attempts: 3', async () => {
    await using rig = await startRig([status(500), status(401), good({ name: 'c' })])
    const answer = await rig.ask()
    expect([answer.status, answer.headers.get('x-svc-attempts'), answer.headers.get('x-svc-provider')]).toEqual([
      200,
      '3',
      'c',
    ])
    expect(rig.hits()).toEqual([1, 1, 1])
  })

  test('no provider serves the model › 404 model_not_found, no provider is asked', async () => {
    await using rig = await startRig([good()])
    const answer = await rig.ask({ model: 'other' })
    expect([answer.status, errorOf(answer)?.code, errorOf(answer)?.message]).toEqual([
      404,
      'model_not_found',
      "The model 'other' was not found in any enabled provider",
    ])
    expect(rig.hits()).toEqual([0])
  })

  test('a disabled provider › is never asked', async () => {
    await using rig = await startRig([good({ name: 'a' }), good({ name: 'b' })], { each: { a: { enabled: false } } })
    expect((await rig.ask()).headers.get('x-svc-provider')).toBe('b')
    expect(rig.hits()).toEqual([0, 1])
  })

  test('a provider whose key is not set › is skipped', async () => {
    await using rig = await startRig([good({ name: 'a' }), good({ name: 'b' })], {
      each: { a: { api_key: '$SOME_KEY_THAT_NOBODY_SET' } },
    })
    expect((await rig.ask()).headers.get('x-svc-provider')).toBe('b')
    expect(rig.hits()).toEqual([0, 1])
  })

  test('each provider is asked for the model by its own name, and one can be pinned', async () => {
    const first = faultUpstream(status(500)),
      second = faultUpstream(good())
    const named = (upstream: string) => ({ models: [{ name: 'm', upstream }] })
    await using service = await startService({
      providers: [provider('first', first.url, [], named('one')), provider('second', second.url, [], named('two/2'))],
    })
    const answer = await chat(service.url, question())
    expect(answer.headers.get('x-svc-model')).toBe('two/2')
    const asked = [first, second].map(
      ({ hits }) => /"model":"([^"]*)"/.exec(new TextDecoder().decode(hits[0]?.body))?.[1],
    )
    expect(asked).toEqual(['one', 'two/2'])
    expect((await chat(service.url, question({ model: 'second/m' }))).status).toBe(200)
    expect([first.hits.length, second.hits.length]).toEqual([1, 2])
    first.stop()
    second.stop()
  })
})
