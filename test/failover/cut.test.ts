import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, errorOf, isDone, parseJson, pick, question, type Answer } from '../client.ts'
import { faultUpstream, type Exchange, type FaultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { cuts, firstTokens, tokensBeforeCut } from '../fakes/faults/cut.ts'
import { status } from '../fakes/faults/status.ts'
import { streamOf } from '../fakes/faults/stream.ts'
import { good, goodText } from '../fakes/good.ts'
import {
  chunk,
  completion,
  event,
  framed,
  identity,
  lastChunk,
  reply,
  streamEvents,
  streamHead,
  tokens,
} from '../fakes/replies.ts'
import { provider, quick, startService, type ServiceUnderTest } from '../harness.ts'
import { startRig } from '../rig.ts'

const before = tokens(tokensBeforeCut, 'same').join('')
const whole = goodText({ name: 'same', tokens: 6 })
/** A provider with the same text under another identity. */
const elsewhere = {
  name: 'same',
  tokens: 6,
  top: { id: 'chatcmpl-elsewhere', created: 1_800_000_000, model: 'elsewhere' },
}

/** Expects a lost stream: the text before the cut, an error event, a clean end of the body, and no `[DONE]`. */
function expectLost(answer: Answer, content: string): void {
  expect([answer.status, answer.content]).toEqual([200, content])
  const last = answer.events.at(-1)
  expect({ type: pick(last?.json, 'error', 'type'), code: pick(last?.json, 'error', 'code') }).toEqual({
    type: 'api_error',
    code: 'provider_error',
  })
  expect(answer.text).not.toContain('[DONE]')
  expect(
    answer.events
      .map(({ json }) => pick(json, 'choices', 0, 'finish_reason'))
      .filter((reason) => typeof reason === 'string'),
  ).toEqual([])
}

/** Expects a complete stream without any trace of a cut. */
function expectWhole(answer: Answer, content: string): void {
  expect([answer.status, answer.content, isDone(answer), errorOf(answer)]).toEqual([200, content, true, undefined])
  const json = answer.events.filter((each) => each.json !== undefined).map((each) => each.json)
  expect(
    json.map((each) => pick(each, 'choices', 0, 'delta', 'role')).filter((role) => role !== undefined).length,
  ).toBeLessThanOrEqual(1)
  expect([
    ...new Set(
      json.map((each) => `${String(pick(each, 'id'))} ${String(pick(each, 'created'))} ${String(pick(each, 'model'))}`),
    ),
  ]).toEqual([`${identity.id} ${identity.created} ${identity.model}`])
  expect(
    json.map((each) => pick(each, 'choices', 0, 'finish_reason')).filter((reason) => typeof reason === 'string'),
  ).toEqual(['stop'])
}

describe('a cut', () => {
  const cases = cuts.map((cut) => ({
    cut,
    a: faultUpstream(cut.script),
    same: faultUpstream(good(elsewhere)),
    other: faultUpstream(good({ name: 'other', tokens: 6 })),
  }))
  let resuming: ServiceUnderTest | undefined, failing: ServiceUnderTest | undefined

  beforeAll(async () => {
    const providers = cases.flatMap(({ cut, a, same, other }) => [
      provider(`a-${cut.name}`.toLowerCase(), a.url, [`same-${cut.name}`, `other-${cut.name}`], quick),
      provider(`s-${cut.name}`.toLowerCase(), same.url, [`same-${cut.name}`]),
      provider(`o-${cut.name}`.toLowerCase(), other.url, [`other-${cut.name}`]),
    ])
    resuming = await startService({ providers })
    failing = await startService({ providers, failover: { on_cut: 'error' } })
  })

  afterAll(async () => {
    for (const { a, same, other } of cases) {
      a.stop()
      same.stop()
      other.stop()
    }
    await resuming?.stop()
    await failing?.stop()
  })

  function ask(service: ServiceUnderTest | undefined, model: string): Promise<Answer> {
    for (const { a, same, other } of cases) {
      a.forget()
      same.forget()
      other.forget()
    }
    return chat(service?.url ?? '', question({ model, stream: true }))
  }

  for (const { cut, a, same, other } of cases) {
    test(`row ${cut.row} › ${cut.words} › the next provider resumes it: each token arrives once`, async () => {
      expectWhole(await ask(resuming, `same-${cut.name}`), whole)
      expect([a.hits.length, same.hits.length]).toEqual([1, 1])
    })

    test(`row ${cut.row} › ${cut.words} › the next provider has another text: an error event, no [DONE]`, async () => {
      expectLost(await ask(resuming, `other-${cut.name}`), before)
      expect([a.hits.length, other.hits.length]).toEqual([1, 1])
    })

    test(`row ${cut.row} › ${cut.words} › on_cut error: an error event, no [DONE], no other is asked`, async () => {
      expectLost(await ask(failing, `same-${cut.name}`), before)
      expect([a.hits.length, same.hits.length]).toEqual([1, 0])
    })
  }
})

describe('resuming', () => {
  const lost: Script = async (exchange) => {
    await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens())]))
    await exchange.pause(20)
    exchange.reset()
  }

  async function rigAfter(first: Script, ...others: readonly (Script | FaultUpstream)[]) {
    return await startRig([first, ...others], { every: quick })
  }

  test('the same text in other pieces is the same text', async () => {
    await using rig = await rigAfter(lost, streamOf(...streamEvents(whole.split(/(?<=.{4})/s))))
    expectWhole(await rig.askStream(), whole)
  })

  test('the same text in one piece is the same text', async () => {
    await using rig = await rigAfter(lost, streamOf(...streamEvents([whole])))
    expectWhole(await rig.askStream(), whole)
  })

  test('a provider that answers in JSON can resume', async () => {
    await using rig = await rigAfter(lost, (exchange) => exchange.write(reply(200, JSON.stringify(completion(whole)))))
    expectWhole(await rig.askStream(), whole)
  })

  test('a character cut in two by a resume stays whole', async () => {
    const text = 'a 👩‍👩‍👧 b 日本 c'
    const half: Script = async (exchange) => {
      await exchange.write(
        Buffer.concat([Buffer.from(streamHead), framed(event(chunk({ content: text.slice(0, 4) })))]),
      )
      await exchange.pause(20)
      exchange.reset()
    }
    await using rig = await rigAfter(half, streamOf(...streamEvents([text])))
    expectWhole(await rig.askStream(), text)
  })

  test('a text that ends before what the client has: an error event', async () => {
    await using rig = await rigAfter(lost, good({ name: 'same', tokens: 2 }))
    expectLost(await rig.askStream(), before)
  })

  test('a text that ends exactly where the client is: complete', async () => {
    await using rig = await rigAfter(lost, good({ name: 'same', tokens: tokensBeforeCut }))
    expectWhole(await rig.askStream(), before)
  })

  test('the provider that differs is aborted', async () => {
    await using rig = await rigAfter(lost, async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens('other'))]))
      await exchange.hang()
    })
    expectLost(await rig.askStream(), before)
    expect(await rig.upstreams[1]?.hits[0]?.left).toBeNumber()
  })

  test('a provider that refuses is passed over, and the next one resumes', async () => {
    await using rig = await rigAfter(lost, status(400), good(elsewhere))
    expectWhole(await rig.askStream(), whole)
    expect(rig.hits()).toEqual([1, 1, 1])
  })

  test('a provider that differs is passed over, and the next one resumes', async () => {
    await using rig = await rigAfter(lost, good({ name: 'other' }), good(elsewhere))
    expectWhole(await rig.askStream(), whole)
    expect(rig.hits()).toEqual([1, 1, 1])
  })

  test('a resumed stream that is lost again is resumed again', async () => {
    const lostLater: Script = async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens('same', 5))]))
      await exchange.pause(20)
      exchange.reset()
    }
    await using rig = await rigAfter(lost, lostLater, good(elsewhere))
    expectWhole(await rig.askStream(), whole)
    expect(rig.hits()).toEqual([1, 1, 1])
  })

  test('no provider is left: an error event', async () => {
    await using rig = await rigAfter(lost)
    expectLost(await rig.askStream(), before)
    expect(rig.hits()).toEqual([1])
  })

  test.each([
    [
      'a tool call half sent',
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"x":' } }] },
    ],
    ['reasoning', { reasoning_content: 'hm' }],
    ['a refusal', { refusal: 'I' }],
  ])('%s is never resumed: an error event', async (_, delta) => {
    const beyondText: Script = async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens() + event(chunk(delta)))]))
      await exchange.pause(20)
      exchange.reset()
    }
    await using rig = await rigAfter(beyondText, good(elsewhere))
    expectLost(await rig.askStream(), before)
  })

  test('usage is that of what the client received, counted once', async () => {
    await using rig = await rigAfter(lost, good(elsewhere))
    const answer = await rig.askStream({ stream_options: { include_usage: true } })
    expectWhole(answer, whole)
    expect(
      answer.events.map(({ json }) => pick(json, 'usage', 'total_tokens')).filter((total) => total !== undefined),
    ).toEqual([8])
  })

  test('after finish_reason nothing is lost any more', async () => {
    await using rig = await rigAfter(async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens() + event(chunk({}, 'stop')))]))
      await exchange.pause(20)
      exchange.reset()
    }, good(elsewhere))
    expectWhole(await rig.askStream(), before)
    expect(rig.hits()).toEqual([1, 0])
  })

  test.each([
    ['whose breaker is open', 500, 5],
    ['that is cooling down', 401, 3],
  ] as const)('a provider %s resumes it when no other is left', async (_, code, times) => {
    await using rig = await rigAfter(status(400), status(code))
    for (let round = 0; round < times; round++) await rig.ask()
    rig.upstreams[0]?.use(lost)
    rig.upstreams[1]?.use(good(elsewhere))
    expectWhole(await rig.askStream(), whole)
    expect(rig.hits()).toEqual([times + 1, times + 1])
  })

  describe('at a provider that continues', () => {
    const continuing = { brand: 'llamacpp' }

    test('it is asked to go on after what the client has', async () => {
      await using rig = await startRig([lost, streamOf(...streamEvents(['same-3 ', 'same-4 ', 'same-5 ']))], {
        each: { b: continuing },
      })
      expectWhole(await rig.askStream(), whole)
      const asked = parseJson(new TextDecoder().decode(rig.upstreams[1]?.hits[0]?.body))
      expect(pick(asked, 'messages')).toEqual([
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: before },
      ])
    })

    test('its refusal to continue never reaches the client: it is asked afresh', async () => {
      await using rig = await startRig(
        [lost, (exchange) => (exchange.hit.nth === 1 ? status(400) : good(elsewhere))(exchange)],
        { each: { b: continuing } },
      )
      expectWhole(await rig.askStream(), whole)
      expect(rig.hits()).toEqual([1, 2])
    })
  })
})

describe('a stream of several choices', () => {
  const choice = (index: number, delta: object, finishReason: string | null = null) =>
    event({ ...chunk({}), choices: [{ index, delta, finish_reason: finishReason }] })
  const halfDone =
    choice(0, { content: 'A' }) + choice(0, {}, 'stop') + choice(1, { content: 'B' }) + choice(1, { content: 'C' })

  function ending(events: string, last: (exchange: Exchange) => Promise<void> | void): Script {
    return async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(events)]))
      await exchange.pause(20)
      await last(exchange)
    }
  }

  const ends: readonly (readonly [words: string, last: (exchange: Exchange) => Promise<void> | void])[] = [
    ['reset', (exchange) => exchange.reset()],
    ['ended', (exchange) => exchange.write(lastChunk)],
  ]

  test.each(ends)('%s while one of them is not finished › is cut: an error event, no [DONE]', async (_, last) => {
    await using rig = await startRig([ending(halfDone, last), good()])
    const answer = await rig.askStream({ n: 2 })
    expect([answer.status, errorOf(answer)?.code, answer.text.includes('[DONE]')]).toEqual([
      200,
      'provider_error',
      false,
    ])
    expect(
      answer.events
        .map(({ json }) => pick(json, 'choices', 0, 'delta', 'content'))
        .filter((text) => text !== undefined),
    ).toEqual(['A', 'B', 'C'])
    expect(rig.hits()).toEqual([1, 0])
  })

  test.each(ends)('for a plain request, %s while one of them is not finished › moves on', async (_, last) => {
    await using rig = await startRig([ending(halfDone, last), good()])
    const answer = await rig.ask({ n: 2 })
    expect([answer.status, answer.content, answer.headers.get('x-svc-provider')]).toEqual([200, goodText(), 'b'])
    expect(rig.hits()).toEqual([1, 1])
  })

  test('that are all finished › lacks nothing but [DONE], which is added', async () => {
    await using rig = await startRig([
      ending(halfDone + choice(1, {}, 'length'), (exchange) => exchange.write(lastChunk)),
      good(),
    ])
    const answer = await rig.askStream({ n: 2 })
    expect([isDone(answer), errorOf(answer)]).toEqual([true, undefined])
  })
})
