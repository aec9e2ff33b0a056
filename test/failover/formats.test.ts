import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { trailOf } from '../client.ts'
import { authority } from '../fakes/faults/connection.ts'
import { spokenFaults, type SpokenFault } from '../fakes/faults/spoken.ts'
import { answering, type Language, type Piece } from '../fakes/languages/language.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { ask, pairsOf, stage, type Heard, type Pair } from './stage.ts'

/**
 * Rows 1 to 34 before the commit, for callers of each format, natively and translated. The rows of chat completions at
 * providers of chat completions have tests of more detail in the other files.
 */

const hello: Piece = { kind: 'text', text: 'Hello, you out there.' }
/** More than any failure needs to have a provider skipped. */
const rounds = 7

interface Case extends Pair {
  readonly fault: SpokenFault
  readonly model: string
  /** Whether the first request is for a stream; kinds alternate where the fault has both. */
  readonly streamsFirst: boolean
}

const cases: readonly (readonly Case[])[] = spokenFaults.map((fault, turn) =>
  pairsOf(turn)
    .filter(({ provider }) => fault.only?.includes(provider.name) !== false)
    .map(({ caller, provider }, index) => ({
      fault,
      caller,
      provider,
      model: `m${turn}-${caller.name}-${provider.name}`,
      streamsFirst: fault.on === 'stream' || (fault.on === 'both' && (turn + index) % 2 === 1),
    })),
)

const upstream = stage()
const origins = spokenFaults.map(({ origin }) => origin?.())
let service: ServiceUnderTest

beforeAll(async () => {
  const providers = cases.flatMap((row, turn) =>
    row.flatMap(({ fault, provider: language, model }) => {
      const origin = origins[turn]
      const first = upstream.add({ id: `a-${model}`, language, model, spoken: fault.spoken, entry: fault.entry })
      return [
        origin === undefined ? first : { ...first, base_url: origin.url },
        upstream.add({ id: `b-${model}`, language, model, spoken: (spoken) => answering(spoken, [hello]) }),
      ]
    }),
  )
  service = await startService({ providers }, { trusts: authority })
})

afterAll(async () => {
  for (const origin of origins) origin?.stop()
  upstream.stop()
  await service.stop()
})

function expectMoved(answer: Heard, { fault, model }: Case): void {
  const [first, second, ...others] = trailOf(answer)
  expect([model, answer.headers.get('x-svc-provider'), answer.headers.get('x-svc-attempts')]).toEqual([
    model,
    `b-${model}`,
    '2',
  ])
  expect([model, first?.['name'], second?.['name'], second?.['class'], others.length]).toEqual([
    model,
    `a-${model}`,
    `b-${model}`,
    undefined,
    0,
  ])
  expect([model, fault.failures.map(String)]).toEqual([model, expect.arrayContaining([String(first?.['class'])])])
}

/** What an answer has once: nothing of the first provider arrives before the commit. */
const starts: Readonly<Record<Language['name'], RegExp>> = {
  chat: /"role":"assistant"/g,
  messages: /event: message_start/g,
  responses: /event: response\.created/g,
  gemini: /"finishReason"/g,
}

/** Asks until the provider must be skipped, if it must. */
async function run(each: Case): Promise<void> {
  const { fault, caller, provider, model, streamsFirst } = each
  const id = (role: string) => upstream.hits(`${role}-${model}`)
  for (let round = 0; round < rounds; round++) {
    const stream = fault.on === 'both' ? streamsFirst === (round % 2 === 0) : streamsFirst
    const answer = await ask(service.url, caller, { model, stream })
    expect([model, round, answer.status, answer.text, answer.isComplete, answer.error]).toEqual([
      model,
      round,
      200,
      'Hello, you out there.',
      true,
      undefined,
    ])
    expect(answer.body).not.toContain('never')
    expect(answer.body.match(starts[caller.name])?.length ?? 0).toBeLessThanOrEqual(1)
    if (round < fault.skippedAfter) expectMoved(answer, each)
    else expect([model, round, trailOf(answer).map(({ name }) => name)]).toEqual([model, round, [`b-${model}`]])
  }
  expect([model, id('b').length]).toEqual([model, rounds])
  if (fault.origin !== undefined) return
  expect([model, id('a').length]).toEqual([model, Math.min(rounds, fault.skippedAfter)])
  expect(id('a')[0]?.at).toBeLessThan(id('b')[0]?.at ?? 0)
  // Each provider is asked in the format of the caller if it speaks that.
  const path = caller === provider ? caller.caller.path({ model, stream: streamsFirst }).split('?')[0] : ''
  expect(id('a')[0]?.path.split('?')[0]).toEndWith(path ?? '')
}

describe('failover in every format', () => {
  test.concurrent.each(cases.map((row) => [`row ${row[0]?.fault.row} › ${row[0]?.fault.words}`, row] as const))(
    '%s › moves on',
    async (_, row) => {
      await Promise.all(row.map(run))
    },
  )
})

test('the providers accept all requests', () => expect(upstream.faults).toEqual([]))
