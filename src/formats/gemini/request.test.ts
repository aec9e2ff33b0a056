import { describe, expect, test } from 'bun:test'
import { processorMs } from '../../base/testing.ts'
import { encode } from '../../bytes/text.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import { WireError } from '../error.ts'
import { encodeJson } from '../exact-json.ts'
import { envelopeAt } from '../format-testing.ts'
import { geminiOfCallers } from './format.ts'

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

function check(body: Uint8Array, address = '/v1beta/models/m:generateContent') {
  return geminiOfCallers.check(body, envelopeAt(address))
}

function refusal(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    if (error instanceof WireError) return [error.code, error.param]
    throw error
  }
  throw new Error('it was admitted')
}

describe('the model of a request', () => {
  test.each([
    ['/v1beta/models/m:generateContent', 'm'],
    ['/v1/models/models/m:generateContent', 'm'],
    ['/v1beta/models/a/b:generateContent', 'a/b'],
    ['/v1beta/models/a%2Fb%3A1:generateContent', 'a/b:1'],
    ['/v1beta/models/local/llama:8b:generateContent', 'local/llama:8b'],
    ['/v1beta/models/x/models/y:generateContent', 'x/models/y'],
    ['/v1beta/models/m%C3%B6del:generateContent', 'mödel'],
  ])('is in the path: %s', (path, model) => {
    expect(check(encodeJson({ contents }), path).model).toBe(model)
  })

  test.each(['%ff', '%', 'a%0a', 'x'.repeat(257), '%ed%a0%80'])('is refused: %s', (name) => {
    const path = `/v1beta/models/${name}:generateContent`
    expect(refusal(() => check(encodeJson({ contents }), path))).toEqual(['invalid_value', 'model'])
  })
})

test('a stream is asked for by the path, as events', () => {
  const path = '/v1beta/models/m:streamGenerateContent'
  expect(check(encodeJson({ contents }), `${path}?alt=sse&key=k`).stream).toBe(true)
  for (const query of ['', '?alt=json', '?alt='])
    expect(refusal(() => check(encodeJson({ contents }), path + query))).toEqual(['invalid_value', 'alt'])
  expect(check(encodeJson({ contents, stream: true })).stream).toBe(false)
})

const refused: readonly (readonly [unknown, string, string])[] = [
  [{}, 'missing_required_parameter', 'contents'],
  [{ contents: 'Hi' }, 'invalid_type', 'contents'],
  [
    { contents: [{ parts: [{ inline_data: { mime_type: 'image/png' } }] }] },
    'missing_required_parameter',
    'contents[0].parts[0].inline_data.data',
  ],
  [
    { contents: [{ parts: [{ functionCall: { args: {} } }] }] },
    'missing_required_parameter',
    'contents[0].parts[0].functionCall.name',
  ],
  [
    { contents: [{ parts: [{ functionResponse: { name: 'f', response: 'x' } }] }] },
    'invalid_type',
    'contents[0].parts[0].functionResponse.response',
  ],
  [
    { contents, tools: [{ function_declarations: [{}] }] },
    'missing_required_parameter',
    'tools[0].function_declarations[0].name',
  ],
  [
    { contents, toolConfig: { functionCallingConfig: { mode: 'SOME' } } },
    'invalid_value',
    'toolConfig.functionCallingConfig.mode',
  ],
  [{ contents, generationConfig: { temperature: 2.1 } }, 'invalid_value', 'generationConfig.temperature'],
  [{ contents, generationConfig: { topP: -0.1 } }, 'invalid_value', 'generationConfig.topP'],
  [{ contents, generationConfig: { maxOutputTokens: 1.5 } }, 'invalid_type', 'generationConfig.maxOutputTokens'],
  [{ contents, generationConfig: { candidateCount: 0 } }, 'invalid_value', 'generationConfig.candidateCount'],
  [{ contents, generationConfig: { seed: 2 ** 31 } }, 'invalid_value', 'generationConfig.seed'],
  [
    { contents, generationConfig: { thinkingConfig: { thinkingBudget: -2 } } },
    'invalid_value',
    'generationConfig.thinkingConfig.thinkingBudget',
  ],
  [{ contents, systemInstruction: 5 }, 'invalid_type', 'systemInstruction'],
]
test.each(refused)('%j is refused', (body, code, param) => {
  expect(refusal(() => check(encode(JSON.stringify(body))))).toEqual([code, param])
})

const admitted: readonly object[] = [
  { contents: [{ parts: [] }, { role: null }, {}] },
  { contents, generationConfig: { temperature: 2, topP: 0, topK: 0, maxOutputTokens: 0, seed: -(2 ** 31) } },
  { contents, system_instruction: 'Be brief.', tools: null },
  { contents, tools: [{ google_search: {} }, { newTool: { a: 1 } }], newField: 'x' },
  { contents, generationConfig: { responseJsonSchema: true, newSetting: [] } },
]
test.each(admitted)('%j is admitted', (body) => {
  expect(check(encode(JSON.stringify(body))).model).toBe('m')
})

test('names what other providers do not get, once, in either spelling', () => {
  const { untranslated } = check(
    encodeJson({
      contents,
      safety_settings: [],
      labels: null,
      tools: [{ googleSearch: {} }, { google_search: {} }, { url_context: {} }],
      generation_config: { speech_config: {}, temperature: 1 },
    }),
  )
  expect(untranslated).toEqual([
    'safetySettings',
    'tools.googleSearch',
    'tools.urlContext',
    'generationConfig.speechConfig',
  ])
  expect(check(encodeJson({ contents })).untranslated).toBeUndefined()
})

/** A value in as many arrays. */
function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}

const many = 10_000
const hostile: readonly (readonly [string, string])[] = [
  ['512 levels', `{"contents":[{"parts":[{"functionCall":{"name":"f","args":{"a":${nested(500)}}}}]}]}`],
  ['10,000 parts', JSON.stringify({ contents: [{ parts: Array.from({ length: many }, () => ({ text: 'a' })) }] })],
  [
    '10,000 contents of the model',
    JSON.stringify({ contents: Array.from({ length: many }, () => ({ role: 'model', parts: [{ text: 'a' }] })) }),
  ],
  [
    '10,000 calls, and results in the other order',
    JSON.stringify({
      contents: [
        {
          role: 'model',
          parts: Array.from({ length: many }, (_, index) => ({ functionCall: { id: `c${index}`, name: 'f' } })),
        },
        {
          parts: Array.from({ length: many }, (_, index) => ({
            functionResponse: { id: `c${many - index}`, name: 'f', response: {} },
          })),
        },
      ],
    }),
  ],
  ['a text of 8 MB', JSON.stringify({ contents: [{ parts: [{ text: 'x'.repeat(8_000_000) }] }] })],
  [
    'a signature of 8 MB',
    JSON.stringify({
      contents: [
        {
          role: 'model',
          parts: [{ functionCall: { name: 'f' }, thoughtSignature: `WyJzdmMx${'A'.repeat(8_000_000)}` }],
        },
      ],
    }),
  ],
  [
    '10,000 functions',
    JSON.stringify({
      contents,
      tools: [{ functionDeclarations: Array.from({ length: many }, (_, index) => ({ name: `f${index}` })) }],
      toolConfig: {
        functionCallingConfig: {
          mode: 'ANY',
          allowedFunctionNames: Array.from({ length: many }, (_, index) => `f${index}`),
        },
      },
    }),
  ],
]
test.each(hostile)('%s are read within a second', (_name, body) => {
  const read = (): void => {
    try {
      geminiOfCallers.talk.read(check(encode(body)), [])
    } catch (error) {
      if (!(error instanceof WireError)) expect(error).toBeInstanceOf(UpstreamFailure)
    }
  }
  expect(processorMs(read)).toBeLessThan(1_000)
})
