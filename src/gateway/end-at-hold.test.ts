import { describe, expect, test } from 'bun:test'
import type { AnswerEvent } from '../formats/answer.ts'
import { objectOf, objectsOf, parseJsonBytes } from '../formats/exact-json.ts'
import { formats } from '../formats/format-list.ts'
import { encodeSample, envelopesOf } from '../formats/format-testing.ts'
import type { Part } from '../formats/part.ts'
import { formatSamples } from '../formats/sample-testing.ts'
import type { AttemptHold } from '../limits/budgets/attempt-hold.ts'
import { endedAtHold } from './end-at-hold.ts'
import { readAll, writtenStream } from './testing.ts'

const usage = { promptTokens: 7, completionTokens: 2, totalTokens: 9, isEstimated: true } as const

/** A hold that is used up after some parts. */
function holdOf(partsMax: number): Pick<AttemptHold, 'count' | 'isUsedUp' | 'estimatedUsage'> {
  let count = 0
  return {
    get isUsedUp() {
      return count > partsMax
    },
    estimatedUsage: () => usage,
    count: (parts) => void (count += parts.length),
  }
}

const start: AnswerEvent = { kind: 'start', id: 'a', model: 'm', created: 1 }
const text = (each: string): AnswerEvent => ({ kind: 'text', choice: 0, text: each })
const endless: readonly AnswerEvent[] = Array.from({ length: 50 }, (_, index) => text(`word${index} `))
const call: readonly AnswerEvent[] = [
  { kind: 'call', choice: 0, call: 0, id: 'call_1', name: 'find', opaque: undefined },
  ...Array.from({ length: 50 }, (): AnswerEvent => ({ kind: 'arguments', choice: 0, call: 0, text: '{"a":' })),
]

const names = ['chat', 'messages', 'responses', 'gemini'] as const

describe.each(names)('a stream of %s whose hold is used up', (name) => {
  const { check, stream, talk } = formats[name]
  const samples = formatSamples[name]
  const ask = check(encodeSample(samples, samples.streamed), envelopesOf(formats[name], samples).streamed)

  async function ended(events: readonly AnswerEvent[], partsMax: number) {
    const writer = talk?.writer(ask)
    const steps = [start, ...events].flatMap((event) => {
      const parts = writer?.write([event]) ?? []
      return parts.length === 0 ? [] : [parts]
    })
    const source = writtenStream(steps, { hangs: true })
    let isNoted = false
    const reply = endedAtHold(source, holdOf(partsMax), ask, () => (isNoted = true))
    if (reply === undefined) throw new Error('it is not ended')
    const { parts } = await readAll(reply)
    return { parts, source, isNoted }
  }

  function gathered(parts: readonly Part[]): Readonly<Record<string, unknown>> {
    const gatherer = stream?.gatherer?.(ask)
    for (const part of parts) if (part.data.length > 0) gatherer?.add(part)
    return objectOf(parseJsonBytes(gatherer?.finish() ?? new Uint8Array()))
  }

  const reasonOf = (answer: Readonly<Record<string, unknown>>): unknown => {
    const [choice = {}] = [...objectsOf(answer['choices']), ...objectsOf(answer['candidates'])]
    return choice['finish_reason'] ?? choice['finishReason'] ?? answer['stop_reason'] ?? answer['status']
  }
  const expected = { chat: 'length', messages: 'max_tokens', responses: 'incomplete', gemini: 'MAX_TOKENS' }[name]

  test('ends as at its limit of tokens, with what it had so far, and the provider is cancelled', async () => {
    const { parts, source, isNoted } = await ended(endless, 12)
    const answer = gathered(parts)
    expect(reasonOf(answer)).toBe(expected)
    expect([source.isCancelled, isNoted]).toEqual([true, true])
    const said = parts.map((part) => part.text).join('')
    expect(JSON.stringify(answer)).toContain(said.trim())
    expect(endless.length).toBeGreaterThan(said.split(' ').length)
    expect(parts.filter(({ finishReason }) => finishReason !== undefined)).toHaveLength(1)
    expect(parts.findLast((part) => part.usage !== undefined)?.usage).toEqual(usage)
  })

  test('ends also inside of a call, and before any text', async () => {
    for (const partsMax of [0, 6]) {
      const { parts } = await ended(call, partsMax)
      expect(reasonOf(gathered(parts))).toBe(expected)
    }
  })

  test('is left alone once it has finished, and while there is something left', async () => {
    const finish: AnswerEvent = { kind: 'finish', choice: 0, reason: 'stop', raw: undefined }
    const writer = talk?.writer(ask)
    const all = [...(writer?.write([start, text('a'), finish]) ?? []), ...(writer?.end() ?? [])]
    for (const partsMax of [0, 99]) {
      const reply = endedAtHold(writtenStream([all]), holdOf(partsMax), ask, () => undefined)
      expect(reply && (await readAll(reply)).parts).toEqual(all)
    }
  })
})

test('streams that are only passed on are not ended', () => {
  const { check } = formats.completions
  const samples = formatSamples.completions
  const ask = check(encodeSample(samples, samples.streamed), envelopesOf(formats.completions, samples).streamed)
  expect(endedAtHold(writtenStream([]), holdOf(0), ask, () => undefined)).toBeUndefined()
})
