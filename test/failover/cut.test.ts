import { describe, expect, test } from 'bun:test'
import { errorOf, isDone, pick, type Answer } from '../client.ts'
import { type Exchange, type FaultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { firstTokens } from '../fakes/faults/cut.ts'
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
} from '../fakes/replies.ts'
import { quick } from '../harness.ts'
import { startRig } from '../rig.ts'

const whole = goodText({ name: 'same', tokens: 6 })

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

describe('resuming', () => {
  const lost: Script = async (exchange) => {
    await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens())]))
    await exchange.pause(20)
    exchange.reset()
  }

  async function rigAfter(first: Script, ...others: readonly (Script | FaultUpstream)[]) {
    return await startRig([first, ...others], { every: quick })
  }

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
