import { describe, expect, test } from 'bun:test'
import { chat, isDone, metric, parseJson, pick, question } from './client.ts'
import { faultUpstream, type Script } from './fakes/fault-upstream.ts'
import { firstTokens } from './fakes/faults/cut.ts'
import { status } from './fakes/faults/status.ts'
import { streamOf } from './fakes/faults/stream.ts'
import { good, goodText, isStream } from './fakes/good.ts'
import {
  chunk,
  completion,
  done,
  errorReply,
  event,
  framed,
  reply,
  streamEvents,
  streamHead,
  tokens,
  usageChunk,
} from './fakes/replies.ts'
import { provider, quick, startService } from './harness.ts'
import { startRig, type Rig } from './rig.ts'

const lost: Script = async (exchange) => {
  await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens())]))
  await exchange.pause(20)
  exchange.reset()
}

/** Stops the service and returns the log lines of all requests. */
async function requestLines(rig: Rig): Promise<readonly Readonly<Record<string, unknown>>[]> {
  await rig.service.stop()
  return rig.service.logs.filter(({ message }) => message === 'request')
}

/** Trail of a log line as `provider class`, with `ok` for an answer. */
function trailIn(line: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const trail = line?.['trail']
  return Array.isArray(trail)
    ? trail.map((attempt) => `${String(pick(attempt, 'provider'))} ${String(pick(attempt, 'class') ?? 'ok')}`)
    : []
}

describe('the record of a stream that was cut', () => {
  test('and resumed › names the resuming provider, and each attempt once', async () => {
    await using rig = await startRig([lost, good({ name: 'same', tokens: 6 })], { every: quick })
    const answer = await rig.askStream()
    expect([isDone(answer), answer.headers.get('x-svc-provider')]).toEqual([true, 'a'])
    const attempts = await Promise.all(
      [
        ['a', 'cut'],
        ['a', 'ok'],
        ['b', 'ok'],
      ].map(([id, outcome]) =>
        metric(rig.service.url, `svc_attempts_total{provider="${id}",model="m",outcome="${outcome}"}`),
      ),
    )
    expect(attempts).toEqual([1, Number.NaN, 1])
    const [line] = await requestLines(rig)
    expect(trailIn(line)).toEqual(['a cut', 'b ok'])
    expect([line?.['provider'], line?.['status'], line?.['error']]).toEqual(['b', 200, undefined])
  })

  test('and could not be resumed › names the provider of the sent text, not the one that differed', async () => {
    await using rig = await startRig([lost, good({ name: 'other' }), status(500)], { every: quick })
    expect(isDone(await rig.askStream())).toBe(false)
    expect(
      await metric(
        rig.service.url,
        'svc_requests_total{model="m",provider="a",status="200",class="provider_error",api="chat"}',
      ),
    ).toBe(1)
    const [line] = await requestLines(rig)
    expect(line?.['provider']).toBe('a')
    expect(line?.['error']).toBe('provider_error')
    expect(trailIn(line).map((step) => step.split(' ')[0])).toEqual(['a', 'b', 'c'])
    expect(trailIn(line)[0]).toBe('a cut')
  })

  test('and may not be resumed › has one attempt', async () => {
    await using rig = await startRig([lost, good()], { every: quick, failover: { on_cut: 'error' } })
    await rig.askStream()
    const [line] = await requestLines(rig)
    expect([line?.['provider'], trailIn(line)]).toEqual(['a', ['a cut']])
  })
})

describe('the record of an empty answer that is delivered after all', () => {
  const nothing: Script = (exchange) =>
    isStream(exchange)
      ? streamOf(event(chunk({ role: 'assistant', content: '' })) + event(chunk({}, 'stop')) + done)(exchange)
      : exchange.write(reply(200, JSON.stringify(completion(''))))

  test.each([
    ['plain', false],
    ['streaming', true],
  ] as const)('names its provider, %s', async (_, stream) => {
    await using rig = await startRig([nothing, status(500)])
    const answer = await rig.ask({ stream })
    expect([answer.status, answer.content, answer.headers.get('x-svc-provider')]).toEqual([200, '', 'a'])
    expect(rig.hits()).toEqual([1, 1])
    const [line] = await requestLines(rig)
    expect([line?.['provider'], trailIn(line)]).toEqual(['a', ['a empty', 'b server_error']])
  })
})

describe('the record of an attempt that may have been billed although no answer arrived', () => {
  const cases: readonly (readonly [row: string, script: Script, failure: string])[] = [
    ['row 4 › a reset', (exchange) => exchange.reset(), 'reset'],
    ['row 6 › no headers in time', (exchange) => exchange.hang(), 'timeout'],
    [
      'row 7 › no body in time',
      async (exchange) => {
        await exchange.write('HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n')
        await exchange.hang()
      },
      'timeout',
    ],
  ]

  test.each(cases)('%s › is marked ambiguous; the others are not', async (_, script, failure) => {
    await using rig = await startRig([script, status(500), good()], { every: quick })
    const answer = await rig.ask()
    expect(answer.headers.get('x-svc-trail')).toMatch(
      new RegExp(
        `^a(;status=\\d+)?;class=${failure};ambiguous;ms=\\d+, b;status=500;class=server_error;ms=\\d+, ` +
          'c;status=200;ms=\\d+$',
      ),
    )
    const [line] = await requestLines(rig)
    expect([0, 1, 2].map((place) => pick(line, 'trail', place, 'ambiguous'))).toEqual([true, undefined, undefined])
  })
})

describe('usage that is asked for on the caller’s behalf', () => {
  const brand = { a: { brand: 'groq', api_key: '$TEST_KEY' } },
    environment = { TEST_KEY: 'key-for-tests' }
  const texts = tokens(3, 'good')
  const [role = '', ...rest] = streamEvents(texts)
  const orders: readonly (readonly [words: string, script: Script])[] = [
    ['last', streamOf(...streamEvents(texts, { usage: true }))],
    ['first', streamOf(event(usageChunk()), role, ...rest)],
    ['first, and in one piece with what follows', streamOf(event(usageChunk()) + role + rest.join(''))],
    [
      'between its first token and the rest',
      streamOf(role, ...rest.slice(0, 1), event(usageChunk()), ...rest.slice(1)),
    ],
  ]

  test.each(orders)('and comes %s › is recorded, and the client gets none of it', async (_, script) => {
    await using rig = await startRig([script, good({ name: 'never' })], { each: brand, environment })
    const answer = await rig.askStream()
    expect([answer.status, answer.content, isDone(answer)]).toEqual([200, goodText(), true])
    expect(
      answer.events.filter(({ json }) => pick(json, 'usage') !== undefined || pick(json, 'choices', 'length') === 0),
    ).toEqual([])
    expect(pick(parseJson(new TextDecoder().decode(rig.upstreams[0]?.hits[0]?.body)), 'stream_options')).toEqual({
      include_usage: true,
    })
    expect(rig.hits()).toEqual([1, 0])
    const [line] = await requestLines(rig)
    expect([line?.['prompt_tokens'], line?.['completion_tokens']]).toEqual([3, 5])
  })

  test('that the caller asked for itself › reaches it', async () => {
    await using rig = await startRig([good()], { each: brand, environment })
    const answer = await rig.askStream({ stream_options: { include_usage: true } })
    expect(
      answer.events.map(({ json }) => pick(json, 'usage', 'total_tokens')).filter((total) => total !== undefined),
    ).toEqual([8])
  })

  test('first, before a cut › is no mistake: the stream is resumed', async () => {
    const lostAfterUsage: Script = async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(event(usageChunk()) + firstTokens())]))
      await exchange.pause(20)
      exchange.reset()
    }
    await using rig = await startRig([lostAfterUsage, good({ name: 'same', tokens: 6 })], {
      every: quick,
      each: brand,
      environment,
    })
    const answer = await rig.askStream()
    expect([answer.content, isDone(answer)]).toEqual([goodText({ name: 'same', tokens: 6 }), true])
  })
})

test.each([[[]], [['--workers', '1']]])('made-up models of an unknown list %j › are one label', async (flags) => {
  using upstream = faultUpstream((exchange) => exchange.write(errorReply(500, { message: 'broken' })))
  const providers = [provider('a', upstream.url), { id: 'b', base_url: upstream.url }]
  await using service = await startService({ providers }, { flags })
  for (const model of ['made-up-1', 'made-up-2', 'b/made-up-3', 'M', 'm', 'b/m'])
    for (let times = 0; times < 6; times++) await chat(service.url, question({ model }))
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  const named = [...metrics.matchAll(/\bmodel="([^"]+)"/g)].map(([, model]) => model)
  expect([...new Set(named)].toSorted()).toEqual(['m', 'other'])
  expect(await metric(service.url, 'svc_breaker_open{provider="b",model="other"}')).toBe(1)
})
