import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CheckedNames } from './checked-names.ts'
import { WireError } from './error.ts'
import { formats } from './format-list.ts'

const user = '[{"role":"user","content":"hi"}]'
const contents = '"contents":[{"parts":[{"text":"hi"}]}]'

/** Formats of JSON: a request, and the names that are tried beside it. */
const cases = {
  chat: [
    `"model":"m","messages":${user}`,
    [
      'model',
      'messages',
      'max_tokens',
      'max_completion_tokens',
      'n',
      'stream',
      'stream_options',
      'temperature',
      'top_p',
      'seed',
      'stop',
      'service_tier',
      'tools',
      'tool_choice',
      'reasoning_effort',
    ],
  ],
  responses: [
    '"model":"m","input":"hi"',
    [
      'model',
      'input',
      'max_output_tokens',
      'stream',
      'store',
      'background',
      'previous_response_id',
      'conversation',
      'service_tier',
      'tools',
      'instructions',
    ],
  ],
  messages: [
    `"model":"m","max_tokens":9,"messages":${user}`,
    ['model', 'max_tokens', 'stream', 'messages', 'system', 'tools', 'thinking', 'service_tier'],
  ],
  count_tokens: [`"model":"m","messages":${user}`, ['model', 'messages', 'tools']],
  gemini: [
    contents,
    ['contents', 'generationConfig', 'generation_config', 'tools', 'toolConfig', 'systemInstruction', 'safetySettings'],
  ],
  gemini_count_tokens: [contents, ['contents', 'generateContentRequest']],
  gemini_embed: ['"content":{"parts":[{"text":"hi"}]}', ['content', 'outputDimensionality']],
  embeddings: ['"model":"m","input":"hi"', ['model', 'input', 'encoding_format', 'dimensions', 'user']],
  completions: ['"model":"m","prompt":"hi"', ['model', 'prompt', 'max_tokens', 'n', 'best_of', 'stream']],
  moderations: ['"model":"m","input":"hi"', ['model', 'input']],
  rerank: ['"model":"m","query":"q","documents":["a"]', ['model', 'query', 'documents']],
  image_generations: ['"model":"m","prompt":"x"', ['model', 'prompt', 'n', 'stream']],
  speech: ['"model":"m","input":"x","voice":"a"', ['model', 'input']],
} as const

const paths: Readonly<Partial<Record<keyof typeof cases, string>>> = {
  gemini: '/v1beta/models/m:generateContent',
  gemini_count_tokens: '/v1beta/models/m:countTokens',
  gemini_embed: '/v1beta/models/m:embedContent',
}

/** Other spellings of a name, as they stand in JSON. */
function spellings(name: string): readonly string[] {
  const escaped = (text: string, at: number): string =>
    `${text.slice(0, at)}\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}${text.slice(at + 1)}`
  const capital = name.charAt(0).toUpperCase() + name.slice(1)
  return [
    capital,
    name.toUpperCase() === name ? name.toLowerCase() : name.toUpperCase(),
    escaped(capital, 0),
    escaped(capital, name.length - 1),
    ...(name.includes('s') ? [name.replace('s', '\u017f'), name.replace('s', '\\u017f'), name.replace('s', 'S')] : []),
    ...(name.includes('k') ? [name.replace('k', '\u212a'), name.replace('k', '\\u212A')] : []),
  ]
}

const tried = Object.entries(cases).flatMap(([format, [request, names]]) =>
  [...names].flatMap((name: string) =>
    [
      ...spellings(name).map((spelling) => [spelling, `"${spelling}":1`] as const),
      [name, `"${name}":null,"${name}":null`] as const,
    ].map(([shown, member]) => ({ format, request, name, shown, member })),
  ),
)

function refusal(format: string, body: string): WireError | undefined {
  const known = Object.values(formats).find(({ name }) => name === format)
  if (known === undefined) throw new Error(`no format ${format}`)
  const path = Object.entries(paths).find(([name]) => name === format)?.[1] ?? known.path
  try {
    known.check(new TextEncoder().encode(body), { path, headers: new Headers(), parameter: () => null })
    return undefined
  } catch (error) {
    if (error instanceof WireError) return error
    throw error
  }
}

describe('one request has one reading', () => {
  test(`in ${tried.length} of ${tried.length} other spellings and repeats`, () => {
    expect(tried.length).toBeGreaterThan(400)
    const passed = tried.flatMap(({ format, request, shown, member }) =>
      [`{${request},${member}}`, `{${member},${request}}`]
        .filter((body) => refusal(format, body)?.status !== 400)
        .map(() => `${format} ${shown}`),
    )
    expect(passed).toEqual([])
  })

  test.each(Object.entries(cases))(
    '%s: members that are not checked travel on, in any case and number',
    (format, [request]) => {
      for (const members of ['"Other":1,"other":2,"other":3', '"mode":1,"modell":2,"MODE":3', '"\\u212aey":1,"key":2'])
        expect(refusal(format, `{${request},${members}}`)).toBeUndefined()
    },
  )

  test.each([
    '"maxOutputTokens":9,"maxOutputTokens":99',
    '"maxOutputTokens":9,"max_output_tokens":99',
    '"max_output_tokens":9,"maxOutputTokens":99',
    '"MaxOutputTokens":99',
    '"max_outputTokens":99',
    '"maxOutputToken\u017f":99',
    '"candidateCount":1,"candidate_count":9',
    '"CandidateCount":9',
    '"top\\u004b":9,"TopK":1',
  ])('generationConfig with %s', (members) => {
    for (const name of ['generationConfig', 'generation_config'])
      expect(refusal('gemini', `{${contents},"${name}":{${members}}}`)?.status).toBe(400)
  })

  test.each([
    '"generationConfig":{"maxOutputTokens":9},"generation_config":{}',
    '"generationConfig":{},"generationConfig":{}',
  ])('a request with %s', (members) => {
    expect(refusal('gemini', `{${contents},${members}}`)?.status).toBe(400)
  })

  test.each(['"maxOutputTokens":9,"unheard":1,"Unheard":2', '"max_output_tokens":9,"topK":3'])(
    'takes generationConfig with %s',
    (members) => {
      expect(refusal('gemini', `{${contents},"generation_config":{${members}}}`)).toBeUndefined()
    },
  )

  test('names both spellings, and the way out', () => {
    const error = refusal('chat', `{"model":"m","messages":${user},"Max_To\u212aens":5}`)
    expect(error?.message).toBe(
      "'Max_To\u212aens' is another spelling of 'max_tokens', which some programs take for it: " +
        "send 'max_tokens', once.",
    )
    expect(error?.toJSON().error.param).toBe('max_tokens')
  })

  test('by simple case folding: letters that only look alike are other names', () => {
    const checked = new CheckedNames(['model', 'max_tokens', 'stream'])
    for (const name of [
      'm\u03bfdel',
      '\uff4dodel',
      'max_to\u0137ens',
      '\u00dftream',
      'stre\u0131m',
      'model_',
      'maxtokens',
    ])
      expect(() => checked.add(name, new Set())).not.toThrow()
  })

  test('refuses exactly the names that fold to a checked one', () => {
    const checked = new CheckedNames(['model', 'max_tokens'])
    fc.assert(
      fc.property(fc.mixedCase(fc.constantFrom('model', 'max_tokens', 'mode', 'tokens')), (name) => {
        const isOther = ['model', 'max_tokens'].includes(name.toLowerCase()) && name !== name.toLowerCase()
        let isRefused = false
        try {
          checked.add(name, new Set())
        } catch {
          isRefused = true
        }
        return isRefused === isOther
      }),
    )
  })
})
