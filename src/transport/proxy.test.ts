import { afterEach, describe, expect, test } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'
import { makeCertificate } from '../../test/fakes/certificates.ts'
import { headerBlock } from './header-block.ts'
import { httpClient } from './http-client.ts'
import { TransportError, type HttpProxy, type Origin, type UpstreamRequest } from './transport.ts'

const authority = makeCertificate({ host: 'authority', isAuthority: true })
const certificate = makeCertificate({ host: 'localhost', issuer: authority })
const ca = authority.cert
const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

/** A proxy that reads the head of one request on each connection, then calls `act`. */
async function proxyThat(act: (socket: Socket, head: string) => void): Promise<HttpProxy & { heads: string[] }> {
  const heads: string[] = []
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    let head = ''
    const onData = (bytes: Buffer): void => {
      head += bytes.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      socket.off('data', onData)
      socket.pause()
      heads.push(head)
      act(socket, head)
    }
    socket.on('data', onData)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const address = server.address()
  return { hostname: '127.0.0.1', port: typeof address === 'object' && address !== null ? address.port : 0, heads }
}

/** Joins the connection with the server that CONNECT names. */
function tunnel(socket: Socket, head: string): void {
  const upstream = connect(Number(/:(\d+) HTTP/.exec(head)?.[1]), '127.0.0.1')
  upstream.on('error', () => socket.destroy())
  upstream.pipe(socket)
  socket.pipe(upstream)
  socket.on('close', () => upstream.destroy())
}

function opened(line: string): (socket: Socket, head: string) => void {
  return (socket, head) => {
    socket.write(line)
    tunnel(socket, head)
  }
}

const established = 'HTTP/1.1 200 Connection established\r\n\r\n'

function secureUpstream(clientCa?: string): Origin {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: {
      key: certificate.key,
      cert: certificate.cert,
      ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
    },
    fetch: async (request) => new Response(`${new URL(request.url).pathname} ${(await request.bytes()).length}`),
  })
  cleanUps.push(() => void server.stop(true))
  return { secure: true, hostname: 'localhost', port: server.port ?? 0, tls: { ca } }
}

async function ask(origin: Origin, more: Partial<UpstreamRequest> = {}): Promise<string> {
  const transport = httpClient()
  cleanUps.push(transport.close)
  const request: UpstreamRequest = {
    ...{ origin, method: 'POST', path: '/v1/x', headers: headerBlock({}), body: [Buffer.from('abc')] },
    ...{ connectMs: 300, bodyBytesMax: 1_000_000 },
    ...more,
  }
  try {
    const { status, body } = await transport.request(request, new AbortController().signal)
    const text = Buffer.from(await body.readAll()).toString()
    return status === 200 ? text : String(status)
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    expect(transport.connections.active).toBe(0)
    return `${error.kind}: ${error.message}`
  }
}

describe('a secure upstream behind a proxy', () => {
  test.each([
    ['HTTP/1.1', established],
    ['HTTP/1.0, as tinyproxy', 'HTTP/1.0 200 Connection established\r\nproxy-agent: t\r\n\r\n'],
    ['any 2xx', 'HTTP/1.1 204 Fine\r\n\r\n'],
  ])('is asked through a tunnel: %s', async (_, line) => {
    const proxy = await proxyThat(opened(line))
    const origin = secureUpstream()
    expect(await ask({ ...origin, proxy: { ...proxy, authorization: 'Basic eDp5' } })).toBe('/v1/x 3')
    const target = `localhost:${origin.port}`
    expect(proxy.heads).toEqual([
      `CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\nproxy-authorization: Basic eDp5\r\n\r\n`,
    ])
  })

  test('takes a head that comes byte by byte', async () => {
    const proxy = await proxyThat(async (socket, head) => {
      for (const sign of established) {
        socket.write(sign)
        await Bun.sleep(1)
      }
      tunnel(socket, head)
    })
    expect(await ask({ ...secureUpstream(), proxy })).toBe('/v1/x 3')
  })

  test('keeps its connection for the next request, and gets 20 MB', async () => {
    const proxy = await proxyThat(opened(established))
    const origin = { ...secureUpstream(), proxy }
    const transport = httpClient()
    cleanUps.push(transport.close)
    const request = { origin, method: 'POST', path: '/', headers: headerBlock({}), connectMs: 1_000 } as const
    for (let round = 0; round < 2; round++) {
      const body = [Buffer.alloc(20_000_000)]
      const answer = await transport.request({ ...request, body, bodyBytesMax: 99 }, new AbortController().signal)
      expect(Buffer.from(await answer.body.readAll()).toString()).toBe('/ 20000000')
    }
    expect(proxy.heads).toHaveLength(1)
  })

  test.each([
    ['407', 'HTTP/1.0 407 No\r\n\r\n<h1>No</h1>', 'proxy_credential: the proxy refused the credentials'],
    ['401', 'HTTP/1.0 401 No\r\n\r\n', 'proxy_credential: the proxy refused the credentials'],
    ['503', 'HTTP/1.1 503 No\r\n\r\n', 'proxy: the proxy answered 503'],
    ['no HTTP', 'SSH-2.0-x\r\n\r\n', 'proxy: the proxy did not answer CONNECT'],
    ['bytes behind the head', `${established}x`, 'proxy: the proxy did not answer CONNECT'],
    [
      'a megabyte of headers',
      `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(200_000)}`,
      'proxy: the proxy did not answer CONNECT',
    ],
    ['nothing', '', 'proxy_timeout: the proxy did not answer within 300 ms'],
    ['half a head', 'HTTP/1.1 200 OK\r\n', 'proxy_timeout: the proxy did not answer within 300 ms'],
  ])('fails when the proxy answers with %s', async (_, answer, expected) => {
    const proxy = await proxyThat((socket) => void socket.write(answer))
    expect(await ask({ ...secureUpstream(), proxy })).toBe(expected)
  })

  test('fails when the proxy closes, is away, or joins it with another server', async () => {
    const closing = await proxyThat((socket) => void socket.end())
    expect(await ask({ ...secureUpstream(), proxy: closing })).toBe('proxy: the proxy did not answer CONNECT')
    const proxy = { hostname: '127.0.0.1', port: 1 }
    expect(await ask({ ...secureUpstream(), proxy })).toBe('proxy: the proxy could not be reached')
    const other = await proxyThat(opened(established))
    expect(await ask({ ...secureUpstream(), hostname: 'other.test', proxy: other })).toStartWith('tls: ')
    const silent = await proxyThat((socket) => void socket.write(established))
    expect(await ask({ ...secureUpstream(), proxy: silent })).toStartWith('tls_timeout: ')
  })

  test('shows its certificate to an upstream that wants one', async () => {
    const { cert, key } = makeCertificate({ host: 'client', issuer: authority })
    const origin = secureUpstream(ca)
    const proxy = await proxyThat(opened(established))
    for (const way of [{}, { proxy }]) {
      expect(await ask({ ...origin, tls: { ca, cert, key }, ...way })).toBe('/v1/x 3')
      expect(await ask({ ...origin, ...way })).not.toBe('/v1/x 3')
    }
  })
})

describe('a plain upstream behind a proxy', () => {
  const plain: Origin = { secure: false, hostname: 'models.test', port: 8080 }
  const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

  test('is asked with a whole URL, and no name is looked up here', async () => {
    const proxy = await proxyThat((socket) => void socket.write(answer))
    expect(await ask({ ...plain, proxy: { ...proxy, authorization: 'Basic eDp5' } })).toBe('ok')
    expect(proxy.heads[0]).toStartWith('POST http://models.test:8080/v1/x HTTP/1.1\r\nhost: models.test:8080\r\n')
    expect(proxy.heads[0]).toContain('\r\nproxy-authorization: Basic eDp5\r\n')
  })

  test('passes on what the upstream answers, but not the refusal of the proxy', async () => {
    const refusing = await proxyThat((socket) => void socket.write('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n'))
    expect(await ask({ ...plain, proxy: refusing })).toBe('proxy_credential: the proxy refused the credentials')
    const failing = await proxyThat((socket) => void socket.write('HTTP/1.1 502 No\r\ncontent-length: 0\r\n\r\n'))
    expect(await ask({ ...plain, proxy: failing })).toBe('502')
  })
})
