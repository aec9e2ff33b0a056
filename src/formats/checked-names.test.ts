import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CheckedNames, SeenNames } from './checked-names.ts'
import { WireError } from './error.ts'
import { formats } from './format-list.ts'

const user = '[{"role":"user","content":"hi"}]'
const contents = '"contents":[{"parts":[{"text":"hi"}]}]'

const ofResponses = [
  'model',
  'input',
  'max_output_tokens',
  'stream',
  'store',
  'background',
  'previous_response_id',
  'conversation',
  'prompt',
  'service_tier',
  'tools',
  'instructions',
] as const

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
      'store',
      'user',
    ],
  ],
  responses: ['"model":"m","input":"hi"', ofResponses],
  input_tokens: ['"model":"m","input":"hi"', ofResponses],
  compact: ['"model":"m","input":"hi"', ofResponses],
  messages: [
    `"model":"m","max_tokens":9,"messages":${user}`,
    ['model', 'max_tokens', 'stream', 'messages', 'system', 'tools', 'thinking', 'service_tier'],
  ],
  count_tokens: [`"model":"m","messages":${user}`, ['model', 'messages', 'tools']],
  gemini: [
    contents,
    [
      ...['contents', 'generationConfig', 'generation_config', 'tools', 'toolConfig', 'systemInstruction'],
      ...['safetySettings', 'cachedContent', 'serviceTier', 'model'],
    ],
  ],
  gemini_count_tokens: [contents, ['contents', 'generateContentRequest']],
  gemini_embed: ['"content":{"parts":[{"text":"hi"}]}', ['content', 'outputDimensionality']],
  gemini_batch_embed: ['"requests":[{"content":{"parts":[{"text":"hi"}]}}]', ['requests']],
  embeddings: ['"model":"m","input":"hi"', ['model', 'input', 'encoding_format', 'dimensions', 'user', 'service_tier']],
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
  gemini_batch_embed: '/v1beta/models/m:batchEmbedContents',
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

function refusal(format: string, body: string, type = 'application/json'): WireError | undefined {
  const headers = new Headers({ 'content-type': type })
  const known = Object.values(formats).find(({ name }) => name === format)
  if (known === undefined) throw new Error(`no format ${format}`)
  const path = Object.entries(paths).find(([name]) => name === format)?.[1] ?? known.path
  try {
    known.check(new TextEncoder().encode(body), { path, headers, parameter: () => null })
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

  const part = '"content":{"parts":[{"text":"hi"}]}'
  const inner: readonly (readonly [format: string, name: string, place: (members: string) => string, own: string])[] = [
    ['chat', 'include_usage', (members) => `{"model":"m","messages":${user},"stream_options":{${members}}}`, 'true'],
    ['responses', 'effort', (members) => `{"model":"m","input":"hi","reasoning":{${members}}}`, '"low"'],
    [
      'messages',
      'budget_tokens',
      (members) => `{"model":"m","max_tokens":9,"messages":${user},"thinking":{"type":"enabled",${members}}}`,
      '2048',
    ],
    [
      'messages',
      'effort',
      (members) => `{"model":"m","max_tokens":9,"messages":${user},"output_config":{${members}}}`,
      '"low"',
    ],
    ['gemini', 'thinkingBudget', (members) => `{${contents},"generationConfig":{"thinkingConfig":{${members}}}}`, '9'],
    ['gemini_count_tokens', 'model', (members) => `{"generateContentRequest":{${contents},${members}}}`, '"models/m"'],
    ['gemini_batch_embed', 'model', (members) => `{"requests":[{${part},${members}}]}`, '"models/m"'],
  ]

  test.each(inner)('%s: inside of a member, %s has one spelling and stands once', (format, name, place, own) => {
    const member = `"${name}":${own}`
    expect(refusal(format, place(member))).toBeUndefined()
    expect(refusal(format, place(`${member},"other":1,"Other":2,"other":3`))).toBeUndefined()
    for (const other of [...spellings(name), name])
      for (const members of [`${member},"${other}":${own}`, `"${other}":${own},${member}`])
        expect([members, refusal(format, place(members))?.status]).toEqual([members, 400])
  })

  test('streamed, generateContent is read as whole', () => {
    const path = '/v1beta/models/m:streamGenerateContent'
    const envelope = { path, headers: new Headers(), parameter: () => 'sse' }
    const check = (members: string) =>
      formats.gemini.check(new TextEncoder().encode(`{${contents},${members}}`), envelope)
    expect(() => check('"Generation_Config":{}')).toThrow(WireError)
    expect(() => check('"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9}')).toThrow(WireError)
    expect(() => check('"generationConfig":{"maxOutputTokens":1}')).not.toThrow()
  })

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
      expect(() => new SeenNames(checked).add(-1, name)).not.toThrow()
  })

  test('refuses exactly the names that fold to a checked one', () => {
    const checked = new CheckedNames(['model', 'max_tokens'])
    fc.assert(
      fc.property(fc.mixedCase(fc.constantFrom('model', 'max_tokens', 'mode', 'tokens')), (name) => {
        const isOther = ['model', 'max_tokens'].includes(name.toLowerCase()) && name !== name.toLowerCase()
        let isRefused = false
        try {
          new SeenNames(checked).add(checked.names.indexOf(name), name)
        } catch {
          isRefused = true
        }
        return isRefused === isOther
      }),
    )
  })
})

describe('a form has one reading', () => {
  const field = (name: string, file = '') => `--b\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\nx\r\n`
  const upload = (name: string) => field(name, '; filename="a.wav"')
  const sent = (format: string, parts: string) =>
    refusal(format, `${parts}--b--\r\n`, 'multipart/form-data; boundary=b')
  const forms = {
    transcriptions: [field('model') + upload('file'), ['model', 'file', 'stream', 'response_format', 'n']],
    translations: [field('model') + upload('file'), ['model', 'file', 'response_format', 'n']],
    image_edits: [field('model') + field('prompt') + upload('image[]'), ['model', 'prompt', 'stream', 'n']],
    image_variations: [field('model') + upload('image'), ['model', 'image', 'n']],
  } as const

  test.each(Object.entries(forms))('%s: with each checked name once, in its own spelling', (format, [parts, names]) => {
    expect(sent(format, parts)).toBeUndefined()
    const others = names.flatMap((name: string) => [
      ...[name.toUpperCase(), `${name.charAt(0).toUpperCase()}${name.slice(1)}`, `${name}[]`, `${name}[0]`, `${name} `],
      ...[` ${name}`, `'${name}'`, `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`, `${name}.x`],
      ...(name.includes('s') ? [name.replace('s', '\u017f')] : []),
    ])
    const passed = others.filter((name) => sent(format, parts + field(name))?.status !== 400)
    expect(passed).toEqual([])
    for (const name of names) expect(sent(format, parts + field(name) + field(name))?.status).toBe(400)
  })

  test('with several pictures, and other parts of any name', () => {
    const others = field('Other') + field('other') + field('other') + field('timestamp_granularities[]')
    for (const [format, [parts]] of Object.entries(forms)) expect(sent(format, parts + others)).toBeUndefined()
    const edit = field('model') + field('prompt')
    for (const name of ['image[]', 'image'])
      expect(sent('image_edits', edit + upload(name) + upload(name))).toBeUndefined()
    expect(sent('image_edits', edit + upload('image[]') + upload('Image'))?.status).toBe(400)
  })
})
