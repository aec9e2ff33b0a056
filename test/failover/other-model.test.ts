import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, metric, question } from '../client.ts'
import type { Script } from '../fakes/fault-upstream.ts'
import type { Spoken } from '../fakes/faults/spoken.ts'
import { isStream } from '../fakes/good.ts'
import { answering, eventsWith, streamed, type Piece } from '../fakes/languages/language.ts'
import { chunk, completion, done, event, framed, lastChunk, reply, streamHead, usageChunk } from '../fakes/replies.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { billed, price, startLedgerRig } from '../ledger-rig.ts'
import { ask, pairsOf, stage } from './stage.ts'

/** Row 44: an answer that names another model than was asked for, for callers of each format. */

const text = 'Hello, you out there.'
const hello: Piece = { kind: 'text', text }
const named =
  (model: string): Spoken =>
  (language) =>
    answering(language, [hello], (text) => text.replaceAll('upstream-model', model))
const renamed = (text: string) => text.replaceAll('upstream-model', 'gpt-4o-mini-2024-07-18')
const mini = named('gpt-4o-mini-2024-07-18')
const right = named('gpt-4o-2024-11-20')
const failing: Spoken = (language) => streamed(language.provider, [language.provider.failure])

const whole: Spoken =
  ({ provider }) =>
  (exchange) =>
    exchange.write(reply(200, renamed(JSON.stringify(provider.whole([hello])))))
const streaming: Spoken = ({ provider }) => streamed(provider, eventsWith(provider, [hello]).map(renamed))

const upstream = stage()
let service: ServiceUnderTest

/** Two providers, of which the first passes answers by another model over. */
function pairs(kind: string, turn: number, first: Spoken, second: Spoken, entry: object = { on_other_model: 'next' }) {
  return pairsOf(turn).map(({ caller, provider }) => {
    const model = `${kind}-${caller.name}-${provider.name}`
    const common = { language: provider, model, entry: { models: [{ name: model, upstream: 'gpt-4o' }], ...entry } }
    const entries = [
      upstream.add({ ...common, id: `a-${model}`, spoken: first }),
      upstream.add({ ...common, id: `b-${model}`, spoken: second }),
    ]
    return { caller, model, entries }
  })
}

const cases = {
  served: pairs('served', 0, mini, right, {}),
  passed: pairs('passed', 1, mini, right),
  again: pairs('again', 2, mini, failing),
  both: pairs('both', 0, mini, mini),
  alone: pairs('alone', 1, mini, right).map((each) => ({ ...each, entries: each.entries.slice(0, 1) })),
  right: pairs('right', 2, right, mini),
  /** They answer with the kind that was not asked for. */
  whole: pairs('whole', 0, whole, right),
  streams: pairs('streams', 1, streaming, right),
}

beforeAll(async () => {
  service = await startService({
    providers: Object.values(cases).flatMap((each) => each.flatMap((one) => one.entries)),
  })
})
afterAll(async () => {
  await service.stop()
  upstream.stop()
})

/** The trail of a request: providers, and what is said of their models. */
function trailOf(headers: Headers): string {
  return (headers.get('x-svc-trail') ?? '')
    .replace(/;(?:ms|status|dropped|adjusted)=[^;,]*/g, '')
    .replace(/\b([ab])-[\w-]+/g, '$1')
}

const expected: Readonly<Record<string, RegExp>> = {
  served: /^a;served=gpt-4o-mini-2024-07-18$/,
  passed: /^a;class=other_model(;ambiguous)?;served=gpt-4o-mini-2024-07-18, b$/,
  again: /^a;class=other_model\S* b;class=\S*, a;served=gpt-4o-mini-2024-07-18$/,
  both: /^a;class=other_model\S* b;class=other_model\S* a;served=gpt-4o-mini-2024-07-18$/,
  alone: /^a;served=gpt-4o-mini-2024-07-18$/,
  right: /^a$/,
  whole: /^a;class=other_model(;ambiguous)?;served=gpt-4o-mini-2024-07-18, b$/,
  streams: /^a;class=other_model(;ambiguous)?;served=gpt-4o-mini-2024-07-18, b$/,
}

describe.each([false, true])('row 44 › an answer by another model, streamed: %p', (stream) => {
  test.each(Object.entries(cases))('%s', async (name, asked) => {
    for (const { caller, model } of asked) {
      const answer = await ask(service.url, caller, { model, stream })
      const trail = trailOf(answer.headers)
      expect([model, answer.status, answer.text, answer.isComplete, trail]).toEqual([
        model,
        200,
        text,
        true,
        expect.stringMatching(expected[name] ?? /never/),
      ])
    }
  })
})

/** Prices of the two models, and the nano-USD of a token of them. */
const models = [
  { name: 'm', upstream: 'gpt-4o', price },
  { name: 'mini', upstream: 'gpt-4o-mini', price: { input: 1, output: 2 } },
]
const nanoOfMini = { prompt: 1_000, answer: 2_000 }

/** Answers as gpt-4o-mini, and adds what it bills. Streams that the client leaves are billed to their end. */
function otherModelOf(bill: { nanoUsd: number }): Script {
  return async (exchange) => {
    const usage = { prompt_tokens: 40, completion_tokens: 7, total_tokens: 47 }
    bill.nanoUsd += 40 * nanoOfMini.prompt + 7 * nanoOfMini.answer
    const top = { usage, model: 'gpt-4o-mini-2024-07-18' }
    if (!isStream(exchange)) return exchange.write(reply(200, JSON.stringify(completion('other', { top }))))
    const events = [chunk({ content: 'other' }), chunk({}, 'stop'), usageChunk({ usage })]
    await exchange.write(
      Buffer.concat([Buffer.from(streamHead), ...[...events.map(event), done].map(renamed).map(framed), lastChunk]),
    )
  }
}

/** Answers as the model that was asked for. */
function rightModelOf(bill: { nanoUsd: number }): Script {
  return (exchange) => {
    bill.nanoUsd += billed(30, 5)
    const usage = { prompt_tokens: 30, completion_tokens: 5, total_tokens: 35 }
    return exchange.write(reply(200, JSON.stringify(completion('right', { top: { usage, model: 'gpt-4o' } }))))
  }
}

describe('an answer by another model is priced by what was served', () => {
  test.each([
    ['without limits', {}],
    [
      'within a limit of money',
      { files: { 'access.json': JSON.stringify({ limits: [{ for: 'everyone', usd: 1, per: 'day' }] }) } },
    ],
  ])('%s the ledger is the bill, for answers that are delivered and given up', async (_, options) => {
    const bill = { nanoUsd: 0 }
    await using rig = await startLedgerRig([otherModelOf(bill), rightModelOf(bill)], {
      ...options,
      every: { models, on_other_model: 'next' },
    })
    const { url } = rig.service
    const headers = { authorization: `Bearer ${rig.key}` }
    const answers = [
      await chat(url, question({ model: 'm' }), { headers }),
      await chat(url, question({ model: 'a/m' }), { headers }),
      await chat(url, question({ model: 'a/m', stream: true }), { headers }),
    ]
    expect(answers.map(({ status, text }) => [status, /right|other/.exec(text)?.[0]])).toEqual([
      [200, 'right'],
      [200, 'other'],
      [200, 'other'],
    ])
    await rig.service.stop()
    expect([rig.sum('cost'), rig.sum('cost_estimated'), rig.sum('unpriced')]).toEqual([bill.nanoUsd, 0, 0])
    expect(rig.read('SELECT served FROM request ORDER BY seq', 'requests.db')).toEqual([
      { served: null },
      { served: 'gpt-4o-mini-2024-07-18' },
      { served: 'gpt-4o-mini-2024-07-18' },
    ])
  })
})

test('metrics count answers by another model, and entries name it', async () => {
  const [{ caller, model } = { caller: undefined, model: '' }] = cases.served
  if (caller === undefined) throw new Error('there is no case')
  const series = `svc_other_model_total{provider="a-${model}",model="${model}"}`
  const before = await metric(service.url, series)
  const answer = await ask(service.url, caller, { model, stream: true })
  const entry: unknown = await (
    await fetch(`${service.url}/api/requests/${answer.headers.get('x-request-id') ?? ''}`)
  ).json()
  expect(entry).toMatchObject({ served: 'gpt-4o-mini-2024-07-18', isOtherModel: true })
  expect([before, await metric(service.url, series)]).toEqual([2, 3])
})
