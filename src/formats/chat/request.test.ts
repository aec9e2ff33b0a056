import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { join } from '../../bytes/splice.ts'
import { countedPauses } from '../../bytes/testing.ts'
import type { ReasoningHistory } from '../../profiles/profile.ts'
import { WireError } from '../error.ts'
import {
  appendAnswer,
  encodeChatRequest,
  parseChatRequest,
  parseLargeChatRequest,
  type ChatRequestChanges,
} from './request.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const parseJson = (bytes: Uint8Array): unknown => JSON.parse(decode(bytes))
const request = (members: object) =>
  encode(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...members }))
const withMessage = (message: unknown) => encode(JSON.stringify({ model: 'm', messages: [message] }))
const withPart = (part: unknown) => withMessage({ role: 'user', content: [part] })

/** `[code, param]` of the refusal; undefined when it is accepted. Both ways to read it must agree. */
async function refusal(body: Uint8Array): Promise<readonly [string, string | null] | undefined> {
  const error = caught(() => parseChatRequest(body))
  const large = await parseLargeChatRequest(body, async () => {}).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  if (error === undefined && large === undefined) return undefined
  if (!(error instanceof WireError) || !(large instanceof WireError))
    throw new Error('one of them accepts it', { cause: [error, large] })
  expect(large.toJSON()).toEqual(error.toJSON())
  expect(error.status).toBe(400)
  expect(error.type).toBe('invalid_request_error')
  return [error.code, error.param]
}

function caught(run: () => unknown): unknown {
  try {
    run()
    return undefined
  } catch (error) {
    return error
  }
}

describe('parseChatRequest', () => {
  test('reads the facts for the gateway and keeps the bytes', () => {
    const body = encode(
      ' {"stream": true, "messages":[{"role":"user","content":"hi"}],\n' +
        '"stream_options":{"x":1,"include_usage":true},"mod\\u0065l":"a\\/b","seed":9007199254740993}',
    )
    const parsed = parseChatRequest(body)
    expect(parsed).toMatchObject({ model: 'a/b', stream: true, includeUsage: true })
    expect(parsed.body).toBe(body)
    expect(
      parsed.members.map(({ name, start, valueStart, end }) => [
        name,
        decode(body.subarray(start, valueStart)),
        decode(body.subarray(valueStart, end)),
      ]),
    ).toEqual([
      ['stream', '"stream": ', 'true'],
      ['messages', '"messages":', '[{"role":"user","content":"hi"}]'],
      ['stream_options', '"stream_options":', '{"x":1,"include_usage":true}'],
      ['model', '"mod\\u0065l":', '"a\\/b"'],
      ['seed', '"seed":', '9007199254740993'],
    ])
  })

  const ranges = [
    ['temperature', 0, 2],
    ['top_p', 0, 1],
    ['frequency_penalty', -2, 2],
    ['presence_penalty', -2, 2],
  ] as const
  test.each(ranges)('takes %s from %d to %d, boundaries included', async (name, min, max) => {
    for (const value of [min, max, (min + max) / 2 + 0.01, `${max}.0`, `${max}e0`]) {
      expect(
        await refusal(encode(`{"model":"m","messages":[{"role":"user","content":""}],"${name}":${value}}`)),
      ).toBeUndefined()
    }
    for (const value of [min - 0.0001, max + 0.0001, -1e9, 1e9, '1e400', '-1e400']) {
      expect(
        await refusal(encode(`{"model":"m","messages":[{"role":"user","content":""}],"${name}":${value}}`)),
      ).toEqual(['invalid_value', name])
    }
    expect(await refusal(request({ [name]: null }))).toBeUndefined()
    for (const value of ['1', true, [], {}])
      expect(await refusal(request({ [name]: value }))).toEqual(['invalid_type', name])
  })

  test.each(['max_tokens', 'max_completion_tokens', 'seed', 'top_logprobs'])(
    'takes an integer for %s, however written',
    async (name) => {
      for (const value of ['0', '20', '1.0', '1e1', '200E-1', 'null'])
        expect(
          await refusal(encode(`{"model":"m","messages":[{"role":"user","content":""}],"${name}":${value}}`)),
        ).toBeUndefined()
      for (const value of ['1.5', '"1"', 'true', '[]', '{}'])
        expect(
          await refusal(encode(`{"model":"m","messages":[{"role":"user","content":""}],"${name}":${value}}`)),
        ).toEqual(['invalid_type', name])
    },
  )

  test('accepts top_logprobs from 0 to 20', async () => {
    for (const value of [-1, 21])
      expect(await refusal(request({ top_logprobs: value }))).toEqual(['invalid_value', 'top_logprobs'])
  })

  test('accepts token counts and seeds of any range', async () => {
    for (const value of ['-1', '9223372036854775807', '-9223372036854775808', '9007199254740993']) {
      for (const name of ['max_tokens', 'max_completion_tokens', 'seed'])
        expect(
          await refusal(encode(`{"model":"m","messages":[{"role":"user","content":""}],"${name}":${value}}`)),
        ).toBeUndefined()
    }
    expect(await refusal(encode('{"model":"m","messages":[{"role":"user","content":""}],"seed":1e999}'))).toEqual([
      'invalid_value',
      'seed',
    ])
  })

  test.each(['stream', 'logprobs', 'enable_thinking'])('takes a boolean for %s', async (name) => {
    for (const value of [true, false, null]) expect(await refusal(request({ [name]: value }))).toBeUndefined()
    for (const value of ['true', 1, 0, [], {}])
      expect(await refusal(request({ [name]: value }))).toEqual(['invalid_type', name])
  })

  test('accepts the efforts of the format', async () => {
    for (const value of [
      'low',
      'medium',
      'high',
      'none',
      'minimal',
      'xhigh',
      'max',
      'default',
      null,
      true,
      false,
      2048,
    ])
      expect(await refusal(request({ reasoning_effort: value }))).toBeUndefined()
    for (const value of ['', 'LOW', 'lower', 'x'.repeat(5000), '\u0007'])
      expect(await refusal(request({ reasoning_effort: value }))).toEqual(['invalid_value', 'reasoning_effort'])
    for (const value of [['low'], {}])
      expect(await refusal(request({ reasoning_effort: value }))).toEqual(['invalid_type', 'reasoning_effort'])
  })

  test.each([
    ['END', undefined],
    [['a', 'b'], undefined],
    [[], undefined],
    [null, undefined],
    [Array.from({ length: 9 }, () => 'x'), undefined],
    [1, 'stop'],
    [true, 'stop'],
    [{}, 'stop'],
    [['a', 1], 'stop[1]'],
    [[null], 'stop[0]'],
    [[['a']], 'stop[0]'],
  ])('stop %j is refused at %p', async (stop, param) => {
    expect(await refusal(request({ stop }))).toEqual(param === undefined ? undefined : ['invalid_type', param])
  })

  test.each([
    [null, undefined],
    [{}, undefined],
    [{ include_usage: false }, undefined],
    [{ include_usage: null, other: [1] }, undefined],
    [true, 'stream_options'],
    ['x', 'stream_options'],
    [[], 'stream_options'],
    [{ include_usage: 1 }, 'stream_options.include_usage'],
  ])('stream_options %j is refused at %p', async (stream_options, param) => {
    expect(await refusal(request({ stream_options }))).toEqual(
      param === undefined ? undefined : ['invalid_type', param],
    )
  })

  test.each([
    ['{"messages":[{"role":"user","content":"x"}]}', 'missing_required_parameter', 'model'],
    ['{"model":"m"}', 'missing_required_parameter', 'messages'],
    ['{}', 'missing_required_parameter', 'model'],
    ['{"model":null,"messages":[]}', 'invalid_type', 'model'],
    ['{"model":1,"messages":[]}', 'invalid_type', 'model'],
    ['{"model":"","messages":[]}', 'invalid_value', 'model'],
    ['{"model":"a\\nb","messages":[]}', 'invalid_value', 'model'],
    ['{"model":"a\\u0085b","messages":[]}', 'invalid_value', 'model'],
    ['{"model":"\\ud800","messages":[]}', 'invalid_value', 'model'],
    ['{"model":"m","model":"m","messages":[]}', 'invalid_value', 'model'],
    ['{"model":"m","mode\\u006c":"n","messages":[]}', 'invalid_value', 'model'],
    ['{"model":"m","messages":null}', 'invalid_type', 'messages'],
    ['{"model":"m","messages":{}}', 'invalid_type', 'messages'],
    ['{"model":"m","messages":"hi"}', 'invalid_type', 'messages'],
    ['{"model":"m","messages":[]}', 'invalid_value', 'messages'],
    ['{"model":"m","messages":["hi"]}', 'invalid_type', 'messages[0]'],
    ['{"model":"m","messages":[null]}', 'invalid_type', 'messages[0]'],
  ])('refuses %s: %s of %s', async (text, code, param) => {
    expect(await refusal(encode(text))).toEqual([code, param])
  })

  test('accepts a model of 256 characters of any length in bytes, and no more', async () => {
    for (const character of ['m', 'é', '🙂', '\\ud83d\\ude42']) {
      const body = (count: number) =>
        encode(`{"model":"${character.repeat(count)}","messages":[{"role":"user","content":"x"}]}`)
      expect(await refusal(body(256))).toBeUndefined()
      expect(await refusal(body(257))).toEqual(['invalid_value', 'model'])
      expect(await refusal(body(9000))).toEqual(['invalid_value', 'model'])
    }
  })

  test('quotes at most 64 characters of a value, and no control characters', () => {
    const error = caught(() =>
      parseChatRequest(encode(JSON.stringify({ model: `\u0000\u001b[31m${'x'.repeat(200)}` }))),
    )
    const quoted = error instanceof WireError ? /found '(.*)'/.exec(error.message)?.[1] : undefined
    expect(quoted).toHaveLength(64)
    expect(quoted).not.toMatch(/[\u0000-\u001f]/)
  })

  test.each([
    [{ role: 'user', content: 'x' }, undefined, undefined],
    [{ role: 'system', content: '' }, undefined, undefined],
    [{ role: 'developer', content: [] }, undefined, undefined],
    [{ role: 'tool', content: 'x', tool_call_id: 'a' }, undefined, undefined],
    [{ role: 'function', content: null, name: 'f' }, undefined, undefined],
    [{ role: 'assistant', content: null, tool_calls: [] }, undefined, undefined],
    [{ role: 'assistant' }, undefined, undefined],
    [{ content: null, role: 'assistant' }, undefined, undefined],
    [{ content: 'x' }, 'missing_required_parameter', 'messages[0].role'],
    [{ role: null, content: 'x' }, 'invalid_type', 'messages[0].role'],
    [{ role: 7, content: 'x' }, 'invalid_type', 'messages[0].role'],
    [{ role: 'User', content: 'x' }, 'invalid_value', 'messages[0].role'],
    [{ role: 'robot', content: 'x' }, 'invalid_value', 'messages[0].role'],
    [{ role: '', content: 'x' }, 'invalid_value', 'messages[0].role'],
    [{ role: 'user' }, 'missing_required_parameter', 'messages[0].content'],
    [{ role: 'tool' }, 'missing_required_parameter', 'messages[0].content'],
    [{ role: 'tool', content: null, tool_call_id: 'a' }, undefined, undefined],
    [{ role: 'user', content: null }, 'invalid_type', 'messages[0].content'],
    [{ content: null, role: 'system' }, 'invalid_type', 'messages[0].content'],
    [{ role: 'assistant', content: 1 }, 'invalid_type', 'messages[0].content'],
    [{ role: 'user', content: {} }, 'invalid_type', 'messages[0].content'],
    [{ role: 'user', content: true }, 'invalid_type', 'messages[0].content'],
    [{ role: 'user', content: ['x'] }, 'invalid_type', 'messages[0].content[0]'],
  ])('message %j: %p at %p', async (message, code, param) => {
    expect(await refusal(withMessage(message))).toEqual(code === undefined ? undefined : [code, param ?? null])
  })

  test.each([
    [{ type: 'text', text: 'x' }, undefined, undefined],
    [{ text: 'x', type: 'text', cache_control: {} }, undefined, undefined],
    [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } }, undefined, undefined],
    [{ image_url: { url: '' }, type: 'image_url' }, undefined, undefined],
    [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }, undefined, undefined],
    [{ type: 'file', file: {} }, undefined, undefined],
    [{ type: 'refusal', refusal: 'no' }, undefined, undefined],
    [{ text: 'x' }, 'missing_required_parameter', '.type'],
    [{ type: 1 }, 'invalid_type', '.type'],
    [{ type: null }, 'invalid_type', '.type'],
    [{ type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }, undefined, undefined],
    [{ type: 'audio_url', audio_url: 5 }, undefined, undefined],
    [{ type: 'thinking', thinking: 'x', text: 5, image_url: null }, undefined, undefined],
    [{ type: 'text' }, 'missing_required_parameter', '.text'],
    [{ type: 'text', text: null }, 'invalid_type', '.text'],
    [{ type: 'text', text: 5 }, 'invalid_type', '.text'],
    [{ type: 'image_url' }, 'missing_required_parameter', '.image_url'],
    [{ type: 'image_url', image_url: 'https://example.com/a.png' }, undefined, undefined],
    [{ type: 'image_url', image_url: null }, 'invalid_type', '.image_url'],
    [{ type: 'image_url', image_url: ['a'] }, 'invalid_type', '.image_url'],
    [{ type: 'image_url', image_url: {} }, 'missing_required_parameter', '.image_url.url'],
    [{ type: 'image_url', image_url: { url: 4 } }, 'invalid_type', '.image_url.url'],
  ])('part %j: %p at %p', async (part, code, param) => {
    expect(await refusal(withPart(part))).toEqual(
      code === undefined ? undefined : [code, `messages[0].content[0]${param}`],
    )
  })

  test('names the message and the part at fault', async () => {
    const good = { role: 'user', content: [{ type: 'text', text: 'x' }] }
    const bad = {
      role: 'user',
      content: [
        { type: 'text', text: 'x' },
        { type: 'image_url', image_url: { url: 1 } },
      ],
    }
    expect(await refusal(encode(JSON.stringify({ model: 'm', messages: [good, good, bad] })))).toEqual([
      'invalid_type',
      'messages[2].content[1].image_url.url',
    ])
  })

  test('accepts unknown members of any name', async () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`unknown_${index}`, { deep: [index, { a: null }] }]),
    )
    const text =
      '{"__proto__":{"model":"evil"},"constructor":1,"toString":[],"model":"m",' +
      '"messages":[{"role":"user","content":"x","__proto__":1}],"n":"many","tools":5,' +
      JSON.stringify(unknown).slice(1)
    expect(await refusal(encode(text))).toBeUndefined()
    expect(parseChatRequest(encode(text)).members).toHaveLength(47)
  })

  test('accepts 10,000 members, no more, and renames them quickly', async () => {
    const flood = (count: number) =>
      encode(`{"model":"m","messages":[{"role":"user","content":"x"}]${',"other":1'.repeat(count - 2)}}`)
    expect(await refusal(flood(10_001))).toEqual(['invalid_value', null])
    const parsed = parseChatRequest(flood(10_000))
    const result = join(encodeChatRequest(parsed, { model: 'm', rename: { other: 'renamed' } }))
    expect(parseJson(result)).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      renamed: 1,
    })
  })

  test('rejects numbers of excessive length', async () => {
    expect(
      await refusal(encode(`{"model":"m","messages":[{"role":"user","content":""}],"seed":${'1'.repeat(1025)}}`)),
    ).toEqual(['invalid_value', 'seed'])
    expect(
      await refusal(encode(`{"model":"m","messages":[{"role":"user","content":""}],"unknown":${'1'.repeat(100_000)}}`)),
    ).toBeUndefined()
  })

  test.each([
    ['', 'The request body is empty.'],
    [' \n', 'The request body is not valid JSON: unexpected end at byte 2.'],
    ['{"model":"m",', 'The request body is not valid JSON: unexpected end at byte 13.'],
    ['[]', 'The request body must be a JSON object.'],
    ['"x"', 'The request body must be a JSON object.'],
    ['null', 'The request body must be a JSON object.'],
    ['42', 'The request body must be a JSON object.'],
    ['{} {}', 'The request body is not valid JSON: unexpected character at byte 3.'],
    ['{"model":1,"x":tru}', 'The request body is not valid JSON: unexpected character at byte 18.'],
    ['\ufeff{}', 'The request body is not valid JSON: unexpected character at byte 0.'],
  ])('refuses a body that is no JSON object: %p', async (text, message) => {
    expect(await refusal(encode(text))).toEqual(['invalid_json', null])
    expect(caught(() => parseChatRequest(encode(text)))).toMatchObject({ message })
  })

  test.each(['x', 'messages'])('refuses 100,000 levels in %s', async (name) => {
    const body = encode(`{"${name}":${'['.repeat(100_000)}`)
    expect(await refusal(body)).toEqual(['invalid_json', null])
    expect(caught(() => parseChatRequest(body))).toMatchObject({
      message: `The request body is not valid JSON: nested too deeply at byte ${name.length + 4 + 511}.`,
    })
  })

  test('rejects invalid UTF-8 in an otherwise valid body', async () => {
    const body = request({ user: 'name' })
    body[body.length - 3] = 0xc3
    expect(await refusal(body)).toEqual(['invalid_json', null])
  })

  test('reports invalid UTF-8 before any other fault', async () => {
    const body = new Uint8Array([...encode('{"model":1,"x":"'), 0xff, ...encode('"}')])
    expect(await refusal(body)).toEqual(['invalid_json', null])
    expect(caught(() => parseChatRequest(body))).toMatchObject({
      message: 'The request body is not valid JSON: invalid UTF-8 at byte 16.',
    })
  })

  test('agrees with JSON.parse on valid JSON, for any body', () => {
    const isInvalidJson = (bytes: Uint8Array) => {
      const error = caught(() => parseChatRequest(bytes))
      return error instanceof WireError && error.code === 'invalid_json'
    }
    const seed =
      '{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"ä\\n"}]}],' +
      '"stop":["a"],"temperature":1.5}'
    fc.assert(
      fc.property(fc.nat(), fc.nat(3), fc.uint8Array({ maxLength: 3 }), (place, removed, inserted) => {
        const bytes = [...encode(seed)]
        bytes.splice(place % bytes.length, removed, ...inserted)
        const body = new Uint8Array(bytes)
        const parsed = caught(() => JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)))
        expect(isInvalidJson(body)).toBe(parsed !== undefined)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('parseLargeChatRequest', () => {
  test('lets other work run while it reads 20 MB, and finds the same', async () => {
    const body = encode(
      JSON.stringify({
        model: 'm',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'ü' },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${'QUJD'.repeat(5_000_000)}` } },
            ],
          },
        ],
        stream: true,
      }),
    )
    using pauses = countedPauses()
    const parsed = await parseLargeChatRequest(body, pauses.pause)
    expect(parsed).toEqual(parseChatRequest(body))
    expect(pauses.count()).toBeGreaterThan(20)
  })

  test('finds a fault at the end of a large body', async () => {
    const content = 'a\\n\\"'.repeat(150_000)
    const text = `{"model":"m","messages":[{"role":"user","content":"${content}"}],"top_p":2}`
    expect(await refusal(encode(text))).toEqual(['invalid_value', 'top_p'])
    expect(await refusal(encode(text.slice(0, -1)))).toEqual(['invalid_json', null])
    expect(await refusal(encode(text.replace('a\\n', 'a\\q')))).toEqual(['invalid_json', null])
  })
})

describe('encodeChatRequest', () => {
  const text =
    '{ "model" : "m",\n"seed":9007199254740993, "temperature":1.0,"x":1,"x":2,"a\\u0062":"\\u00e9", ' +
    '"messages":[ {"role":"user","content":"hi"} ] ,"max_tokens":5 }'
  const encoded = (changes: Partial<ChatRequestChanges>, from = text) =>
    decode(join(encodeChatRequest(parseChatRequest(encode(from)), { model: 'm', ...changes })))

  test("gives the caller's bytes when the model keeps its name", () => {
    const parsed = parseChatRequest(encode(text))
    expect(encodeChatRequest(parsed, { model: 'm' })).toEqual([parsed.body])
    expect(encodeChatRequest(parsed, { model: 'm' })[0]).toBe(parsed.body)
  })

  test('changes nothing but the model', () => {
    expect(encoded({ model: 'new "one"' })).toBe(text.replace('"m"', '"new \\"one\\""'))
  })

  test('keeps a model spelled with escapes unchanged', () => {
    const from = text.replace('"m"', '"\\u006d"')
    expect(encoded({}, from)).toBe(from)
  })

  test('replaces overridden members where they stand and adds others after the model', () => {
    expect(encoded({ overrides: { temperature: 0, top_k: 5, 'a"b': [1] } })).toBe(
      text.replace('"temperature":1.0', '"temperature":0').replace('"m",', '"m","top_k":5,"a\\"b":[1],'),
    )
  })

  test('changes the model by `model` only', () => {
    const result = JSON.parse(
      encoded({ overrides: { model: 'other' }, rename: { model: 'other', seed: 'model' }, drop: ['model'] }),
    )
    expect(result.model).toBe('m')
    expect(result).not.toHaveProperty('seed')
    expect(result).not.toHaveProperty('other')
  })

  test('renames by the bytes of the name only', () => {
    expect(encoded({ rename: { max_tokens: 'max_completion_tokens' } })).toBe(
      text.replace('"max_tokens"', '"max_completion_tokens"'),
    )
    expect(encoded({ rename: { ab: 'b' } })).toBe(text.replace('"a\\u0062"', '"b"'))
  })

  test('removes a member that would get the name of another', () => {
    expect(encoded({ rename: { max_tokens: 'seed' } })).toBe(text.replace(' ,"max_tokens":5', ''))
    expect(encoded({ rename: { max_tokens: 'seed' }, drop: ['seed'] })).not.toContain('9007199254740993')
    expect(JSON.parse(encoded({ rename: { max_tokens: 'seed' }, drop: ['seed'] }))).toMatchObject({ seed: 5 })
  })

  test('keeps JSON valid when any fields are removed, renamed or overridden', () => {
    const names = ['seed', 'temperature', 'x', 'ab', 'messages', 'max_tokens', 'other', '__proto__']
    const orders = fc.shuffledSubarray([
      '"seed":1',
      '"x":[1]',
      '"x":{}',
      '"temperature":0',
      '"max_tokens":7',
      '"__proto__":3',
    ])
    fc.assert(
      fc.property(
        orders,
        fc.nat(),
        fc.nat(),
        fc.subarray(names),
        fc.dictionary(fc.constantFrom(...names), fc.jsonValue(), { maxKeys: 3 }),
        fc.uniqueArray(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names)), {
          selector: ([from]) => from,
          maxLength: 3,
        }),
        (members, modelPlace, messagesPlace, drop, overrides, renames) => {
          const all = [...members]
          all.splice(modelPlace % (all.length + 1), 0, '"model":"m"')
          all.splice(messagesPlace % (all.length + 1), 0, '"messages":[{"role":"user","content":""}]')
          const from = `{${all.join(' , ')}}`
          const result = JSON.parse(
            encoded({ model: 'new', drop, overrides, rename: Object.fromEntries(renames) }, from),
          )
          expect(result.model).toBe('new')
          for (const name of drop) {
            if (!Object.hasOwn(overrides, name) && !renames.some(([, to]) => to === name))
              expect(Object.hasOwn(result, name)).toBeFalse()
          }
          for (const [name, value] of Object.entries(overrides))
            expect(JSON.stringify(result[name])).toBe(JSON.stringify(value))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('round-trips any request but for its model', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
        (others, model) => {
          const original = {
            messages: [{ role: 'user', content: 'x' }],
            ...Object.fromEntries(Object.entries(others).map(([name, value]) => [`_${name}`, value])),
            model: 'm',
          }
          const result = join(encodeChatRequest(parseChatRequest(encode(JSON.stringify(original))), { model }))
          expect(parseJson(result)).toEqual({ ...JSON.parse(JSON.stringify(original)), model })
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('the reasoning of earlier answers', () => {
  const sent = (messages: string, reasoning: ReasoningHistory, more: Partial<ChatRequestChanges> = {}) => {
    const from = `{"model":"m","messages":[${messages}],"x":1}`
    return decode(join(encodeChatRequest(parseChatRequest(encode(from)), { model: 'm', reasoning, ...more }))).slice(
      '{"model":"m","messages":['.length,
      -'],"x":1}'.length,
    )
  }
  const user = '{"role":"user","content":"q"}'
  const table: readonly (readonly [ReasoningHistory, string, string])[] = [
    ['drop', '{"role":"assistant","content":"a", "reasoning_content" : "r" }', '{"role":"assistant","content":"a" }'],
    ['drop', '{ "reasoning_content":"r", "role":"assistant","content":"a"}', '{ "role":"assistant","content":"a"}'],
    [
      'drop',
      '{"reasoning":"r","thinking_blocks":[{"type":"thinking"}],"role":"assistant",' +
        '"reasoning_details":[],"reasoning_content":null}',
      '{"role":"assistant"}',
    ],
    ['drop', '{"role":"assistant","r\\u0065asoning":"r"}', '{"role":"assistant"}'],
    [
      'reasoning',
      '{"role":"assistant","reasoning_content":"\\u00e9","content":"a"}',
      '{"role":"assistant","reasoning":"\\u00e9","content":"a"}',
    ],
    [
      'reasoning',
      '{"reasoning":"1","role":"assistant","reasoning_content":"2","thinking_blocks":[]}',
      '{"reasoning":"1","role":"assistant"}',
    ],
    ['reasoning', '{"role":"assistant","reasoning":"r"}', '{"role":"assistant","reasoning":"r"}'],
    ['reasoning', '{"role":"assistant","reasoning_content":""}', '{"role":"assistant"}'],
    [
      'reasoning_content',
      '{"role":"assistant","reasoning_content":null,"reasoning":"r"}',
      '{"role":"assistant","reasoning_content":"r"}',
    ],
    ['reasoning_content', '{"role":"assistant","content":"a"}', '{"role":"assistant","content":"a"}'],
    [
      'required',
      '{ "role":"assistant","tool_calls":[{"reasoning":1}]}',
      '{"reasoning_content":" ", "role":"assistant","tool_calls":[{"reasoning":1}]}',
    ],
    ['required', '{"thinking_blocks":[],"role":"assistant"}', '{"reasoning_content":" ","role":"assistant"}'],
    ['required', '{"role":"assistant","reasoning_content":""}', '{"role":"assistant","reasoning_content":" "}'],
    [
      'required',
      '{"role":"assistant","reasoning":null,"content":"a"}',
      '{"role":"assistant","reasoning_content":" ","content":"a"}',
    ],
    ['required', '{"role":"assistant","reasoning_content":"r"}', '{"role":"assistant","reasoning_content":"r"}'],
    [
      'required',
      '{"role":"tool","content":"t","tool_call_id":"c"}',
      '{"role":"tool","content":"t","tool_call_id":"c"}',
    ],
  ]
  test.each(table)('%s › %s is sent as %s', (reasoning, message, expected) => {
    expect(sent(`${user},${message} ,${user},${message}`, reasoning)).toBe(`${user},${expected} ,${user},${expected}`)
  })

  test('passes unchanged to a provider that keeps it, and where there is none', () => {
    const thinking = parseChatRequest(encode(`{"model":"m","messages":[{"role":"assistant","reasoning_content":"r"}]}`))
    expect(encodeChatRequest(thinking, { model: 'm', reasoning: 'keep' })[0]).toBe(thinking.body)
    const plain = parseChatRequest(encode(`{"model":"m","messages":[${user},{"role":"assistant","content":"a"}]}`))
    expect(encodeChatRequest(plain, { model: 'm', reasoning: 'drop' })[0]).toBe(plain.body)
  })

  test('combines with other changes, and is replaced by overridden messages', () => {
    const message = '{"role":"assistant","reasoning_content":"r"}'
    expect(sent(message, 'drop', { overrides: { messages: [1] } })).toBe('1')
    const from = parseChatRequest(encode(`{"messages":[${message}],"model":"m","seed":1}`))
    expect(
      decode(
        join(encodeChatRequest(from, { model: 'n', reasoning: 'drop', rename: { messages: 'input' }, drop: ['seed'] })),
      ),
    ).toBe('{"input":[{"role":"assistant"}],"model":"n"}')
    const longer = appendAnswer(from, encode('{"role":"assistant","content":"y"}'))
    expect(decode(join(encodeChatRequest(longer, { model: 'n', reasoning: 'drop' })))).toContain(
      '[{"role":"assistant"},{"role":"assistant","content":"y"}]',
    )
  })

  test('keeps JSON valid, with one name at most, at any place', () => {
    const members = [
      '"reasoning_content":"a"',
      '"reasoning":"b"',
      '"reasoning_details":[{}]',
      '"thinking_blocks":[]',
      '"reasoning_content":null',
      '"content":"c"',
    ]
    const histories = ['drop', 'reasoning', 'reasoning_content', 'required'] as const
    fc.assert(
      fc.property(
        fc.shuffledSubarray(members),
        fc.nat(),
        fc.constantFrom(...histories),
        fc.constantFrom(',', ' , '),
        (chosen, place, history, comma) => {
          const all = [...chosen]
          all.splice(place % (all.length + 1), 0, '"role":"assistant"')
          const result = JSON.parse(sent(`{${all.join(comma)}}`, history))
          const hasText = chosen.some((member) => /"[ab]"$/.test(member))
          const name =
            history === 'drop' || (!hasText && history !== 'required')
              ? undefined
              : history === 'required'
                ? 'reasoning_content'
                : history
          expect(Object.keys(result).toSorted()).toEqual(
            [
              'role',
              ...(chosen.includes('"content":"c"') ? ['content'] : []),
              ...(name === undefined ? [] : [name]),
            ].toSorted(),
          )
          if (name !== undefined && !hasText) expect(result[name]).toBe(' ')
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('appendAnswer', () => {
  test('adds a message after the last and keeps the offsets of the members', () => {
    const body = encode('{"a":1,"messages":[{"role":"user","content":"x"}\n],"model":"m","z":[2]}')
    const longer = appendAnswer(parseChatRequest(body), encode('{"role":"assistant","content":"y"}'))
    expect(decode(longer.body)).toBe(
      '{"a":1,"messages":[{"role":"user","content":"x"}\n,{"role":"assistant","content":"y"}],"model":"m","z":[2]}',
    )
    expect(longer).toEqual(parseChatRequest(longer.body))
    expect(appendAnswer(longer, encode('{"role":"assistant","content":"z"}'))).toEqual(
      parseChatRequest(appendAnswer(longer, encode('{"role":"assistant","content":"z"}')).body),
    )
  })
})
