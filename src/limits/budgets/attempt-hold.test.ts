import { describe, expect, test } from 'bun:test'
import { textPart } from '../../formats/chat/testing.ts'
import { noDemand } from '../../formats/demand.ts'
import { emptyPart } from '../../formats/part.ts'
import { costFunction } from '../../prices/cost.ts'
import { AttemptHold } from './attempt-hold.ts'
import { estimateOf } from './estimate.ts'
import { OpenHolds } from './open-holds.ts'
import type { ComparedBill } from './surpluses.ts'

const costOf = costFunction({ price: { input: 1, output: 10 }, source: 'config' }, false)
const head = { id: 'c', created: 1, model: 'm' }

/** An attempt with 1,000 tokens of prompt and 100 of answer: 1,000,000 and 1,000,000 nano-USD. */
function subject(amount = 2_000_000, surplus = 0) {
  const bills: ComparedBill[] = []
  const raised: number[] = []
  const settled: number[] = []
  const holds = new OpenHolds()
  const estimate = estimateOf(
    { ...noDemand, textBytes: 1_000, answerTokens: 100 },
    { costOf, maxOutput: undefined, bytesPerToken: 1 },
  )
  if (estimate === undefined) throw new Error('no estimate')
  const hold = new AttemptHold({
    authority: { raise: (_hold, nano) => void raised.push(nano), settle: (_hold, cost) => void settled.push(cost) },
    hold: 7,
    amount,
    estimate,
    surplus,
    seen: { note: (bill) => void bills.push(bill) },
    statedTokens: 100,
    place: () => ({ line: 0, person: undefined, model: 'm', provider: 'a' }),
    openHolds: holds,
    costOf,
    promptTokens: 300,
    bytesPerToken: 4,
  })
  return { hold, raised, settled, holds, bills }
}

const usage = { promptTokens: 500, completionTokens: 20, totalTokens: 520 }

function text(tokens: number) {
  return textPart(head, 'abcd'.repeat(tokens))
}

describe('the hold of an attempt', () => {
  test('ends with the cost of what the provider counted, once', () => {
    const { hold, settled } = subject()
    expect(hold.end(usage, true)).toEqual({ nanoUsd: 700_000, isEstimated: false })
    hold.end(undefined, false)
    hold.fail(true)
    expect(settled).toEqual([700_000])
  })

  test.each(['ended, then recorded', 'recorded, then ended'])('is stored until it has %s', (order) => {
    const { hold, holds } = subject()
    expect(holds.sums()).toMatchObject([{ attempts: 1, nanoUsd: 2_000_000 }])
    const acts = [() => hold.end(usage, true), () => hold.recorded()]
    const [first, second] = order.startsWith('ended') ? acts : acts.toReversed()
    first?.()
    expect(holds.count).toBe(1)
    second?.()
    expect(holds.count).toBe(0)
  })

  test('of an attempt that cost nothing is not stored any more, and one that grew is with more', () => {
    const { hold, holds } = subject()
    hold.fail(false)
    expect(holds.sums()).toEqual([])
    const grown = subject()
    grown.hold.count([text(200)])
    expect(grown.holds.sums()?.[0]?.nanoUsd).toBe(Math.max(...grown.raised))
  })

  test('ends with 0 for an attempt that never arrived, with the estimate for one that may have', () => {
    expect(subject().hold.fail(false)).toEqual({ nanoUsd: 0, isEstimated: false })
    expect(subject().hold.fail(true)).toEqual({ nanoUsd: 2_000_000, isEstimated: true })
  })

  test.each([
    ['a prompt of 0', { ...usage, promptTokens: 0 }, 300_000 + 200_000],
    ['an answer of 0 with text', { ...usage, completionTokens: 0 }, 500_000 + 100_000],
    ['zeros', { promptTokens: 0, completionTokens: 0, totalTokens: 0 }, 300_000 + 100_000],
    ['fractions', { promptTokens: 0.5, completionTokens: 0.25, totalTokens: 0.75 }, 300_000 + 100_000],
  ])('estimates %s', (_, counts, nanoUsd) => {
    expect(subject().hold.end(counts, true, { wholeBytes: 40 })).toEqual({ nanoUsd, isEstimated: true })
    const { hold } = subject()
    hold.count([text(10)])
    expect(hold.end(counts, true)).toEqual({ nanoUsd, isEstimated: true })
  })

  test('takes an answer of 0 for 0 if it has no content', () => {
    const counts = { promptTokens: 500, completionTokens: 0, totalTokens: 500 }
    expect(subject().hold.end(counts, true, { wholeBytes: 0 })).toEqual({ nanoUsd: 500_000, isEstimated: false })
  })
})

describe('the bill of an attempt', () => {
  test.each([
    ['as stated', 20, 700_000, 1_200_000],
    ['beyond what was stated', 300, 3_500_000, 2_000_000],
  ])('is compared with the estimated prompt and an answer %s', (_name, completionTokens, billed, expected) => {
    const { hold, bills } = subject()
    hold.end({ ...usage, completionTokens }, true)
    expect(bills).toEqual([{ billed, expected }])
  })

  test.each([
    ['has no counts', undefined, 340_000, 1_040_000],
    ['has a count of its prompt alone', { ...usage, promptTokens: 90_000, completionTokens: 0 }, 90_040_000, 1_040_000],
  ])('has estimates where a whole answer %s', (_name, counts, billed, expected) => {
    const { hold, bills } = subject()
    hold.count([text(4)])
    hold.end(counts, true)
    expect(bills).toEqual([{ billed, expected }])
  })

  test('is not known of an answer that was cut', () => {
    const { hold, bills } = subject()
    hold.end(undefined, false)
    expect(bills).toEqual([])
  })

  test('has the usual surplus of the model where its prompt was not counted', () => {
    expect(subject(2_000_000, 50_000).hold.fail(true).nanoUsd).toBe(2_050_000)
    expect(subject(2_000_000, 50_000).hold.fail(false).nanoUsd).toBe(0)
    expect(subject(2_000_000, 50_000).hold.end(undefined, false).nanoUsd).toBe(350_000)
    expect(subject(2_000_000, 50_000).hold.end({ ...usage, completionTokens: 0 }, false).nanoUsd).toBe(500_000)
    expect(subject(2_000_000, 50_000).hold.end(undefined, true).nanoUsd).toBe(300_000)
  })

  test('is stored, and raised, with the usual surplus of the model', () => {
    const { hold, holds, raised } = subject(2_000_000, 50_000)
    expect(holds.sums()).toMatchObject([{ nanoUsd: 2_050_000 }])
    hold.count([text(104)])
    expect(raised).toEqual([1_000_000 + 130 * 10_000 + 50_000])
  })
})

describe('complaint: streams cost nothing', () => {
  test('is not so: one that was cut costs its prompt and the text so far, as an estimate', () => {
    const { hold } = subject()
    hold.count([text(30), text(10)])
    expect(hold.end(undefined, false)).toEqual({ nanoUsd: 300_000 + 400_000, isEstimated: true })
  })

  test('is not so: one whose provider counts nothing costs its prompt and its text', () => {
    const { hold } = subject()
    hold.count([text(40)])
    expect(hold.end(undefined, true)).toEqual({ nanoUsd: 700_000, isEstimated: true })
  })

  test('is not so: the counts of the prompt stand, if the client leaves before the last ones', () => {
    const { hold } = subject()
    hold.count([text(40)])
    expect(hold.end({ ...usage, completionTokens: 1 }, false)).toEqual({ nanoUsd: 900_000, isEstimated: true })
  })

  test('is not so: the counts behind the finish are final, if the stream is cut after them', () => {
    const { hold } = subject()
    hold.count([text(40), emptyPart({ finishReason: 'stop' })])
    expect(hold.end(usage, false)).toEqual({ nanoUsd: 700_000, isEstimated: false })
  })

  test('raises the hold of one that outgrows it, by a quarter at a time', () => {
    const { hold, raised } = subject()
    hold.count([text(100)])
    expect(raised).toEqual([])
    hold.count([text(4)])
    expect(raised).toEqual([1_000_000 + 130 * 10_000])
    for (let token = 0; token < 26; token++) hold.count([text(1)])
    expect(raised).toHaveLength(1)
    hold.count([text(1)])
    expect(raised).toHaveLength(2)
  })

  test('raises a short hold as soon as the text is worth more', () => {
    const { hold, raised } = subject(1_500_000)
    hold.count([text(50)])
    expect(raised).toEqual([])
    hold.count([text(2)])
    expect(raised).toEqual([1_000_000 + 65 * 10_000])
  })
})
