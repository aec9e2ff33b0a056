import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { answerOf, chat, errorOf, parseJson, pick, question, rawChat, rawConnection, rawRequest } from './client.ts'
import { good } from './fakes/good.ts'
import { startRig, type Rig } from './rig.ts'

/** A refusal needs no lookup and no waiting. The limit is generous because the machine may be busy. */
const refusalMsMax = 1_000

let rig: Rig
beforeAll(async () => {
  rig = await startRig([good()], {
    limits: { body_bytes: 1024 * 1024 },
    environment: { SVC_BODY_TIMEOUT_MS: '600', SVC_BODY_IDLE_MS: '300' },
  })
})
afterAll(() => rig[Symbol.asyncDispose]())

/** After every request: no call reached the upstream, and the service still serves. */
afterEach(async () => {
  const hits = rig.hits()
  const answer = await rig.ask()
  rig.upstreams[0]?.forget()
  expect([hits, answer.status]).toEqual([[0], 200])
})

/** Parses a raw refusal. */
function refusalOf(response: string): { readonly status: number; readonly code: unknown; readonly head: string } {
  const [head = '', body = ''] = response.split('\r\n\r\n')
  return { status: Number(head.slice(9, 12)), code: pick(parseJson(body), 'error', 'code'), head: head.toLowerCase() }
}

const valid = JSON.stringify(question())

const host = 'host: 127.0.0.1\r\n'
const post = `POST /v1/chat/completions HTTP/1.1\r\n${host}`
const length = `content-length: ${valid.length}\r\n`
const chunked = 'transfer-encoding: chunked\r\n'
const close = 'connection: close\r\n'

describe('a body', () => {
  test.each([
    ['empty', ''],
    ['white space', ' \n'],
    ['not JSON', '{"model":'],
    ['JSON with a comma too many', '{"model":"m",}'],
    ['two values', `${valid}${valid}`],
    ['null', 'null'],
    ['an array', '[]'],
    ['a string', '"m"'],
    ['a number', '42'],
    ['a byte order mark and nothing', '\ufeff'],
    ['single quotes', "{'model':'m'}"],
    ['nested 100,000 deep in arrays', `{"model":"m","messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    [
      'nested 100,000 deep in objects',
      `{"model":"m","messages":[{"role":"user","content":"x"}],"x":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
    ],
    ['never closed, 100,000 deep', '['.repeat(100_000)],
    ['a lone surrogate escape cut short', '{"model":"m\\ud8"}'],
    ['a control character in a string', '{"model":"m\n"}'],
    ['a number with a leading zero', '{"model":"m","seed":01,"messages":[{"role":"user","content":"x"}]}'],
    ['NaN', '{"model":"m","temperature":NaN,"messages":[{"role":"user","content":"x"}]}'],
  ])('that is %s › 400', async (_, body) => {
    const started = performance.now()
    const answer = await chat(rig.service.url, body)
    expect(answer.status).toBe(400)
    expect([errorOf(answer)?.type, answer.headers.get('content-type')?.split(';')[0]]).toEqual([
      'invalid_request_error',
      'application/json',
    ])
    expect(performance.now() - started).toBeLessThan(refusalMsMax)
  })

  test.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a cut character', [0xe2, 0x82]],
    ['beyond Unicode', [0xf5, 0x80, 0x80, 0x80]],
  ])('with %s for UTF-8 › 400 invalid_json', async (_, bad) => {
    const [before = '', after = ''] = valid.split('hello')
    const answer = await chat(
      rig.service.url,
      Buffer.concat([Buffer.from(before), Uint8Array.from(bad), Buffer.from(after)]),
    )
    expect([answer.status, errorOf(answer)?.code]).toEqual([400, 'invalid_json'])
  })

  test('above the limit, declared › 413 as JSON, before it is sent', async () => {
    const answer = refusalOf(
      await rawRequest(rig.service.port, rawChat('{', { 'content-length': '2000000', connection: 'close' })),
    )
    expect([answer.status, answer.code]).toEqual([413, 'request_too_large'])
  })

  test('above the limit, sent › 413 as JSON', async () => {
    const answer = await chat(rig.service.url, JSON.stringify(question({ x: 'a'.repeat(1_100_000) })))
    expect([answer.status, errorOf(answer)?.code]).toEqual([413, 'request_too_large'])
  })

  test('above the limit, chunked › 413 as JSON', async () => {
    const piece = `${(65_536).toString(16)}\r\n${'a'.repeat(65_536)}\r\n`
    const answer = refusalOf(
      await rawRequest(
        rig.service.port,
        `${post}content-type: application/json\r\n${chunked}${close}\r\n${piece.repeat(20)}0\r\n\r\n`,
      ),
    )
    expect([answer.status, answer.code]).toEqual([413, 'request_too_large'])
  })

  test('announced and never sent › 408', async () => {
    const answer = refusalOf(await rawRequest(rig.service.port, rawChat('{"model"', { 'content-length': '500' })))
    expect(answer.status).toBe(408)
  })

  test('that trickles in › 408, while others are served', async () => {
    const connection = rawConnection(rig.service.port, rawChat('{', { 'content-length': '500' }))
    const drip = setInterval(() => connection.socket.write(' '), 50)
    const answer = refusalOf(await connection.response)
    clearInterval(drip)
    expect(answer.status).toBe(408)
  })

  test.each(['gzip', 'br', 'deflate', 'zstd', 'x-unknown'])('with Content-Encoding %s › 415', async (encoding) => {
    const answer = await chat(rig.service.url, valid, { headers: { 'content-encoding': encoding } })
    expect([answer.status, errorOf(answer)?.code]).toEqual([415, 'unsupported_encoding'])
  })
})

describe('a field', () => {
  const user = { role: 'user', content: 'x' }
  const part = (value: unknown) => ({ messages: [{ role: 'user', content: [value] }] })
  test.each<[unknown, string]>([
    [{ model: undefined }, 'model'],
    [{ model: null }, 'model'],
    [{ model: 42 }, 'model'],
    [{ model: '' }, 'model'],
    [{ model: ['m'] }, 'model'],
    [{ messages: undefined }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: {} }, 'messages'],
    [{ messages: 'hello' }, 'messages'],
    [{ messages: null }, 'messages'],
    [{ messages: [null] }, 'messages[0]'],
    [{ messages: ['x'] }, 'messages[0]'],
    [{ messages: [user, { role: 'robot', content: 'x' }] }, 'messages[1].role'],
    [{ messages: [{ content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 42 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
    [part({ type: 1 }), 'messages[0].content[0].type'],
    [part({ video_url: {} }), 'messages[0].content[0].type'],
    [part({ type: 'text' }), 'messages[0].content[0].text'],
    [part({ type: 'text', text: 1 }), 'messages[0].content[0].text'],
    [part({ type: 'image_url', image_url: ['http://x'] }), 'messages[0].content[0].image_url'],
    [part({ type: 'image_url', image_url: {} }), 'messages[0].content[0].image_url.url'],
    [part(null), 'messages[0].content[0]'],
    [{ temperature: 2.1 }, 'temperature'],
    [{ temperature: -0.1 }, 'temperature'],
    [{ temperature: '1' }, 'temperature'],
    [{ temperature: 1e309 }, 'temperature'],
    [{ top_p: 1.01 }, 'top_p'],
    [{ top_p: -0.01 }, 'top_p'],
    [{ top_logprobs: 21 }, 'top_logprobs'],
    [{ top_logprobs: -1 }, 'top_logprobs'],
    [{ top_logprobs: 1.5 }, 'top_logprobs'],
    [{ frequency_penalty: 2.01 }, 'frequency_penalty'],
    [{ presence_penalty: -2.01 }, 'presence_penalty'],
    [{ max_tokens: 'many' }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ max_completion_tokens: true }, 'max_completion_tokens'],
    [{ stop: 42 }, 'stop'],
    [{ stop: [1] }, 'stop[0]'],
    [{ seed: 'x' }, 'seed'],
    [{ seed: 1.5 }, 'seed'],
    [{ stream: 'true' }, 'stream'],
    [{ stream: 1 }, 'stream'],
    [{ logprobs: 'yes' }, 'logprobs'],
    [{ reasoning_effort: 'most' }, 'reasoning_effort'],
    [{ reasoning_effort: {} }, 'reasoning_effort'],
    [{ enable_thinking: 'yes' }, 'enable_thinking'],
  ])('%j › 400, and the field is named', async (fields, param) => {
    const body = JSON.stringify({
      model: 'm',
      messages: [user],
      ...(typeof fields === 'object' ? fields : {}),
    }).replace('"temperature":null', '"temperature":1e309')
    const answer = await chat(rig.service.url, body)
    const error = errorOf(answer)
    expect([answer.status, error?.type, error?.param]).toEqual([400, 'invalid_request_error', param])
    expect(['invalid_value', 'invalid_type', 'missing_required_parameter']).toContain(String(error?.code))
  })

  test.each([
    { temperature: 0 },
    { temperature: 2 },
    { top_p: 0 },
    { top_p: 1 },
    { top_logprobs: 0, logprobs: true },
    { top_logprobs: 20 },
    { frequency_penalty: -2 },
    { presence_penalty: 2 },
    { stop: null },
    { stop: 'x' },
    { stop: ['x', 'y'] },
    { temperature: null, seed: null, stream: null },
    { reasoning_effort: 'xhigh' },
    { enable_thinking: false },
    { max_tokens: 1, max_completion_tokens: 1 },
    {
      messages: [
        { role: 'developer', content: 'x' },
        { role: 'assistant', content: null, tool_calls: [] },
        { role: 'tool', content: 'x', tool_call_id: 'c' },
      ],
    },
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'input_audio', input_audio: {} },
            { type: 'file', file: {} },
            { type: 'hologram' },
            { type: 'image_url', image_url: 'http://x' },
          ],
        },
      ],
    },
    {
      messages: [
        { role: 'user', content: 'x' },
        { role: 'tool', content: null, tool_call_id: 'c' },
      ],
      reasoning_effort: 'default',
    },
    { unknown: { anything: [1, null] } },
  ])('%j › is accepted', async (fields) => {
    expect((await rig.ask(fields)).status).toBe(200)
    rig.upstreams[0]?.forget()
  })
})

describe('a model', () => {
  test.each([
    ['__proto__'],
    ['constructor'],
    ['toString'],
    ['hasOwnProperty'],
    ['../m'],
    ['m\u0000'],
    ['m\r\nx-evil: 1'],
    ['\u202em'],
    ['\ud83d\ude00'],
    ['m '],
    ['%s%n'],
    ['<script>alert(1)</script>'],
    ['*'],
  ])('%j › 404 model_not_found or 400, named without harm', async (model) => {
    const answer = await rig.ask({ model })
    expect([400, 404]).toContain(answer.status)
    expect(answer.headers.get('x-evil')).toBeNull()
    // Control characters would reach terminals and logs.
    expect(errorOf(answer)?.message).not.toMatch(/[\u0000-\u001f]/)
  })

  test('a megabyte long › is refused in a few words', async () => {
    const answer = await rig.ask({ model: 'm'.repeat(900_000) })
    expect([400, 404]).toContain(answer.status)
    expect(answer.text.length).toBeLessThan(2_000)
  })

  test('twice › 400, or the last one counts as for every JSON parser', async () => {
    const answer = await chat(
      rig.service.url,
      '{"model":"none","messages":[{"role":"user","content":"x"}],"model":"m"}',
    )
    expect([200, 400]).toContain(answer.status)
    if (answer.status === 200) {
      const sent = new TextDecoder().decode(rig.upstreams[0]?.hits[0]?.body)
      expect(pick(parseJson(sent), 'model')).toBe('m')
      rig.upstreams[0]?.forget()
    }
  })

  test('hidden in a nested object or an escaped name › is the one that is read', async () => {
    expect((await chat(rig.service.url, '{"x":{"model":"m"},"messages":[{"role":"user","content":"x"}]}')).status).toBe(
      400,
    )
    expect((await chat(rig.service.url, '{"mod\\u0065l":"m","messages":[{"role":"user","content":"x"}]}')).status).toBe(
      200,
    )
    rig.upstreams[0]?.forget()
  })

  test('__proto__ as a field › changes nothing', async () => {
    expect(
      (
        await chat(
          rig.service.url,
          '{"__proto__":{"stream":true,"model":"none"},"model":"m","messages":[{"role":"user","content":"x"}]}',
        )
      ).status,
    ).toBe(200)
    rig.upstreams[0]?.forget()
    expect(
      errorOf(await chat(rig.service.url, '{"__proto__":{"model":"m"},"messages":[{"role":"user","content":"x"}]}'))
        ?.param,
    ).toBe('model')
  })
})

describe('a path or method', () => {
  async function send(
    method: string,
    path: string,
  ): Promise<{
    readonly status: number
    readonly allow: string | null
    readonly code: unknown
    readonly type: string | undefined
  }> {
    const response = await fetch(`${rig.service.url}${path}`, { method, redirect: 'manual' })
    const answer = answerOf(response, await response.text())
    return {
      status: answer.status,
      allow: answer.headers.get('allow'),
      code: errorOf(answer)?.code,
      type: answer.headers.get('content-type')?.split(';')[0],
    }
  }

  test.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s on the chat endpoint › 405 with Allow', async (method) => {
    const answer = await send(method, '/v1/chat/completions')
    expect([answer.status, answer.code]).toEqual([405, 'method_not_allowed'])
    expect(answer.allow).toContain('POST')
  })

  test.each([
    '/v1',
    '/v1/',
    '/v1/chat',
    '/v1/completions/x',
    '/v1/images/upscale',
    '/v1/chat/completions/',
    '/v1/chat/completions/x',
    '/v2/chat/completions',
    '/v1/models/none',
  ])('GET %s › 404 as JSON', async (path) => {
    const answer = await send('GET', path)
    expect([answer.status, answer.type]).toEqual([404, 'application/json'])
  })

  test.each([
    '//v1/chat/completions',
    '/v1//chat/completions',
    '/v1%2fchat%2fcompletions',
    '/v1/chat%2Fcompletions',
    '/v1/chat/completions%00',
    '/v1/chat/completions;x=1',
    '/V1/Chat/Completions',
    '/v1/chat/completions%20',
    '/v1/chat/completions/.',
    '/v1/%252e%252e/v1/chat/completions',
    '/%76%31/chat/completions',
    '/..%2f..%2fetc/passwd',
    '/../../etc/passwd',
    '/static/..%5c..%5cetc/passwd',
    '/%',
    '/%zz',
    `/${'a'.repeat(10_000)}`,
  ])('POST %s › is not the chat endpoint, and no file', async (path) => {
    const response = await rawRequest(
      rig.service.port,
      `POST ${path} HTTP/1.1\r\n${host}${close}content-type: application/json\r\n${length}\r\n${valid}`,
    )
    expect(refusalOf(response).status).toBeGreaterThanOrEqual(400)
    expect(refusalOf(response).status).toBeLessThan(500)
    expect(response).not.toContain('root:')
  })

  test.each([
    ['TRACE', 'TRACE / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-secret: echo\r\nconnection: close\r\n\r\n'],
    [
      'TRACE on the chat endpoint',
      'TRACE /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nx-secret: echo\r\nconnection: close\r\n\r\n',
    ],
    ['CONNECT', 'CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n'],
    ['two Hosts', `${post}host: y\r\n${close}${length}\r\n${valid}`],
    [
      'no Host',
      `POST /v1/chat/completions HTTP/1.1\r\nconnection: close\r\ncontent-length: ${valid.length}\r\n\r\n${valid}`,
    ],
    ['two lengths', `${post}${length}content-length: 3\r\n${close}\r\n${valid}`],
    ['a length and chunks', `${post}content-length: 4\r\n${chunked}${close}\r\n0\r\n\r\n`],
    ['a negative length', `${post}content-length: -1\r\n${close}\r\n`],
    ['an unknown transfer coding', `${post}transfer-encoding: gzip\r\n${close}\r\n${valid}`],
    ['a bad chunk', `${post}${chunked}${close}\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ['a folded header', 'GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a: b\r\n c\r\nconnection: close\r\n\r\n'],
    ['a space before the colon', 'GET /v1/models HTTP/1.1\r\nhost : x\r\nconnection: close\r\n\r\n'],
    ['HTTP/0.9', 'GET /v1/models\r\n\r\n'],
    ['not HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['a body on GET', `GET /v1/models HTTP/1.1\r\n${host}${length}${close}\r\n${valid}`],
  ])('%s › is refused, and nothing is echoed', async (words, bytes) => {
    const response = await rawRequest(rig.service.port, bytes, 500)
    expect(response).not.toContain('echo')
    if (response !== '') expect([words, refusalOf(response).status >= 400]).toEqual([words, true])
  })

  test('two lengths that agree › are a bad request, and the connection is closed', async () => {
    const twice = `content-length: ${valid.length}\r\n`.repeat(2)
    const response = await rawRequest(
      rig.service.port,
      `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n${twice}\r\n${valid}`,
      2_000,
    )
    expect([refusalOf(response).status, refusalOf(response).code]).toEqual([400, 'bad_request'])
    expect(refusalOf(response).head).toContain('\r\nconnection: close')
  })

  test.each([
    '/v1/./chat/completions',
    '/v1/x/../chat/completions',
    '/v1/%2e%2e/v1/chat/completions',
    '/v1\\chat\\completions',
    'http://elsewhere.example/v1/chat/completions',
  ])('POST %s › is the path it resolves to, on this service', async (target) => {
    const response = await rawRequest(
      rig.service.port,
      `POST ${target} HTTP/1.1\r\n${host}${close}${length}\r\n${valid}`,
    )
    expect(refusalOf(response).status).toBe(200)
    rig.upstreams[0]?.forget()
  })

  test('16 MB of headers › are refused', async () => {
    const response = await rawRequest(
      rig.service.port,
      `GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\n${`x-a: ${'b'.repeat(8_000)}\r\n`.repeat(2_000)}\r\n`,
    )
    expect(response === '' || refusalOf(response).status >= 400).toBe(true)
  })

  test('a hundred idle connections, and one that trickles its head › delay no other client', async () => {
    const idle = Array.from({ length: 100 }, () =>
      rawConnection(rig.service.port, 'POST /v1/chat/completions HTTP/1.1\r\nho', 5_000),
    )
    const started = performance.now()
    expect((await rig.ask()).status).toBe(200)
    expect(performance.now() - started).toBeLessThan(refusalMsMax)
    rig.upstreams[0]?.forget()
    for (const { socket } of idle) socket.destroy()
  })
})
