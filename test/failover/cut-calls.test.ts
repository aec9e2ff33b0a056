import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Spoken } from '../fakes/faults/spoken.ts'
import { answering, eventsWith, streamed, type Call, type Language, type Piece } from '../fakes/languages/language.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { politeEnds } from './failed-stream.ts'
import { ask, languages, stage, type Heard } from './stage.ts'

/**
 * The table of docs/failover.md, "A cut": the first provider breaks off behind each of its events, by a reset, a clean
 * end or an error event. Which is in the question: `cut:7:reset`.
 */

const ways = ['reset', 'end', 'error'] as const
type Way = (typeof ways)[number]

const text: Piece = { kind: 'text', text: 'Look:' }
const otherText: Piece = { kind: 'text', text: 'Lo, other.' }
const thought: Piece = { kind: 'thinking', text: 'Hm, so.', seal: 'x' }
const hidden: Piece = { kind: 'thinking', text: '', seal: 'x' }
const call = (id: string, name: string, input: object): Piece => ({ kind: 'call', call: { id, name, input } })
const [first, second, otherCall] = [
  call('c1', 'read', { a: 1 }),
  call('c2', 'write', { b: [2] }),
  call('c3', 'write', { b: [3] }),
]
const tools = ['read', 'write'].map((name) => ({ name, description: 'd', schema: { type: 'object' } }))

/** Answers with these pieces, and breaks off where the question says. */
const breakingOff =
  (pieces: readonly Piece[]): Spoken =>
  ({ provider }) =>
  (exchange) => {
    const [, count, way] = /cut:(\d+):(\w+)/.exec(new TextDecoder().decode(exchange.hit.body)) ?? []
    const events = eventsWith(provider, pieces).slice(0, Number(count))
    const failure = way === 'error' ? [provider.failure] : []
    return streamed(provider, [...events, ...failure], way === 'reset' ? 'close' : 'end')(exchange)
  }

interface Stream {
  readonly model: string
  readonly caller: Language
  readonly provider: Language
  /** Of the first provider. */
  readonly pieces: readonly Piece[]
  /** Of the second provider. */
  readonly others: readonly Piece[]
  /** Of the first provider. */
  readonly id: string
}

const streams: Stream[] = []

/** A stream for each pair of formats, or for each format at its own provider. */
function streamsOf(name: string, pieces: readonly Piece[], others = pieces, isNative = true): readonly Stream[] {
  const added = languages.flatMap((caller) =>
    languages
      .filter((provider) => (provider === caller) === isNative)
      .map((provider) => ({
        model: `${name}-${caller.name}-${provider.name}`,
        caller,
        provider,
        pieces,
        others,
        id: `a-${name.replace(' ', '-')}-${caller.name}-${provider.name}`,
      })),
  )
  streams.push(...added)
  return added
}

/** Every cut: behind no event, and behind each. Behind the finish an error event says that the answer is none. */
function cutsOf({ provider, pieces }: Stream): readonly (readonly [number, Way])[] {
  const count = eventsWith(provider.provider, pieces).length
  const content = count - provider.provider.end(pieces).length
  return Array.from({ length: count }, (_, place) => place).flatMap((place) =>
    ways.filter((way) => way !== 'error' || place <= content).map((way) => [place, way] as const),
  )
}

/** A model for each cut, so that no circuit breaker opens. */
function modelOf({ model }: Stream, place: number, way: Way): string {
  return `${model}.${place}.${way}`
}

/** What a caller has at the end. */
interface Outcome {
  readonly text: string
  readonly calls: readonly Pick<Call, 'name' | 'input'>[]
  readonly isComplete: boolean
}

/** The fake of chat completions counts calls from the first piece: their list may have holes. */
function outcomeOf({ text: heard, calls, isComplete }: Heard): Outcome {
  return { text: heard, calls: Object.values(calls).map(({ name, input }) => ({ name, input })), isComplete }
}

function wholeOf(pieces: readonly Piece[]): Outcome {
  return {
    text: pieces.flatMap((piece) => (piece.kind === 'text' ? [piece.text] : [])).join(''),
    calls: pieces.flatMap((piece) =>
      piece.kind === 'call' ? [{ name: piece.call.name, input: piece.call.input }] : [],
    ),
    isComplete: true,
  }
}

/** Whether an answer that ended with an error has the beginning of these pieces: some text, and complete calls. */
function isBeginning({ text: heard, calls }: Outcome, pieces: readonly Piece[]): boolean {
  const whole = wholeOf(pieces)
  return whole.text.startsWith(heard) && Bun.deepEquals(calls, whole.calls.slice(0, calls.length))
}

const upstream = stage()
let service: ServiceUnderTest

/** The cuts after which the caller has something else than expected. */
async function faultsOf(
  stream: Stream,
  isRight: (outcome: Outcome, place: number) => boolean,
  cuts = cutsOf(stream),
): Promise<readonly string[]> {
  const { caller } = stream
  const faults = cuts.map(async ([place, way]) => {
    const model = modelOf(stream, place, way)
    const turns = [{ role: 'user', text: `cut:${place}:${way}` }] as const
    const answer = await ask(service.url, caller, { model, stream: true, tools, turns })
    const outcome = outcomeOf(answer)
    const isHonest =
      (answer.error === undefined) === outcome.isComplete &&
      (outcome.isComplete || !politeEnds[caller.name].test(answer.body))
    return isHonest && isRight(outcome, place) ? [] : [`${place} ${way} ${JSON.stringify(outcome)} ${answer.error}`]
  })
  const all = await Promise.all(faults)
  expect(upstream.hits(stream.id)).toHaveLength(cuts.length)
  return all.flat()
}

const named = (list: readonly Stream[]) => list.map((stream) => [stream.model, stream] as const)
const isWhole = (outcome: Outcome, pieces: readonly Piece[]) => Bun.deepEquals(outcome, wholeOf(pieces))

const whole = [text, first, second]
const same = [
  ...streamsOf('same', whole),
  ...streamsOf('silent', [first, second]),
  ...streamsOf('hidden', [hidden, ...whole]),
]
const translated = streamsOf('translated', whole, whole, false)
const thinking = streamsOf('thinking', [thought, ...whole])
const differing = [
  ...streamsOf('other text', whole, [otherText, first, second]),
  ...streamsOf('other call', whole, [text, first, otherCall]),
  ...streamsOf('fewer calls', whole, [text, first]),
]

describe('a stream with calls that is cut behind any event', () => {
  test.each(named(same))('ends whole: %s', async (_, stream) => {
    expect(await faultsOf(stream, (outcome) => isWhole(outcome, stream.pieces))).toEqual([])
  })

  test.each(named(translated))('ends whole: %s', async (_, stream) => {
    const cuts = cutsOf(stream).filter((_each, index) => index % 4 === 0)
    expect(await faultsOf(stream, (outcome) => isWhole(outcome, stream.pieces), cuts)).toEqual([])
  })

  test.each(named(thinking))('ends with an error inside visible reasoning, else whole: %s', async (_, stream) => {
    const { provider } = stream.provider
    const begun = provider.begin().length
    // The start of a text shows nothing: up to two events.
    const shown = begun + provider.piece(thought, 0).length + 2
    const isRight = (outcome: Outcome, place: number) =>
      isWhole(outcome, stream.pieces) || (place > begun && place <= shown && isBeginning(outcome, []))
    expect(await faultsOf(stream, isRight)).toEqual([])
  })

  test.each(named(differing))('ends with an error where no other answer agrees: %s', async (_, stream) => {
    const { pieces, others } = stream
    const begun = stream.provider.provider.begin().length
    const isRight = (outcome: Outcome, place: number) =>
      isWhole(outcome, others) ||
      (place > begun && (isWhole(outcome, pieces) || (!outcome.isComplete && isBeginning(outcome, pieces))))
    expect(await faultsOf(stream, isRight)).toEqual([])
  })
})

beforeAll(async () => {
  const providers = streams.flatMap((stream) => {
    const { model, provider: language, pieces, others, id } = stream
    const entry = { models: cutsOf(stream).map(([place, way]) => modelOf(stream, place, way)) }
    return [
      upstream.add({ id, language, model, spoken: breakingOff(pieces), entry }),
      upstream.add({ id: `b${id.slice(1)}`, language, model, spoken: (each) => answering(each, others), entry }),
    ]
  })
  service = await startService({ providers })
})

afterAll(async () => {
  upstream.stop()
  await service.stop()
})
