import { afterEach, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { headerBlock } from './header-block.ts'
import { httpClient } from './http-client.ts'
import { eventually, rawUpstream, type RawUpstream } from './testing.ts'
import { TransportError, type Origin, type Transport, type UpstreamRequest } from './transport.ts'

const headers = headerBlock({ 'content-type': 'application/json' })
const never = new AbortController().signal
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

function upstream(...parameters: Parameters<typeof rawUpstream>): RawUpstream {
  const started = rawUpstream(...parameters)
  cleanUps.push(started.stop)
  return started
}

function client(): Transport {
  const made = httpClient()
  cleanUps.push(made.close)
  return made
}

function post(origin: Origin, more: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    origin,
    method: 'POST',
    path: '/v1/chat/completions',
    headers,
    body: [Buffer.from('{"a":1}')],
    connectMs: 1_000,
    bodyBytesMax: 1_000_000,
    ...more,
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}

/** The kind of the transport error a promise rejects with. */
async function kindOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'no error'
  } catch (error) {
    return error instanceof TransportError ? error.kind : String(error)
  }
}

async function exchange(transport: Transport, request: UpstreamRequest, signal = never): Promise<string> {
  const response = await transport.request(request, signal)
  return text(await response.body.readAll())
}

describe('a request', () => {
  test('is written as one head with its body', async () => {
    const server = upstream((connection) => connection.write(ok))
    await exchange(client(), post(server.origin, { body: [Buffer.from('{"a"'), Buffer.from(':1}')] }))
    expect(server.requests).toEqual([
      [
        'POST /v1/chat/completions HTTP/1.1',
        `host: 127.0.0.1:${server.origin.port}`,
        'accept-encoding: identity',
        'content-type: application/json',
        'content-length: 7',
        '',
        '{"a":1}',
      ].join('\r\n'),
    ])
  })

  test('without a body has a length only when it is a POST', async () => {
    const server = upstream((connection) => connection.write(ok))
    const transport = client()
    await exchange(
      transport,
      post(server.origin, { method: 'GET', path: '/v1/models', body: [], headers: headerBlock({}) }),
    )
    await exchange(transport, post(server.origin, { body: [], headers: headerBlock({}) }))
    expect(server.requests[0]).toBe(
      `GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1:${server.origin.port}\r\naccept-encoding: identity\r\n\r\n`,
    )
    expect(server.requests[1]).toEndWith('\r\ncontent-length: 0\r\n\r\n')
  })

  test('is never written with the head of another', async () => {
    const server = upstream((connection) => connection.write(ok))
    const transport = client()
    const body = [Buffer.from('1')]
    for (const more of [
      { body },
      { body, path: '/x' },
      { body, path: '/x', headers: headerBlock({ a: 'b' }) },
      { body, path: '/x', headers: headerBlock({ a: 'b' }), method: 'GET' as const },
    ]) {
      await exchange(transport, post(server.origin, more))
    }
    const start = (line: string): string =>
      `${line} HTTP/1.1\r\nhost: 127.0.0.1:${server.origin.port}\r\naccept-encoding: identity\r\n`
    expect(server.requests).toEqual([
      `${start('POST /v1/chat/completions')}content-type: application/json\r\ncontent-length: 1\r\n\r\n1`,
      `${start('POST /x')}content-type: application/json\r\ncontent-length: 1\r\n\r\n1`,
      `${start('POST /x')}a: b\r\ncontent-length: 1\r\n\r\n1`,
      `${start('GET /x')}a: b\r\ncontent-length: 1\r\n\r\n1`,
    ])
  })

  test.each(['no-slash', '/a b', '/a\r\nx: y', '/ü', ''])('with the path %j is refused', (path) => {
    expect(
      client().request(post({ secure: false, hostname: '127.0.0.1', port: 1 }, { path }), never),
    ).rejects.toBeInstanceOf(TypeError)
  })

  test('of 20 MB arrives whole', async () => {
    const body = Buffer.alloc(20_000_000)
    for (let index = 0; index < body.length; index += 4) body.writeUInt32LE(index, index)
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request) => new Response(String(Bun.hash(await request.bytes()))),
    })
    cleanUps.push(() => void server.stop(true))
    const origin = { secure: false, hostname: '127.0.0.1', port: server.port ?? 0 }
    expect(
      await exchange(
        client(),
        post(origin, { body: [body.subarray(0, 10), body.subarray(10, 5_000_000), body.subarray(5_000_000)] }),
      ),
    ).toBe(String(Bun.hash(body)))
  })
})

describe('a response', () => {
  const cases: readonly [string, string, string][] = [
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
    ['with a length of nothing', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', ''],
    ['with the same length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\nhello', 'hello'],
    [
      'in chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nt: x\r\n\r\n',
      'hello',
    ],
    [
      'in chunks that also has a length',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
      'hello',
    ],
    ['that ends with the connection', 'HTTP/1.1 200 OK\r\n\r\nhello', 'hello'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello', 'hello'],
    ['without a reason', 'HTTP/1.1 200\r\ncontent-length: 5\r\n\r\nhello', 'hello'],
    ['of 204 with a Content-Length', 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n', ''],
    ['of 304', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n', ''],
    [
      'after informational ones',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n' +
        'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello',
      'hello',
    ],
    [
      'after exactly 20 informational ones',
      `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(20)}HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello`,
      'hello',
    ],
    [
      'after 21 informational ones',
      `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(21)}HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello`,
      'informational',
    ],
    ['that is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'malformed'],
    ['of HTTP/2', 'HTTP/2 200 OK\r\n\r\n', 'malformed'],
    ['that switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n', 'malformed'],
    ['with different lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!', 'malformed'],
    ['with a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello', 'malformed'],
    [
      'with a transfer encoding of gzip',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
      'malformed',
    ],
    ['with a NUL in its head', 'HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n', 'malformed'],
    ['with a folded header', 'HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n', 'malformed'],
    ['with a space before a colon', 'HTTP/1.1 200 OK\r\ncontent-length : 0\r\n\r\n', 'malformed'],
    [
      'with a chunk size that overflows',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n',
      'malformed',
    ],
    [
      'with a chunk longer than its size',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n',
      'malformed',
    ],
    ['with a head above 64 KiB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`, 'malformed'],
    ['with more than 1,000 headers', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(1_001)}\r\n`, 'malformed'],
    ['with a length above the limit', 'HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n', 'too_large'],
    [
      'with chunks above the limit',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\n`,
      'too_large',
    ],
    ['without an end above the limit', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1_001)}`, 'too_large'],
    ['that is nothing', '', 'reset'],
    ['that is half a head', 'HTTP/1.1 200 OK\r\ncontent-le', 'reset'],
    ['shorter than its length', 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello', 'short_body'],
    ['without its last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', 'short_body'],
    [
      'that cuts its last chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n',
      'short_body',
    ],
    [
      'in an unknown encoding',
      'HTTP/1.1 200 OK\r\ncontent-encoding: compress\r\ncontent-length: 5\r\n\r\nhello',
      'malformed',
    ],
    [
      'without a body in a known encoding',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 0\r\n\r\n',
      '',
    ],
  ]
  test.each(cases)('%s', async (_, answer, expected) => {
    const server = upstream((connection) => {
      connection.write(answer)
      connection.socket.end()
    })
    const transport = client()
    const answered = exchange(transport, post(server.origin, { bodyBytesMax: 1_000 }))
    expect(await answered.catch((error: unknown) => (error instanceof TransportError ? error.kind : error))).toBe(
      expected,
    )
    await eventually(() => transport.connections.active === 0)
  })

  test('has its status and lower-case headers', async () => {
    const server = upstream((connection) =>
      connection.write(
        'HTTP/1.1 429 Too Many\r\nRetry-After:  3 \r\nX-A: 1\r\nx-a: 2\r\nEmpty:\r\ncontent-length: 0\r\n\r\n',
      ),
    )
    const response = await client().request(post(server.origin), never)
    expect(response.status).toBe(429)
    expect([...response.headers]).toEqual([
      ['retry-after', '3'],
      ['x-a', '1, 2'],
      ['empty', ''],
      ['content-length', '0'],
    ])
  })

  test('reset inside its body is short, and can be read up to the reset', async () => {
    const server = upstream((connection) => {
      connection.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello')
      setTimeout(() => connection.socket.terminate(), 5)
    })
    const { body } = await client().request(post(server.origin), never)
    await Bun.sleep(10)
    expect(text((await body.read()) ?? new Uint8Array())).toBe('hello')
    expect(await kindOf(body.read())).toBe('short_body')
    expect(await kindOf(body.read())).toBe('short_body')
  })

  test('that ends with the connection says so, and reset is short', async () => {
    const server = upstream((connection) => {
      connection.write('HTTP/1.1 200 OK\r\n\r\nhello')
      setTimeout(() => connection.socket.terminate(), 5)
    })
    const { body } = await client().request(post(server.origin), never)
    expect(body.endsWithConnection).toBe(true)
    expect(await kindOf(body.readAll())).toBe('short_body')
  })

  test('is read piece by piece as it arrives', async () => {
    const server = upstream(async (connection) => {
      connection.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n')
      await Bun.sleep(4)
      connection.write('1\r\nb\r\n1\r\nc\r\n')
      await Bun.sleep(4)
      connection.write('0\r\n\r\n')
    })
    const { body } = await client().request(post(server.origin), never)
    const pieces: string[] = []
    for (let piece = await body.read(); piece !== undefined; piece = await body.read()) pieces.push(text(piece))
    expect(pieces).toEqual(['a', 'bc'])
    expect(body.endsWithConnection).toBe(false)
    expect(await body.read()).toBeUndefined()
  })

  test('keeps its bytes while others arrive: Bun gives a fresh buffer to each callback', async () => {
    const server = upstream(async (connection) => {
      connection.write('HTTP/1.1 200 OK\r\ncontent-length: 3000\r\n\r\n')
      for (const letter of 'abc') {
        connection.write(letter.repeat(1_000))
        await Bun.sleep(2)
      }
    })
    const { body } = await client().request(post(server.origin), never)
    await Bun.sleep(10)
    expect(text(await body.readAll())).toBe('a'.repeat(1_000) + 'b'.repeat(1_000) + 'c'.repeat(1_000))
  })

  test('that is compressed without being asked for is decoded', async () => {
    const compressed = gzipSync('hello').toString('latin1')
    const server = upstream((connection) =>
      connection.write(
        `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${compressed.length}\r\n\r\n${compressed}`,
      ),
    )
    const transport = client()
    expect(await exchange(transport, post(server.origin))).toBe('hello')
    expect(transport.connections.idle).toBe(1)
  })

  test('before the request was sent is delivered; the rest is not sent, the connection not reused', async () => {
    const server = upstream(() => {}, { opened: ({ socket }) => socket.pause(), received: () => {} })
    const transport = client()
    const response = transport.request(post(server.origin, { body: [Buffer.alloc(20_000_000)] }), never)
    await eventually(() => server.connections.length === 1)
    const [connection] = server.connections
    connection?.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nn')
    const { status, body } = await response
    expect(status).toBe(413)
    connection?.socket.resume()
    await eventually(() => (connection?.bytes ?? 0) > 0)
    connection?.write('o')
    expect(text(await body.readAll())).toBe('no')
    expect(transport.connections.active + transport.connections.idle).toBe(0)
    await eventually(() => connection?.isClosed === true)
    expect(connection?.bytes).toBeLessThan(20_000_000)
  })
})

describe('a connection', () => {
  async function connectionsFor(answer: string, count = 2): Promise<number> {
    const server = upstream((connection) => connection.write(answer))
    const transport = client()
    for (let index = 0; index < count; index++) await exchange(transport, post(server.origin))
    return server.connections.length
  }

  test('is used again', async () => {
    expect(await connectionsFor(ok, 5)).toBe(1)
    expect(await connectionsFor('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', 5)).toBe(1)
    expect(await connectionsFor('HTTP/1.1 204 No Content\r\n\r\n', 5)).toBe(1)
    expect(await connectionsFor('HTTP/1.1 200 OK\r\nkeep-alive: timeout=5\r\ncontent-length: 2\r\n\r\nok')).toBe(1)
  })

  test.each([
    ['that the upstream closes', 'HTTP/1.1 200 OK\r\nconnection: Close\r\ncontent-length: 2\r\n\r\nok'],
    [
      'that the upstream closes, among other words',
      'HTTP/1.1 200 OK\r\nconnection: x, close\r\ncontent-length: 2\r\n\r\nok',
    ],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok'],
    [
      'with two opinions on the length',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    ],
    ['with bytes after the response', `${ok}!`],
    [
      'that the upstream keeps for a second only',
      'HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok',
    ],
  ])('%s is not used again', async (_, answer) => {
    expect(await connectionsFor(answer)).toBe(2)
  })

  test('whose body is dropped is closed at once', async () => {
    const server = upstream((connection) => connection.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello'))
    const transport = client()
    const { body } = await transport.request(post(server.origin), never)
    body.cancel()
    body.cancel()
    expect(transport.connections.active + transport.connections.idle).toBe(0)
    await eventually(() => server.connections[0]?.isClosed === true)
    expect(await kindOf(body.read())).toBe('aborted')
  })

  test('on which bytes arrive while it is idle is closed', async () => {
    const server = upstream((connection) => connection.write(ok))
    const transport = client()
    await exchange(transport, post(server.origin))
    expect(transport.connections.idle).toBe(1)
    server.connections[0]?.write('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n')
    await eventually(() => transport.connections.idle === 0)
    expect(await exchange(transport, post(server.origin))).toBe('ok')
  })

  test('that the upstream closes while it is idle is removed', async () => {
    const server = upstream((connection) => connection.write(ok))
    const transport = client()
    await exchange(transport, post(server.origin))
    server.connections[0]?.socket.end()
    await eventually(() => transport.connections.idle === 0)
  })

  test('is used again after a body larger than what is held for a reader', async () => {
    const large = `HTTP/1.1 200 OK\r\ncontent-length: 400000\r\n\r\n${'x'.repeat(400_000)}`
    const server = upstream((connection) => connection.write(large))
    const transport = client()
    for (let index = 0; index < 3; index++) {
      const { body } = await transport.request(post(server.origin), never)
      let read = 0
      for (let piece = await body.read(); piece !== undefined; piece = await body.read()) read += piece.length
      expect(read).toBe(400_000)
    }
    expect(server.connections.length).toBe(1)
  })

  test.each(['end', 'terminate'] as const)('that dies (%s) under a second request is replaced, unseen', async (way) => {
    const server = upstream((connection, index) => (index === 1 ? connection.socket[way]() : connection.write(ok)))
    const transport = client()
    await exchange(transport, post(server.origin))
    expect(await exchange(transport, post(server.origin))).toBe('ok')
    expect(server.connections.length).toBe(2)
    expect(server.requests.length).toBe(3)
    expect(transport.connections.active).toBe(0)
    expect(transport.connections.idle).toBe(1)
  })

  test('is replaced once only', async () => {
    const server = upstream((connection, index) => (index > 0 ? connection.socket.terminate() : connection.write(ok)))
    const transport = client()
    await exchange(transport, post(server.origin))
    expect(await kindOf(exchange(transport, post(server.origin)))).toBe('reset')
    expect(server.requests.length).toBe(3)
  })

  test('that closes after the first byte of a response is not replaced', async () => {
    const server = upstream((connection, index) => {
      connection.write(index === 1 ? 'H' : ok)
      if (index === 1) connection.socket.end()
    })
    const transport = client()
    await exchange(transport, post(server.origin))
    expect(await kindOf(exchange(transport, post(server.origin)))).toBe('reset')
    expect(server.requests.length).toBe(2)
  })

  test('is one of many at once', async () => {
    const server = upstream((connection) => void setTimeout(() => connection.write(ok), 5))
    const transport = client()
    const answers = await Promise.all(Array.from({ length: 400 }, () => exchange(transport, post(server.origin))))
    expect(new Set(answers)).toEqual(new Set(['ok']))
    expect(transport.connections.active).toBe(0)
    expect(transport.connections.idle).toBe(400)
  })

  test('does not outlive the client', async () => {
    const server = upstream(
      (connection, index) => void (index === 0 ? connection.write(ok) : setTimeout(() => connection.write(ok), 5)),
    )
    const transport = client()
    await exchange(transport, post(server.origin))
    const late = exchange(transport, post(server.origin))
    const second = exchange(transport, post(server.origin))
    transport.close()
    expect(await late).toBe('ok')
    expect(await second).toBe('ok')
    await eventually(() => server.connections.every((connection) => connection.isClosed))
    expect(transport.connections.active + transport.connections.idle).toBe(0)
  })
})

describe('an aborted request', () => {
  test('that has not begun never begins', async () => {
    const server = upstream((connection) => connection.write(ok))
    expect(await kindOf(client().request(post(server.origin), AbortSignal.abort()))).toBe('aborted')
    expect(server.connections.length).toBe(0)
  })

  const phases: readonly [
    string,
    { waitsFor: (server: RawUpstream) => boolean; secure?: boolean; large?: boolean; answer?: string },
  ][] = [
    ['connecting', { secure: true, waitsFor: (server) => (server.connections[0]?.bytes ?? 0) > 0 }],
    ['sending', { large: true, waitsFor: (server) => server.connections.length > 0 }],
    ['waiting for the head', { waitsFor: (server) => server.requests.length > 0 }],
    ['inside the head', { answer: 'HTTP/1.1 20', waitsFor: (server) => server.requests.length > 0 }],
    ['reading', { answer: 'HTTP/1.1 200 OK\r\n\r\nhello', waitsFor: (server) => server.requests.length > 0 }],
  ]
  test.each(phases)(
    'drops the connection at once while %s',
    async (_, { waitsFor, secure = false, large = false, answer = '' }) => {
      const server = upstream(
        (connection) => connection.write(answer),
        large ? { received: ({ socket }) => socket.pause() } : {},
      )
      const aborter = new AbortController()
      const transport = client()
      const request = post({ ...server.origin, secure }, { body: [Buffer.alloc(large ? 20_000_000 : 10)] })
      const outcome = transport.request(request, aborter.signal).then(({ body }) => body.readAll())
      outcome.catch(() => {})
      await eventually(() => waitsFor(server))
      await Bun.sleep(3)
      const began = performance.now()
      aborter.abort()
      expect(await kindOf(outcome)).toBe('aborted')
      server.connections[0]?.socket.resume()
      await eventually(() => server.connections[0]?.isClosed === true)
      expect(performance.now() - began).toBeLessThan(50)
      expect(transport.connections.active + transport.connections.idle).toBe(0)
    },
  )

  test('drops the connection when it opens after all', async () => {
    const server = upstream((connection) => connection.write(ok))
    const aborter = new AbortController()
    const transport = client()
    const outcome = transport.request(post(server.origin), aborter.signal)
    aborter.abort()
    expect(await kindOf(outcome)).toBe('aborted')
    await eventually(() => server.connections[0]?.isClosed === true)
    expect(server.requests.length).toBe(0)
  })

  test('is detected even between connecting and sending', async () => {
    const server = upstream((connection) => connection.write(ok))
    const aborter = new AbortController()
    // The client removes its first listener when it has connected: abort then.
    const { signal } = aborter
    const removeEventListener = signal.removeEventListener.bind(signal)
    signal.removeEventListener = (...parameters: Parameters<typeof removeEventListener>) => {
      removeEventListener(...parameters)
      aborter.abort()
    }
    const transport = client()
    expect(await kindOf(transport.request(post(server.origin), signal))).toBe('aborted')
    await eventually(() => server.connections[0]?.isClosed === true)
    expect(transport.connections.active + transport.connections.idle).toBe(0)
  })

  test('has no listener left on its signal when it is over', async () => {
    const server = upstream((connection) => connection.write(ok))
    const transport = client()
    const { signal } = new AbortController()
    let listeners = 0
    const counted = new Proxy(signal, {
      get(target, key) {
        if (key === 'addEventListener') listeners++
        if (key === 'removeEventListener') listeners--
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    for (let index = 0; index < 1_000; index++) await exchange(transport, post(server.origin), counted)
    expect(listeners).toBe(0)
    await kindOf(exchange(transport, post({ secure: false, hostname: '127.0.0.1', port: 1 }), counted))
    expect(listeners).toBe(0)
  })
})

describe('an upstream', () => {
  test.each([
    ['whose name does not exist', { secure: false, hostname: 'upstream.invalid', port: 80 }, 'dns'],
    ['that refuses', { secure: false, hostname: '127.0.0.1', port: 1 }, 'connect'],
    ['that refuses over IPv6', { secure: false, hostname: '::1', port: 1 }, 'connect'],
  ])('%s', async (_, origin, kind) => {
    const transport = client()
    expect(await kindOf(transport.request(post(origin), never))).toBe(kind)
    expect(transport.connections.active).toBe(0)
  })

  test('that accepts and stays silent over TLS takes too long to connect', async () => {
    const server = upstream(() => {})
    const transport = client()
    expect(await kindOf(transport.request(post({ ...server.origin, secure: true }, { connectMs: 10 }), never))).toBe(
      'tls_timeout',
    )
    await eventually(() => server.connections[0]?.isClosed === true)
    expect(transport.connections.active).toBe(0)
  })

  test('is paused while its body is not read, and resumed afterwards', async () => {
    const block = 'x'.repeat(64 * 1024)
    let sent = 0
    const isFull = (): boolean => sent === before
    let before = -1
    const server = upstream((connection) => {
      connection.write('HTTP/1.1 200 OK\r\n\r\n')
      const timer = setInterval(() => {
        for (let index = 0; index < 64; index++) {
          const written = connection.socket.write(block)
          sent += Math.max(0, written)
          if (written < block.length) return
        }
      }, 1)
      cleanUps.push(() => clearInterval(timer))
    })
    const { body } = await client().request(post(server.origin, { bodyBytesMax: 1e12 }), never)
    for (let index = 0; index < 20 && !isFull(); index++) {
      before = sent
      await Bun.sleep(10)
    }
    expect(isFull()).toBe(true)
    expect(sent).toBeLessThan(16 * 1024 * 1024)
    for (let read = 0; read < before + 1_000_000;) read += (await body.read())?.length ?? 0
    expect(sent).toBeGreaterThan(before)
    body.cancel()
  })

  test('that sends while its body is not read and then closes is read completely', async () => {
    const size = 3_000_000
    const bytes = Buffer.alloc(size, 'y')
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(bytes, { headers: { connection: 'close' } }),
    })
    cleanUps.push(() => void server.stop(true))
    const { body } = await client().request(
      post({ secure: false, hostname: '127.0.0.1', port: server.port ?? 0 }, { bodyBytesMax: size }),
      never,
    )
    await Bun.sleep(10)
    let read = 0
    for (let piece = await body.read(); piece !== undefined; piece = await body.read()) read += piece.length
    expect(read).toBe(size)
  })

  test('is not blamed when this process has no descriptors left', async () => {
    const script = `
      import { httpClient } from ${JSON.stringify(`${import.meta.dir}/http-client.ts`)}
      const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
      const origin = { secure: false, hostname: '127.0.0.1', port: server.port }
      const request = { origin, method: 'GET', path: '/', headers: '', body: [], connectMs: 1000, bodyBytesMax: 1 }
      const aborter = new AbortController()
      setTimeout(() => aborter.abort(), 100)
      const attempt = () => httpClient().request(request, aborter.signal).catch((error) => error.kind)
      const kinds = await Promise.all(Array.from({ length: 40 }, attempt))
      console.log([...new Set(kinds)].sort().join())
      process.exit()`
    const child = Bun.spawnSync(['sh', '-c', `ulimit -n 40; exec "$0" -e "$1"`, process.execPath, script])
    expect(child.stdout.toString().trim()).toBe('aborted,resources')
  })
})
