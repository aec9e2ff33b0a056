import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorMs } from '../../base/testing.ts'
import { ConfigError, type Config, type ConfigFault } from '../config.ts'
import { configBytesMax, parseConfig } from './parse-config.ts'

function parse(text: string, environment: Record<string, string> = {}): Config {
  return parseConfig(text, { file: 'providers.json', environment })
}

function faultsOf(text: string, environment: Record<string, string> = {}): readonly ConfigFault[] {
  try {
    parse(text, environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
  return []
}

/** One provider's first fault, for a member written as in a file. */
function faultOf(member: string): ConfigFault | undefined {
  return faultsOf(`{"providers":[{"id":"a","base_url":"https://a.test/v1",${member}}]}`)[0]
}

describe('parseConfig', () => {
  test('accepts comments, trailing commas and a byte order mark', () => {
    const config = parse('\uFEFF{ // mine\n "providers": [ { "id": "groq", /* fast */ "api_key": "$K", }, ], }', {
      K: 'key-for-tests',
    })
    expect(config.providers.map(({ id, baseUrl, apiKey }) => ({ id, baseUrl, apiKey }))).toEqual([
      { id: 'groq', baseUrl: 'https://api.groq.com/openai/v1', apiKey: 'key-for-tests' },
    ])
  })

  test('has the documented defaults', () => {
    const config = parse('{"providers":[{"id":"a","base_url":"https://a.test/v1/"}]}')
    expect(config).toEqual({
      providers: [
        {
          id: 'a',
          enabled: true,
          protocol: 'openai',
          baseUrl: 'https://a.test/v1',
          headers: {},
          models: '*',
          timeouts: { connectMs: 5_000, firstTokenMs: 30_000, idleMs: 60_000, attemptMs: 120_000 },
          retries: 0,
          overrides: {},
          quirks: { formats: [], reportsCost: false, isFree: false },
          profile: {},
        },
      ],
      limits: { bodyBytes: 33_554_432, deadlineMs: 600_000 },
      failover: { onContentPolicy: 'stop', onCut: 'resume', hold: 'calls', retryBilled: false },
      aliases: {},
      source: { kind: 'file', path: 'providers.json' },
    })
  })

  test('reads every field', () => {
    const config = parse(
      `{"$schema":"x","providers":[{"id":"mine","brand":"groq","enabled":false,"protocol":"anthropic",
        "base_url":"http://127.0.0.1:9","api_key":"key-for-tests",
        "headers":{"X-Team":"$TEAM"},
        "models":["a",{"name":"b","upstream":"c","aliases":["d",{"name":"e","embeddings":true}],
        "context":8,"max_output":4,"input":["text","image"],"price":{"input":1,"output":2.5,"cached_input":0}}],
        "timeouts":{"connect_ms":1,"first_token_ms":2,"idle_ms":3,"attempt_ms":4},"retries":5,
        "max_concurrent":7,"overrides":{"temperature":0.5,"stop":["x",{"y":null}]}}],
        "limits":{"body_bytes":2048,"deadline_ms":9,"max_concurrent":3,"body_budget_bytes":4096},
        "failover":{"on_content_policy":"next","on_cut":"error","hold":"none","retry_billed":true},
        "aliases":{"quick":"a"}}`,
      { TEAM: 'blue' },
    )
    expect(config.providers[0]).toMatchObject({
      id: 'mine',
      brand: 'groq',
      enabled: false,
      protocol: 'anthropic',
      baseUrl: 'http://127.0.0.1:9',
      apiKey: 'key-for-tests',
      headers: { 'x-team': 'blue' },
      models: [
        { name: 'a', upstream: 'a', aliases: [] },
        {
          name: 'b',
          upstream: 'c',
          aliases: ['d', 'e'],
          embeddingAliases: ['e'],
          context: 8,
          maxOutput: 4,
          input: ['text', 'image'],
          price: { input: 1, output: 2.5, cachedInput: 0 },
        },
      ],
      timeouts: { connectMs: 1, firstTokenMs: 2, idleMs: 3, attemptMs: 4 },
      retries: 5,
      maxConcurrent: 7,
      overrides: { temperature: 0.5, stop: ['x', { y: null }] },
    })
    expect(config).toMatchObject({
      limits: { bodyBytes: 2048, deadlineMs: 9, maxConcurrent: 3, bodyBudgetBytes: 4096 },
      failover: { onContentPolicy: 'next', onCut: 'error', hold: 'none', retryBilled: true },
      aliases: { quick: 'a' },
    })
  })

  test('reports all faults of a file at once, each with its line and field', () => {
    const faults = faultsOf(`{
  "providers": [
    { "id": "a", "base_url": "ftp://a.test" },
    { "id": "b", "base_urls": "https://b.test" },
    { "id": "c", "base_url": "https://c.test", "retries": 6 },
    { "id": "groq", "timeouts": { "idle_ms": "60s" } }
  ],
  "failover": { "on_cut": "retry" }
}`)
    expect(faults.map(({ line, field }) => [line, field])).toEqual([
      [3, 'providers[0].base_url'],
      [4, 'providers[1].base_url'],
      [4, 'providers[1].base_urls'],
      [5, 'providers[2].retries'],
      [6, 'providers[3].timeouts.idle_ms'],
      [8, 'failover.on_cut'],
    ])
  })

  test('reports one syntax error for each line', () => {
    expect(faultsOf("{'a': b,\n'c': d}").map(({ line }) => line)).toEqual([1, 2])
  })

  test.each([
    ['{', ''],
    ['{"aliases": {"a": "b"},', ''],
    ['{"aliases": {', 'aliases'],
    ['{"providers": [{', 'providers[0]'],
    ['{"limits": {"": x}}', 'limits[""]'],
  ])('locates the end of the truncated text %s', (text, field) => {
    expect(faultsOf(text)[0]).toMatchObject({ line: 1, field })
  })

  test.each(['\n', '\r\n', '\r'])('counts lines that end with %j', (end) => {
    expect(faultsOf(['{', '"providers": [],', '  "limits": 5', '}'].join(end))[0]).toMatchObject({
      line: 3,
      column: 13,
    })
  })

  test('reads on after a missing comma', () => {
    const faults = faultsOf('{\n"providers": []\n"limits": {"deadline_ms": 0}\n}')
    expect(faults.map(({ line, field }) => [line, field])).toEqual([
      [3, 'limits'],
      [3, 'limits.deadline_ms'],
    ])
  })

  test.each([
    ['"retries":-1', 'providers[0].retries', '-1'],
    ['"retries":1.5', 'providers[0].retries', '1.5'],
    ['"retries":"2"', 'providers[0].retries', '"2"'],
    ['"retries":null', 'providers[0].retries', 'null'],
    ['"max_concurrent":0', 'providers[0].max_concurrent', '0'],
    ['"enabled":"yes"', 'providers[0].enabled', '"yes"'],
    ['"protocol":"openapi"', 'providers[0].protocol', '"openapi"'],
    ['"brand":"unknown-brand"', 'providers[0].brand', '"unknown-brand"'],
    ['"models":[]', 'providers[0].models', 'an empty array'],
    ['"models":"a"', 'providers[0].models', '"a"'],
    ['"models":[""]', 'providers[0].models[0]', '""'],
    ['"models":["*"]', 'providers[0].models[0]', '"*"'],
    ['"models":[5]', 'providers[0].models[0]', '5'],
    ['"models":[{"upstream":"x"}]', 'providers[0].models[0].name', 'nothing'],
    ['"models":["m",{"name":"n","aliases":["m"]}]', 'providers[0].models[1].aliases[0]', '"m"'],
    [
      '"models":[{"name":"n","aliases":[{"name":"o","embeddings":1}]}]',
      'providers[0].models[0].aliases[0].embeddings',
      '1',
    ],
    ['"models":[{"name":"n","aliases":"m"}]', 'providers[0].models[0].aliases', '"m"'],
    ['"models":[{"name":"n","input":["smell"]}]', 'providers[0].models[0].input[0]', '"smell"'],
    ['"models":[{"name":"n","price":{"input":1}}]', 'providers[0].models[0].price.output', 'nothing'],
    ['"models":[{"name":"n","price":{"input":-1,"output":0}}]', 'providers[0].models[0].price.input', '-1'],
    ['"models":[{"name":"n","context":0}]', 'providers[0].models[0].context', '0'],
    ['"headers":{"Host":"x"}', 'providers[0].headers.Host', 'the header "host"'],
    ['"headers":{"transfer-encoding":"x"}', 'providers[0].headers.transfer-encoding', 'the header "transfer-encoding"'],
    ['"headers":{"a b":"x"}', 'providers[0].headers["a b"]', 'an invalid header name'],
    ['"headers":{"X-A":"1","x-a":"2"}', 'providers[0].headers.x-a', 'a duplicate header'],
    ['"headers":{"__proto__":"1"}', 'providers[0].headers.__proto__', 'the name "__proto__"'],
    ['"overrides":{"model":"x"}', 'providers[0].overrides.model', 'a field that cannot be overridden'],
    ['"overrides":{"messages":[]}', 'providers[0].overrides.messages', 'a field that cannot be overridden'],
    ['"overrides":{"stream":true}', 'providers[0].overrides.stream', 'a field that cannot be overridden'],
    [
      '"protocol":"anthropic","overrides":{"a":1,"system":"x"}',
      'providers[0].overrides.system',
      'a system text that would replace that of callers',
    ],
    [
      '"brand":"anthropic","overrides":{"system":"x"}',
      'providers[0].overrides.system',
      'a system text that would replace that of callers',
    ],
    ['"protocol":"gemini","formats":["responses"]', 'providers[0].formats', 'formats with the protocol "gemini"'],
    ['"overrides":{"a":{"__proto__":1}}', 'providers[0].overrides.a.__proto__', 'the name "__proto__"'],
    [
      '"overrides":{"seed":12345678901234567890}',
      'providers[0].overrides.seed',
      'a number that cannot be sent exactly',
    ],
    ['"overrides":{"x":[1e999]}', 'providers[0].overrides.x[0]', 'a number that cannot be sent exactly'],
    ['"timeouts":{"connect_ms":86400001}', 'providers[0].timeouts.connect_ms', '86400001'],
    ['"timeouts":5', 'providers[0].timeouts', '5'],
    ['"id":"b"', 'providers[0].id', 'a duplicate field'],
  ])('refuses %s', (member, field, found) => {
    expect(faultOf(member)).toMatchObject({ field, found, line: 1 })
  })

  test.each([
    'localhost:11434/v1',
    'ftp://a.test',
    'https://',
    'https://a.test/v1?key=1',
    'https://a.test/v1#x',
    'https://me:pass@a.test/v1',
    'https://a.test/v1/chat/completions',
    'https://a.test/chat/completions/',
    'https://a.test:99999/v1',
    ' https://a.test',
    'https://a b.test',
    '${BASE}',
    '',
  ])('refuses the address %p', (address) => {
    const [fault] = faultsOf(JSON.stringify({ providers: [{ id: 'a', base_url: address }] }))
    expect(fault?.field).toBe('providers[0].base_url')
  })

  test.each(['Groq', '-a', '', 'a b', 'a/b', 'ü', 'x'.repeat(65)])('refuses the id %p', (id) => {
    expect(faultsOf(JSON.stringify({ providers: [{ id, base_url: 'https://a.test' }] }))[0]?.field).toBe(
      'providers[0].id',
    )
  })

  test('refuses a duplicate id, with the line of the first', () => {
    const [fault] = faultsOf('{"providers":[\n{"id":"groq"},\n{"id":"groq"}]}')
    expect(fault).toMatchObject({ line: 3, field: 'providers[1].id', allowed: expect.stringContaining('line 2') })
  })

  test.each([
    ['{"providers":[{"id":"a","baseUrl":"https://a.test"}]}', 'did you mean "base_url"?'],
    ['{"providers":[{"id":"a","base_url":"https://a.test","apiKey":"x"}]}', 'did you mean "api_key"?'],
    ['{"providers":[{"id":"a","url":"https://a.test"}]}', 'did you mean "base_url"?'],
    ['{"provider":[]}', 'did you mean "providers"?'],
    ['{"providers":[{"id":"gorq"}]}', 'did you mean "brand": "groq"?'],
    ['{"providers":[{"id":"x","brand":"opanai"}]}', 'did you mean "openai"?'],
    ['{"providers":[],"failover":{"on_cut":"resumed"}}', 'did you mean "resume"?'],
  ])('suggests the nearest word for %s', (text, question) => {
    expect(faultsOf(text).some(({ allowed }) => allowed.includes(question))).toBe(true)
  })

  test.each([
    ['no value', ''],
    ['no value', '   // nothing'],
    ['an array', '[]'],
    ['"providers"', '"providers"'],
    ['nothing', '{}'],
    ['an object', '{"providers":{}}'],
    ['"groq"', '{"providers":["groq"]}'],
    ['an unknown field', '{"providers":[],"x":1}'],
    ['the name "__proto__"', '{"providers":[],"__proto__":{}}'],
    ['the name "__proto__"', '{"providers":[],"aliases":{"__proto__":"x"}}'],
    ['"a"', '{"providers":[],"aliases":{"a":"a"}}'],
    ['"b"', '{"providers":[],"aliases":{"a":"b","b":"c","c":"a"}}'],
    ['""', '{"providers":[],"aliases":{"a":""}}'],
    ['nothing', '{"providers":[],"titles":{}}'],
    ['"cheap"', '{"providers":[],"titles":"cheap"}'],
    ['""', '{"providers":[],"titles":{"model":""}}'],
    ['an unknown field', '{"providers":[],"titles":{"model":"m","prompt":"x"}}'],
    ['an array', '{"providers":[],"aliases":[]}'],
    ['the end of the file', '{"providers":[]'],
    ['an unquoted word', "{'providers':[]}"],
    ['an unquoted word', '{"providers":[]} x'],
    ['more than 64 levels of objects and arrays', '['.repeat(200_000)],
    ['more than 64 levels of objects and arrays', '[},'.repeat(200_000)],
    ['more than 64 levels of objects and arrays', '{"x":1 ],"a":'.repeat(75_000)],
    ['more than 64 levels of objects and arrays', '"\\\n" ' + '['.repeat(200_000)],
  ])('refuses a file in which there is %s', (found, text) => {
    expect(faultsOf(text)[0]?.found).toBe(found)
  })

  test('reads the model of titles', () => {
    const { titles } = parseConfig('{"providers":[],"titles":{"model":"cheap"}}', { file: 'f', environment: {} })
    expect(titles).toEqual({ model: 'cheap' })
  })

  test('refuses a file above 1 MiB without parsing it', () => {
    expect(faultsOf(`{"providers":[]}${' '.repeat(configBytesMax)}`)).toEqual([
      {
        file: 'providers.json',
        field: '',
        found: `${configBytesMax + 16} bytes`,
        allowed: `at most ${configBytesMax}`,
      },
    ])
  })

  test('counts faults after the first hundred', () => {
    const faults = faultsOf(JSON.stringify({ providers: Array.from({ length: 300 }, () => 1) }))
    expect(faults).toHaveLength(101)
    expect(faults.at(-1)?.found).toBe('200 more faults from here on')
  })

  test.each([
    '{"providers":[{"id":"a","base_url":"https://a.test","api_key":"hush hush"}]}',
    '{"providers":[{"id":"a","base_url":"https://a.test","api_key":{"x":"hush"}}]}',
    '{"providers":[{"id":"a","base_url":"https://a.test","api_key":["hush"]}]}',
    '{"providers":[{"id":"a","base_url":"https://a.test","api_key":"hush}]}',
    '{"providers":[{"id":"a","base_url":"https://a.test","api_key":hush}]}',
    '{"providers":[{"id":"a","base_url":"https://a.test","headers":"hush"}]}',
    '{"providers":[{"id":"a","base_url":"https://a.test","headers":{"x-a":"hush\\n"}}]}',
    '{"providers":[{"id":"a","base_url":"https://a.test","headers":{"x-a":["hush"]}}]}',
    '{"providers":[{"id":"a","base_url":"https://a.test","headers":{"x-a":"Bearer hush $TOKEN"}}]}',
    '{"providers":[{"id":"a","base_url":"https://a.test","apikey":"hush"}]}',
    '{"providers":[{"id":"a","base_url":"https://me:hush@a.test"}]}',
    '{"providers":[{"id":"a","base_url":"https://a.test?key=hush"}]}',
    '{"providers":[{"id":"a","base_url":"https://a.test","overrides":"hush"}]}',
  ])('never shows a possible secret: %s', (text) => {
    const faults = faultsOf(text)
    expect(faults.length).toBeGreaterThan(0)
    expect(new ConfigError(faults).message).not.toContain('hush')
  })

  test('resolves aliases of aliases', () => {
    const { aliases } = parse('{"providers":[],"aliases":{"a":"b","b":"c","d":"a","toString":"c"}}')
    expect({ ...aliases }).toEqual({ a: 'c', b: 'c', d: 'c', toString: 'c' })
  })

  test("has only the file's entries in its tables", () => {
    const config = parse('{"providers":[{"id":"groq"}]}')
    expect([config.aliases['constructor'], config.providers[0]?.headers['toString']]).toEqual([undefined, undefined])
  })

  test('reads fifty providers within 20 ms, even on a busy machine', () => {
    const models = ['a', { name: 'b', upstream: 'c', aliases: ['d'], price: { input: 1, output: 2 } }]
    const provider = {
      base_url: 'https://a.test/v1',
      api_key: '$KEY',
      headers: { a: 'b' },
      models,
      timeouts: { connect_ms: 5 },
      overrides: { temperature: 1 },
    }
    const text = JSON.stringify(
      { providers: Array.from({ length: 50 }, (_, index) => ({ id: `p${index}`, ...provider })) },
      null,
      2,
    )
    const durations = Array.from({ length: 10 }, () => processorMs(() => void parse(text, { KEY: 'key-for-tests' })))
    expect(Math.min(...durations)).toBeLessThan(20)
  })

  test('throws only ConfigError, with lines inside the file, for any text', () => {
    const word = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '\n',
      '\r',
      '//',
      '/*',
      '*/',
      '1e9',
      'true',
      '"id"',
      '"providers"',
      '"models"',
      '"groq"',
      '\u0000',
      '\u2028',
    )
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.array(word, { maxLength: 60 }).map((words) => words.join('')),
    )
    fc.assert(fc.property(text, holdsForAnyText), { numRuns: 200 })
  })

  test('throws only ConfigError, with lines inside the file, for any JSON', () => {
    const leaf = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('*', '$NAME', 'https://a.test/v1', 'groq', 5))
    const record = (...names: string[]) =>
      fc.dictionary(fc.oneof(fc.constantFrom(...names, '__proto__'), fc.string()), leaf, { maxKeys: 8 })
    const provider = record(
      'id',
      'brand',
      'protocol',
      'base_url',
      'api_key',
      'headers',
      'models',
      'timeouts',
      'retries',
      'overrides',
      'enabled',
    )
    const file = fc.record(
      {
        providers: fc.array(fc.oneof(provider, leaf)),
        limits: record('body_bytes'),
        failover: record('on_cut', 'retry_billed'),
        aliases: record('a', 'b'),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(file, leaf), fc.constantFrom(0, 2), (value, indent) =>
        holdsForAnyText(JSON.stringify(value, null, indent)),
      ),
      { numRuns: 300 },
    )
  })
})

/** Only ConfigError is thrown, and every fault is located in the file. */
function holdsForAnyText(text: string): boolean {
  const lines = text.split(/\r\n|\n|\r/).length
  return faultsOf(text).every(({ line = 0, column = 0 }) => line >= 1 && line <= lines && column >= 1)
}
