import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encode } from '../bytes/text.ts'
import { objectOf, parseJsonBytes } from './exact-json.ts'
import { formats } from './format-list.ts'
import { encodeSample, envelopesOf } from './format-testing.ts'
import { formatSamples } from './sample-testing.ts'

const limited = ['chat', 'messages', 'responses', 'gemini', 'completions'] as const

describe.each(limited)('a request of %s', (name) => {
  const format = formats[name]
  const samples = formatSamples[name]
  const { whole } = envelopesOf(format, samples)

  test('gets a limit in place of its own, and is else the same', () => {
    const stated = fc.constantFrom<unknown>(5, 0, -1, 1e9, '7', null, undefined)
    const names = ['max_completion_tokens', 'max_tokens', 'max_output_tokens', 'generationConfig', 'generation_config']
    fc.assert(
      fc.property(stated, stated, fc.boolean(), fc.integer({ min: 1, max: 99_999 }), (one, other, isLast, tokens) => {
        const { generationConfig, ...sample } = samples.request
        const own = Object.fromEntries(Object.entries(sample).filter(([each]) => !names.includes(each)))
        const limits =
          name === 'gemini'
            ? { generationConfig: { ...objectOf(generationConfig), maxOutputTokens: one, max_output_tokens: other } }
            : { max_completion_tokens: one, max_output_tokens: one, max_tokens: other }
        const fields = isLast ? { ...own, ...limits } : { ...limits, ...own }
        const ask = { ...format.check(encodeSample(samples, samples.request), whole), ...membersOf(fields) }
        const changed = format.limitAnswer?.(ask, tokens) ?? ask
        expect(format.demand(changed).answerTokens).toBe(tokens)
        const read = objectOf(parseJsonBytes(changed.body))
        for (const [each, value] of Object.entries(own)) expect(read[each]).toEqual(value)
        // Offsets of members that stay do not change.
        for (const { name: each, start, valueStart, end } of changed.members) {
          const text = (from: number, to: number) => new TextDecoder().decode(changed.body.subarray(from, to))
          expect(JSON.parse(text(start, end).slice(0, JSON.stringify(each).length))).toBe(each)
          expect(JSON.parse(text(valueStart, end))).toEqual(read[each])
        }
      }),
      { numRuns: 100, seed: 1 },
    )
  })
})

/** The members of a compact object. */
function membersOf(fields: object) {
  let text = '{'
  const members = Object.entries(JSON.parse(JSON.stringify(fields))).map(([name, value]) => {
    if (text !== '{') text += ','
    const start = encode(text).length
    text += `${JSON.stringify(name)}:`
    const valueStart = encode(text).length
    text += JSON.stringify(value)
    return { name, start, valueStart, end: encode(text).length }
  })
  return { body: encode(`${text}}`), members }
}
