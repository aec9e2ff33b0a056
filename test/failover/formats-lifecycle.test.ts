import { describe, expect, test } from 'bun:test'
import { refusing, type Spoken } from '../fakes/faults/spoken.ts'
import { answering, eventsOf, type Language, type Piece } from '../fakes/languages/language.ts'
import { framed, streamHead } from '../fakes/replies.ts'
import { startService, type ServiceOptions } from '../harness.ts'
import { politeEnds } from './failed-stream.ts'
import { ask, pairsOf, stage, type Heard, type Pair } from './stage.ts'

/** Rows 40 to 42, and the wait for a first token, for callers of each format, natively and translated. */

const text = 'Hello, you out there.'
const hello: Piece = { kind: 'text', text }
const good: Spoken = (language) => answering(language, [hello])
const silent: Spoken = () => (exchange) => exchange.hang()
/** Begins the text, and sends nothing more. */
const halfSaid: Spoken =
  ({ provider }) =>
  async (exchange) => {
    const begun = [...provider.begin(), ...provider.half(hello, 0)]
    await exchange.write(Buffer.concat([Buffer.from(streamHead), ...(provider.numbered?.(begun) ?? begun).map(framed)]))
    await exchange.hang()
  }

/** A service with two providers for each pair of formats. */
async function serviceOf(first: Spoken, second: Spoken, options: ServiceOptions = {}) {
  const upstream = stage()
  const pairs = pairsOf(0).map((pair) => ({ ...pair, model: `${pair.caller.name}-${pair.provider.name}` }))
  const service = await startService(
    {
      providers: pairs.flatMap(({ provider: language, model }) => [
        upstream.add({ id: `a-${model}`, language, model, spoken: first }),
        upstream.add({ id: `b-${model}`, language, model, spoken: second }),
      ]),
    },
    options,
  )
  return {
    service,
    upstream,
    pairs,
    ask: ({ caller, model }: Pair & { readonly model: string }, stream: boolean) =>
      ask(service.url, caller, { model, stream }),
    hits: (model: string) => ['a', 'b'].map((role) => upstream.hits(`${role}-${model}`).length),
    async [Symbol.asyncDispose]() {
      upstream.stop()
      await service[Symbol.asyncDispose]()
    },
  }
}

/** The error of an overload, as the last event of a stream and as a body. */
const overloads: Readonly<Record<Language['name'], object>> = {
  chat: { error: { type: 'overloaded_error', code: 'overloaded' } },
  messages: { type: 'error', error: { type: 'overloaded_error' } },
  responses: { error: { type: 'overloaded_error', code: 'overloaded' } },
  gemini: { error: { code: 503, status: 'UNAVAILABLE' } },
}

test('row 40 › in every format, a caller that leaves aborts its request, which is no failure', async () => {
  await using own = await serviceOf(silent, good)
  for (const each of own.pairs) {
    const { caller, model } = each
    for (const [spoken, stream] of [
      [silent, false],
      [silent, true],
      [halfSaid, true],
    ] as const) {
      const left = Promise.withResolvers<number>()
      own.upstream.use(`a-${model}`, (language) => (exchange) => {
        left.resolve(exchange.hit.left)
        return spoken(language)(exchange)
      })
      const before = own.hits(model)[0] ?? 0
      const controller = new AbortController()
      const question = { model, stream, turns: [{ role: 'user', text: 'Hello' }] } as const
      const response = fetch(`${own.service.url}${caller.caller.path(question)}`, {
        method: 'POST',
        body: JSON.stringify(caller.caller.body(question)),
        signal: controller.signal,
      })
      response.catch(() => undefined)
      while (own.hits(model)[0] === before) await Bun.sleep(2)
      if (spoken === halfSaid) await (await response).body?.getReader().read()
      else await Bun.sleep(10)
      controller.abort()
      expect(await left.promise).toBeNumber()
    }
    own.upstream.use(`a-${model}`, good)
    const answer = await own.ask(each, true)
    expect([model, answer.text, own.hits(model)]).toEqual([model, text, [4, 0]])
  }
})

test('row 41 › at the deadline of a stopping service, what is open ends with an error, in every format', async () => {
  await using own = await serviceOf(halfSaid, good, { environment: { SVC_DRAIN_MS: '300' } })
  const streams = own.pairs.map((each) => own.ask(each, true))
  while (own.pairs.some(({ model }) => own.hits(model)[0] === 0)) await Bun.sleep(5)
  for (const { model } of own.pairs) own.upstream.use(`a-${model}`, silent)
  const wholes = own.pairs.map((each) => own.ask(each, false))
  while (own.pairs.some(({ model }) => own.hits(model)[0] !== 2)) await Bun.sleep(5)
  own.service.signal('SIGTERM')
  const [streamed, whole] = await Promise.all([Promise.all(streams), Promise.all(wholes)])
  for (const [index, { caller, model }] of own.pairs.entries()) {
    const answer = streamed[index]
    expect([model, answer?.status, answer?.isComplete]).toEqual([model, 200, false])
    const events = eventsOf(answer?.body ?? '')
    if (caller.name !== 'responses') expect(events.at(-1)).toMatchObject(overloads[caller.name])
    else
      expect(events.slice(-2)).toMatchObject([
        { type: 'error', error: { type: 'overloaded_error' } },
        { type: 'response.failed' },
      ])
    expect(answer?.body).not.toMatch(politeEnds[caller.name])
    expectRefused(caller, whole[index])
    expect([model, own.hits(model)]).toEqual([model, [2, 0]])
  }
  expect(await own.service.exited).toBe(0)
}, 15_000)

function expectRefused(caller: Language, answer: Heard | undefined): void {
  expect(answer?.status).toBe(caller.name === 'messages' ? 529 : 503)
  expect(JSON.parse(answer?.body ?? '')).toMatchObject(overloads[caller.name])
}

test('row 42 › out of descriptors, callers are refused in their own format, and no provider is blamed', async () => {
  const slow: Spoken = (language) => async (exchange) => {
    await exchange.pause(150)
    await good(language)(exchange)
  }
  await using own = await serviceOf(slow, good, { descriptors: 64 })
  const asked = Array.from({ length: 12 }, () => own.pairs)
    .flat()
    .map(async (each) => ({ ...each, answer: await own.ask(each, false) }))
  const answers = (await Promise.allSettled(asked)).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const refused = answers.filter(({ answer }) => answer.status !== 200)
  expect(new Set(refused.map(({ caller }) => caller.name)).size).toBe(4)
  for (const { caller, answer } of refused) {
    expectRefused(caller, answer)
    expect(answer.headers.get('retry-after')).toBe('1')
  }
  for (const { model } of own.pairs) expect([model, own.hits(model)[1]]).toEqual([model, 0])
}, 15_000)

describe('while no provider has answered', () => {
  const late: Spoken = (language) => async (exchange) => {
    await exchange.pause(250)
    await refusing(500)(language)(exchange)
  }
  /** Gemini's clients know no comments. */
  const signs: Readonly<Record<Language['name'], RegExp>> = {
    chat: /^(?:: keep-alive\n\n)+data: /,
    responses: /^(?:: keep-alive\n\n)+event: response\.created/,
    messages: /^(?:event: ping\ndata: .*\n\n)+event: message_start/,
    gemini: /^data: /,
  }

  test('streams wait in their own way, failover goes on behind it, and fails with their own last event', async () => {
    await using own = await serviceOf(late, good, { environment: { SVC_HEARTBEAT_MS: '60' } })
    await Promise.all(
      own.pairs.map(async (each) => {
        const { caller, model } = each
        const answer = await own.ask(each, true)
        expect([model, answer.text, answer.isComplete, own.hits(model)]).toEqual([model, text, true, [1, 1]])
        expect(answer.body).toMatch(signs[caller.name])
        own.upstream.use(`b-${model}`, refusing(500))
        const failed = await own.ask(each, true)
        expect([model, failed.status, failed.isComplete]).toEqual([model, caller.name === 'gemini' ? 502 : 200, false])
        expect(failed.error).toStartWith('All providers failed')
        expect(failed.body).not.toMatch(politeEnds[caller.name])
      }),
    )
  })
})
