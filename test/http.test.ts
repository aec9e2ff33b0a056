import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { chat, pick, question, rawChat, rawConnection, rawRequest } from './client.ts'
import { testOnRows } from './failover/test-on-rows.ts'
import type { Script } from './fakes/fault-upstream.ts'
import { good, goodText } from './fakes/good.ts'
import { completion, framed, head, lastChunk, reply } from './fakes/replies.ts'
import { startRig, type Rig } from './rig.ts'

const body = JSON.stringify(completion(goodText({ name: 'a' })))
const json = { 'content-type': 'application/json' }

function closing(bytes: string | Uint8Array): Script {
  return async (exchange) => {
    await exchange.write(bytes)
    exchange.close()
  }
}

function encoded(encoding: string, bytes: Uint8Array): Script {
  return (exchange) => exchange.write(reply(200, bytes, { 'content-encoding': encoding }))
}

/** What is peculiar, and the script of an upstream. */
type Peculiar = readonly [words: string, script: Script]

describe('an upstream that speaks HTTP in its own way', () => {
  const understood: readonly Peculiar[] = [
    [
      'HTTP/1.0, its body ended by the connection',
      closing(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${body}`),
    ],
    [
      'no reason after the status',
      closing(`HTTP/1.1 200\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
    ],
    [
      'an empty reason',
      closing(`HTTP/1.1 200 \r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
    ],
    ['no content type', closing(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)],
    ['text/plain', (exchange) => exchange.write(reply(200, body, { 'content-type': 'text/plain' }))],
    [
      'header names in capitals',
      closing(`HTTP/1.1 200 OK\r\nCONTENT-TYPE: application/json\r\nCONTENT-LENGTH: ${body.length}\r\n\r\n${body}`),
    ],
    [
      'no space after the colon',
      closing(`HTTP/1.1 200 OK\r\ncontent-type:application/json\r\ncontent-length:${body.length}\r\n\r\n${body}`),
    ],
    [
      'Transfer-Encoding: Chunked, extensions and trailers',
      (exchange) =>
        exchange.write(
          head(200, { ...json, 'transfer-encoding': 'Chunked' }) +
            `${body.length.toString(16).toUpperCase()};x="y"\r\n${body}\r\n0\r\nx-trailer: 1\r\n\r\n`,
        ),
    ],
    [
      'a chunk a byte',
      (exchange) =>
        exchange.write(
          Buffer.concat([
            Buffer.from(head(200, { ...json, 'transfer-encoding': 'chunked' })),
            ...Array.from(body, framed),
            lastChunk,
          ]),
        ),
    ],
    [
      'a byte at a time, head and all',
      async (exchange) => {
        for (const byte of reply(200, body)) await exchange.write(Uint8Array.of(byte))
      },
    ],
    ['connection: close', closing(reply(200, body, { connection: 'close' }))],
    ['white space around the JSON', (exchange) => exchange.write(reply(200, `\n\n ${body}\n`))],
    ['gzip', encoded('gzip', gzipSync(body))],
    ['x-gzip', encoded('x-gzip', gzipSync(body))],
    ['deflate', encoded('deflate', deflateSync(body))],
    ['br', encoded('br', brotliCompressSync(body))],
    ['zstd', encoded('zstd', zstdCompressSync(body))],
    ['identity', encoded('identity', Buffer.from(body))],
  ]
  testOnRows(
    '%s › is understood',
    understood.map(([words, script]) => ({ words, scripts: [script, good()] })),
    async (row) => {
      const answer = await row.ask()
      expect([answer.status, answer.content, answer.headers.get('content-encoding')]).toEqual([
        200,
        goodText({ name: 'a' }),
        null,
      ])
      expect(row.hits()).toEqual([1, 0])
    },
  )

  const refused: readonly Peculiar[] = [
    ['a body ended by the connection, cut', closing(`HTTP/1.0 200 OK\r\n\r\n${body.slice(0, -20)}`)],
    ['gzip, cut', encoded('gzip', gzipSync(body).subarray(0, -10))],
    ['gzip that is none', encoded('gzip', Buffer.from(body))],
    ['an unknown encoding', encoded('secret', Buffer.from('\x01\x02\x03'))],
    ['HTTP/2 without being asked', closing('HTTP/2 200 OK\r\n\r\n')],
    [
      'a switch of protocols',
      (exchange) => exchange.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
  ]
  testOnRows(
    '%s › moves on',
    refused.map(([words, script]) => ({ words, scripts: [script, good()] })),
    async (row) => {
      expect((await row.ask()).content).toBe(goodText())
      expect(row.hits()).toEqual([1, 1])
    },
    { every: { timeouts: { attempt_ms: 500 } } },
  )

  test('two answers to one request › the second is discarded', async () => {
    const twice = Buffer.concat([reply(200, body), reply(200, JSON.stringify(completion('smuggled')))])
    await using rig = await startRig([(exchange) => exchange.write(twice), good()])
    const answers = await Promise.all(Array.from({ length: 4 }, () => rig.ask()))
    const later = [await rig.ask(), await rig.ask()]
    expect(
      [...answers, ...later].map(({ content }) => content).filter((content) => content !== goodText({ name: 'a' })),
    ).toEqual([])
  })
})

describe('a client that speaks HTTP in its own way', () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await startRig([good()])
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  const text = JSON.stringify(question())

  test('Expect: 100-continue › is answered', async () => {
    const client = rawConnection(
      rig.service.port,
      rawChat('', { 'content-length': String(text.length), expect: '100-continue', connection: 'close' }),
    )
    await Promise.race([client.until('100 Continue'), Bun.sleep(300)])
    client.socket.write(text)
    expect(await client.response).toContain('200 OK')
  })

  test('pipelined requests › are answered in order, or not at all: Bun closes such a connection', async () => {
    const first = JSON.stringify(question({ messages: [{ role: 'user', content: 'stream=first tokens=2' }] })),
      second = JSON.stringify(question({ messages: [{ role: 'user', content: 'stream=second tokens=2' }] }))
    const response = await rawRequest(rig.service.port, rawChat(first) + rawChat(second, { connection: 'close' }))
    const isInOrder = response.indexOf('first-1') > 0 && response.indexOf('second-1') > response.indexOf('first-1')
    expect(response === '' || isInOrder).toBe(true)
  })

  test('a connection used again after errors and streams › stays usable', async () => {
    const client = rawConnection(rig.service.port, rawChat('{'), 3_000)
    await client.until('invalid_json')
    client.socket.write(rawChat(JSON.stringify(question({ stream: true }))))
    await client.until('[DONE]')
    client.socket.write(
      rawChat(JSON.stringify(question({ messages: [{ role: 'user', content: 'stream=last tokens=1' }] })), {
        connection: 'close',
      }),
    )
    expect(await client.response).toContain('last-0')
  })

  test('chunked pieces of a body › are put together', async () => {
    const pieces = [...text].map((character) => `1\r\n${character}\r\n`).join('')
    expect(
      await rawRequest(
        rig.service.port,
        'POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n' +
          `connection: close\r\n\r\n${pieces}0\r\n\r\n`,
      ),
    ).toContain('200 OK')
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', undefined])(
    'content type %p › does not matter: the body is JSON',
    async (type) => {
      const headers = type === undefined ? {} : { 'content-type': type }
      expect((await chat(rig.service.url, text, { headers })).status).toBe(200)
    },
  )

  const url = () => `${rig.service.url}/v1/chat/completions`
  const preflight = (origin: string) =>
    fetch(url(), {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-stainless-os',
      },
    })

  test.each(['http://localhost:3000', 'app://obsidian.md'])(
    'a page of %s › may ask, without credentials',
    async (origin) => {
      const { ok, headers } = await preflight(origin)
      const names = ['access-control-allow-origin', 'access-control-allow-credentials', 'vary']
      expect([ok, ...names.map((name) => headers.get(name))]).toEqual([
        true,
        origin,
        null,
        expect.stringMatching(/origin/i),
      ])
      expect(headers.get('access-control-allow-headers')).toContain('x-stainless-os')
      const answer = await chat(rig.service.url, text, { headers: { origin } })
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin])
    },
  )

  test.each(['https://page.example', 'null'])(
    'a page of %s › may not: nothing is asked of a provider',
    async (origin) => {
      rig.upstreams[0]?.forget()
      for (const response of [
        await preflight(origin),
        await fetch(url(), { method: 'POST', body: text, headers: { origin, 'content-type': 'text/plain' } }),
        await fetch(`${rig.service.url}/v1/models`, { headers: { origin } }),
        await fetch(`${rig.service.url}/health`, { headers: { origin } }),
      ]) {
        expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([403, null])
        expect(pick(await response.json(), 'error')).toMatchObject({
          type: 'permission_error',
          code: 'origin_not_allowed',
        })
      }
      expect(rig.hits()).toEqual([0])
    },
  )

  test('a page of another origin › is refused before the body is read', async () => {
    const head = rawChat('', { 'content-length': '1000', origin: 'https://page.example', connection: 'close' })
    expect(await rawRequest(rig.service.port, head)).toContain('origin_not_allowed')
  })
})
