import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import { targetWith } from '../../profiles/testing.ts'
import { objectsOf, parseJsonBytes } from '../exact-json.ts'
import { geminiOfCallers } from './format.ts'
import { sealThoughts } from './sealed-thoughts.ts'

const path = '/v1beta/models/m:generateContent'
const sealed = sealThoughts([{ text: 'Hm.', opaque: { maker: 'sealed', data: 'svc1:x:tEqQB' } }])
const placeholder = 'skip_thought_signature_validator'
const target = targetWith({ streamUsage: true })

function checked(parts: readonly JsonObject[]) {
  const body = {
    contents: [
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'model', parts },
    ],
    labels: { a: 'b' },
  }
  return geminiOfCallers.check(encode(JSON.stringify(body)), { path, headers: new Headers(), parameter: () => null })
}

function written(ask: ReturnType<typeof checked>, model = 'gemini-3-pro'): readonly JsonObject[] {
  const bytes = Buffer.concat([...geminiOfCallers.passThrough.write(ask, model, target)])
  const { contents, labels } = Object(parseJsonBytes(bytes))
  expect(labels).toEqual({ a: 'b' })
  return objectsOf(objectsOf(contents)[1]?.['parts'])
}

const call = (rest: JsonObject = {}) => ({ functionCall: { name: 'f', args: {} }, ...rest })

describe('a request to Gemini from its own callers', () => {
  test.each(['maxOutputTokens', 'max_output_tokens'])('has no %s beside the one of an override', (name) => {
    const body = `{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"${name}":99,"topK":3}}`
    const ask = geminiOfCallers.check(encode(body), { path, headers: new Headers(), parameter: () => null })
    const overrides = { generationConfig: { maxOutputTokens: 9 } }
    const bytes = Buffer.concat([...geminiOfCallers.passThrough.write(ask, 'm', { ...target, overrides })])
    expect(Object(parseJsonBytes(bytes)).generationConfig).toEqual({ topK: 3, maxOutputTokens: 9 })
  })

  test('has the signatures of Google, and none of this service', () => {
    const own = [call({ thoughtSignature: 'CqQB' }), { text: 'a', thoughtSignature: 'CqQC' }]
    const ask = checked(own)
    expect(ask.hasReasoning).toBe('own')
    expect(geminiOfCallers.passThrough.write(ask, 'm', target)).toEqual([ask.body])
    for (const signature of [sealed, 'svc1:x:tEqQB']) {
      const foreign = checked([
        call({ thoughtSignature: signature }),
        call({ thought_signature: signature }),
        { text: 'a', thoughtSignature: signature },
        ...own,
      ])
      expect(foreign.hasReasoning).toBe('foreign')
      expect(written(foreign)).toEqual([
        call({ thoughtSignature: placeholder }),
        call({ thought_signature: placeholder }),
        { text: 'a', thoughtSignature: null },
        ...own,
      ])
      expect(written(foreign, 'gemini-2.5-pro')[0]).toEqual(call({ thoughtSignature: null }))
    }
  })

  test('without reasoning has placeholders, also where a call had no signature', () => {
    const bare = geminiOfCallers.withoutReasoning?.(
      checked([
        { text: 'Hm.', thought: true, thoughtSignature: 'CqQB' },
        call(),
        call(),
        { text: 'a' },
        call({ thoughtSignature: null }),
      ]),
    )
    if (bare === undefined) throw new Error('nothing was changed')
    expect(written(bare)).toEqual([call({ thoughtSignature: placeholder }), call(), { text: 'a' }, call()])
    expect(geminiOfCallers.withoutReasoning?.(bare)).toBeUndefined()
    expect(geminiOfCallers.withoutReasoning?.(checked([{ text: 'a' }]))).toBeUndefined()
  })
})
