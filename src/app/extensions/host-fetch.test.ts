import { afterAll, describe, expect, test } from 'bun:test'
import { httpClient } from '../../transport/http-client.ts'
import { hostFetch } from './host-fetch.ts'

const transport = httpClient()
const ask = hostFetch(transport, {})
const usual = {
  method: 'GET',
  headers: { accept: 'application/json', 'user-agent': 'svc' },
  timeoutMs: 2_000,
  bytesMax: 1_000,
} as const

const seen: { readonly method: string; readonly path: string; readonly body: string; readonly agent: string | null }[] =
  []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    seen.push({
      method: request.method,
      path: pathname + search,
      body: await request.text(),
      agent: request.headers.get('user-agent'),
    })
    switch (pathname) {
      case '/redirect':
        return new Response(null, { status: 302, headers: { location: '/elsewhere' } })
      case '/large':
        return new Response('x'.repeat(2_000))
      case '/none':
        return new Response(null, { status: 204 })
      case '/hang':
        return new Promise<Response>(() => undefined)
      case '/drip':
        return new Response(
          new ReadableStream({
            async pull(controller) {
              await Bun.sleep(5)
              controller.enqueue(new Uint8Array(1))
            },
          }),
        )
      default:
        return Response.json({ ok: true }, { headers: { 'x-own': 'a' } })
    }
  },
})
const base = `http://127.0.0.1:${server.port}`
afterAll(async () => {
  transport.close()
  await server.stop(true)
})

describe('an extension’s fetch', () => {
  test('brings status, headers and body', async () => {
    const response = await ask(`${base}/a?b=c`, usual)
    expect(response.status).toBe(200)
    expect(response.headers.get('x-own')).toBe('a')
    expect(await response.json()).toEqual({ ok: true })
    expect(seen.at(-1)).toEqual({ method: 'GET', path: '/a?b=c', body: '', agent: 'svc' })
  })

  test('sends a body', async () => {
    await ask(`${base}/token`, {
      ...usual,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'code=ä',
    })
    expect(seen.at(-1)).toMatchObject({ method: 'POST', path: '/token', body: 'code=ä' })
  })

  test('follows no redirect', async () => {
    const count = seen.length
    const response = await ask(`${base}/redirect`, usual)
    expect(response.status).toBe(302)
    expect(seen).toHaveLength(count + 1)
  })

  test('brings answers without a body', async () => {
    expect((await ask(`${base}/none`, usual)).status).toBe(204)
  })

  test('fails for a body that is too large', async () => {
    await expect(ask(`${base}/large`, usual)).rejects.toMatchObject({ kind: 'too_large' })
  })

  test.each(['/hang', '/drip'])('fails at its timeout: %s', async (path) => {
    const started = performance.now()
    await expect(ask(`${base}${path}`, { ...usual, timeoutMs: 100, bytesMax: 1_000_000 })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
    expect(performance.now() - started).toBeLessThan(1_500)
  })

  test('reports a failed connection without the address', async () => {
    const error = await ask('http://127.0.0.1:9/secret-path', usual).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'connect' })
    expect(String(error)).not.toContain('secret-path')
  })

  test('refuses a header that would split the request', async () => {
    await expect(ask(base, { ...usual, headers: { authorization: 'a\r\nx: y' } })).rejects.toThrow('authorization')
  })
})
