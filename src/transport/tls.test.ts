import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { headerBlock } from './header-block.ts'
import { httpClient } from './http-client.ts'
import { eventually, rawUpstream, type RawUpstream } from './testing.ts'
import { TransportError, type UpstreamRequest } from './transport.ts'

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const never = new AbortController().signal
let folder = ''

beforeAll(() => {
  if (Bun.which('openssl') === null)
    throw new Error('These tests make their certificates with openssl: install it (apt-get install openssl).')
  folder = mkdtempSync(join(tmpdir(), 'svc-tls-'))
  openssl(
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -subj /CN=ca -days 2',
  )
  openssl(
    'req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes ' +
      '-keyout server.key -out server.csr -subj /CN=localhost',
  )
  certify('good', 'DNS:localhost,IP:127.0.0.1,IP:::1', '2')
  certify('wrong', 'DNS:other.test,IP:127.0.0.2', '2')
  certify('expired', 'DNS:localhost,IP:127.0.0.1', '-1')
  openssl(
    'req -x509 -key server.key -out self-signed.pem -subj /CN=localhost ' +
      '-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -days 2',
  )
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

function openssl(command: string): void {
  const run = Bun.spawnSync(['openssl', ...command.split(' ')], { cwd: folder })
  if (!run.success) throw new Error(`openssl ${command}: ${run.stderr.toString()}`)
}

function certify(name: string, alternativeNames: string, days: string): void {
  void Bun.spawnSync(['sh', '-c', 'printf "subjectAltName=%s" "$0" >extensions', alternativeNames], { cwd: folder })
  openssl(
    'x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial ' +
      `-out ${name}.pem -extfile extensions -days ${days}`,
  )
}

function file(name: string): string {
  return readFileSync(join(folder, name), 'utf8')
}

function upstream(certificate: string): RawUpstream {
  const server = rawUpstream((connection) => connection.write(ok), {
    tls: { key: file('server.key'), cert: file(`${certificate}.pem`) },
  })
  cleanUps.push(server.stop)
  return server
}

function post(server: RawUpstream, more: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    origin: { ...server.origin, secure: true },
    method: 'POST',
    path: '/',
    headers: headerBlock({}),
    body: [Buffer.from('secret')],
    connectMs: 1_000,
    bodyBytesMax: 1_000,
    ...more,
  }
}

async function ask(
  request: UpstreamRequest,
  certificateAuthorities: string | undefined = file('ca.pem'),
): Promise<string> {
  const transport = httpClient(certificateAuthorities === undefined ? {} : { certificateAuthorities })
  cleanUps.push(transport.close)
  try {
    const { body } = await transport.request(request, never)
    return Buffer.from(await body.readAll()).toString()
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    expect(transport.connections.active + transport.connections.idle).toBe(0)
    return error.kind
  }
}

describe('an upstream over TLS', () => {
  test.each(['127.0.0.1', 'localhost'])('at %s is asked when its certificate is good', async (hostname) => {
    const server = upstream('good')
    expect(await ask(post(server, { origin: { ...server.origin, hostname } }))).toBe('ok')
    expect(server.requests.length).toBe(1)
  })

  test.each([
    ['good', 'is signed by an unknown authority', '' as const],
    ['self-signed', 'is signed by itself', 'ca' as const],
    ['wrong', 'is for another name', 'ca' as const],
    ['expired', 'has expired', 'ca' as const],
  ])('whose certificate (%s) %s gets no request', async (certificate, _, authority) => {
    const server = upstream(certificate)
    for (const hostname of ['127.0.0.1', 'localhost']) {
      const request = post(server, { origin: { ...server.origin, hostname } })
      const transport = httpClient(authority === 'ca' ? { certificateAuthorities: file('ca.pem') } : {})
      const error: unknown = await transport.request(request, never).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ kind: 'tls' })
      expect(transport.connections.active).toBe(0)
    }
    await eventually(() => server.connections.every((connection) => connection.isClosed))
    expect(server.connections.every((connection) => connection.bytes === 0)).toBe(true)
  })

  test('that speaks plain HTTP gets no request', async () => {
    const server = rawUpstream(() => {}, {
      received: (connection) => connection.write('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'),
    })
    cleanUps.push(server.stop)
    expect(await ask(post(server))).toBe('tls')
  })

  test('that closes inside the handshake fails TLS', async () => {
    const server = rawUpstream(() => {}, { received: ({ socket }) => void socket.end() })
    cleanUps.push(server.stop)
    expect(await ask(post(server))).toBe('tls')
  })

  test('gets 20 MB and is used again', async () => {
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: { key: file('server.key'), cert: file('good.pem') },
      fetch: async (request) => new Response(String(Bun.hash(await request.bytes()))),
    })
    cleanUps.push(() => void server.stop(true))
    const transport = httpClient({ certificateAuthorities: file('ca.pem') })
    cleanUps.push(transport.close)
    const body = Buffer.alloc(20_000_000, 'abcdefg')
    const origin = { secure: true, hostname: 'localhost', port: server.port ?? 0 }
    const request: UpstreamRequest = {
      origin,
      method: 'POST',
      path: '/',
      headers: headerBlock({}),
      body: [body.subarray(0, 3), body.subarray(3)],
      connectMs: 1_000,
      bodyBytesMax: 1_000,
    }
    for (let index = 0; index < 2; index++) {
      const response = await transport.request(request, never)
      expect(Buffer.from(await response.body.readAll()).toString()).toBe(String(Bun.hash(body)))
    }
    expect(transport.connections.idle).toBe(1)
  })

  test('names itself with SNI, but not by an address', async () => {
    const names: string[] = []
    const { createServer } = await import('node:tls')
    const server = createServer({ key: file('server.key'), cert: file('good.pem') }, (socket) => {
      names.push(String(socket.servername))
      socket.on('error', () => {})
      socket.on('data', () => socket.write(ok))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanUps.push(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const request = post(upstream('good'), { origin: { secure: true, hostname: 'localhost', port } })
    expect(await ask(request)).toBe('ok')
    expect(await ask({ ...request, origin: { secure: true, hostname: '127.0.0.1', port } })).toBe('ok')
    expect(names).toEqual(['localhost', 'false'])
  })

  test('may be certified by an authority of NODE_EXTRA_CA_CERTS', async () => {
    const server = upstream('good')
    const script = `
      import { httpClient } from ${JSON.stringify(`${import.meta.dir}/http-client.ts`)}
      const origin = { secure: true, hostname: 'localhost', port: ${server.origin.port} }
      const request = { origin, method: 'GET', path: '/', headers: '', body: [], connectMs: 1000, bodyBytesMax: 9 }
      const { body } = await httpClient().request(request, new AbortController().signal)
      console.log(Buffer.from(await body.readAll()).toString())
      process.exit()`
    const child = Bun.spawn([process.execPath, '-e', script], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') },
    })
    expect((await new Response(child.stdout).text()).trim()).toBe('ok')
  })
})
