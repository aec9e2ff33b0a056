import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { answerOf, chat, errorOf, parseJson, pick, question, rawChat, rawConnection, rawRequest } from './client.ts'
import { good } from './fakes/good.ts'
import { startRig, type Rig } from './rig.ts'

/** A refusal needs no lookup and no waiting. The limit is generous because the machine may be busy. */
const refusalMsMax = 5_000

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
    [
      'nested 100,000 deep in objects',
      `{"model":"m","messages":[{"role":"user","content":"x"}],"x":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
    ],
    ['never closed, 100,000 deep', '['.repeat(100_000)],
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
})

describe('a field', () => {
  const user = { role: 'user', content: 'x' }
  test.each<[unknown, string]>([
    [{ model: undefined }, 'model'],
    [{ messages: [user, { role: 'robot', content: 'x' }] }, 'messages[1].role'],
    [{ temperature: 2.1 }, 'temperature'],
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

  test.each(['/v1/images/upscale', '/v1/models/none'])('GET %s › 404 as JSON', async (path) => {
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
