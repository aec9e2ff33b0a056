import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { HandlerContext } from '../handler-context.ts'
import { languageOf, pageRoutes, type PageFile } from './page-files.ts'

function fileOf(text: string, type: string): PageFile {
  const bytes = (form: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(`${form} ${text}`)
  return { type, plain: bytes('plain'), gzip: bytes('gzip'), brotli: bytes('brotli') }
}

const files = {
  indexes: new Map([
    ['en', fileOf('index', 'text/html; charset=utf-8')],
    ['de', fileOf('Seite', 'text/html; charset=utf-8')],
  ]),
  assets: new Map([['/assets/main-1.js', fileOf('main', 'text/javascript; charset=utf-8')]]),
  parts: new Map<string, Readonly<Record<string, string>>>(),
}

function context(path: string, headers: Readonly<Record<string, string>> = {}): HandlerContext {
  return {
    request: new Request(`http://127.0.0.1${path}`, { headers }),
    path,
    id: 'id-1',
    caller: {},
    started: 0,
    address: () => '',
    peerPort: () => undefined,
    currentCaller: async () => ({}),
    keepOpen() {},
    resetIdleLimit() {},
    extendIdleLimit() {},
    drop() {},
  }
}

const {
  front,
  routes: [asset],
} = pageRoutes({ files: async () => files, hasAvatars: () => false })
const ask = async (headers: Readonly<Record<string, string>> = {}, path = '/assets/main-1.js'): Promise<Response> => {
  if (asset === undefined) throw new Error('there is no route')
  return asset.handle(context(path, headers))
}

describe('an asset', () => {
  test('is cached for ever, since other content has another name', async () => {
    const response = await ask()
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  })

  test.each([
    [undefined, 'plain'],
    ['', 'plain'],
    ['gzip', 'gzip'],
    ['br', 'brotli'],
    ['gzip, deflate, br', 'brotli'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.0,gzip;q=0.000', 'plain'],
    ['BR', 'brotli'],
    ['br;q=0.5', 'brotli'],
    ['brx, xgzip', 'plain'],
    ['gzip ; q=1.0', 'gzip'],
    ['identity', 'plain'],
    ['br;q=', 'brotli'],
  ])('for Accept-Encoding %p is sent %s', async (accepted, form) => {
    const response = await ask(accepted === undefined ? {} : { 'accept-encoding': accepted })
    expect(await response.text()).toBe(`${form} main`)
    expect(response.headers.get('content-encoding')).toBe({ plain: null, gzip: 'gzip', brotli: 'br' }[form] ?? null)
    expect(response.headers.get('vary')).toContain('accept-encoding')
  })

  test('is sent at once, also for a long Accept-Encoding', async () => {
    const started = performance.now()
    for (const each of [',', 'x ', 'br;q=0,', 'gzip;q=0.0, '])
      expect(await (await ask({ 'accept-encoding': each.repeat(8_000) })).text()).toBe('plain main')
    expect(performance.now() - started).toBeLessThan(500)
  })

  test('that is not there is not found', async () => {
    for (const path of ['/assets/main-2.js', '/assets/', '/assets/../x', '/assets/constructor'])
      expect(ask({}, path)).rejects.toMatchObject({ status: 404 })
  })
})

describe('the page', () => {
  test('is revalidated each time', async () => {
    const response = await front(context('/', { 'accept-encoding': 'br' }))
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('vary')).toBe('accept, accept-encoding, accept-language, cookie')
    const etag = response.headers.get('etag') ?? ''
    const again = await front(context('/', { 'accept-encoding': 'br', 'if-none-match': `"x", W/${etag}` }))
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await front(context('/', { 'if-none-match': etag }))).status).toBe(200)
  })

  test('has the language that the person chose, else that of the browser', async () => {
    const textFor = async (headers: Readonly<Record<string, string>>) => (await front(context('/', headers))).text()
    expect(await textFor({ 'accept-language': 'de-AT, en;q=0.5' })).toBe('plain Seite')
    expect(await textFor({ 'accept-language': 'de', cookie: 'svc-language=en' })).toBe('plain index')
    expect(await textFor({})).toBe('plain index')
  })

  test('may run only its own scripts, and not be framed', async () => {
    const policy = (await front(context('/'))).headers.get('content-security-policy') ?? ''
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "connect-src 'self'",
      "frame-src 'self'",
      "manifest-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types offline',
    ])
  })

  test('shows images of other sites only with avatars', async () => {
    const signedIn = pageRoutes({ files: async () => files, hasAvatars: () => true })
    expect((await signedIn.front(context('/'))).headers.get('content-security-policy')).toContain(
      "img-src 'self' data: blob: https:;",
    )
  })

  test('that could not be built is an error', async () => {
    const none = pageRoutes({ files: async () => undefined, hasAvatars: () => false })
    const response = await none.front(context('/'))
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ error: { code: 'page_not_built' } })
  })
})

const languages = ['en', 'de']
const of = (accepted: string, cookie = ''): string =>
  languageOf(new Headers({ 'accept-language': accepted, cookie }), languages)

describe('the language of the page', () => {
  test.each([
    ['', 'en'],
    ['de', 'de'],
    ['de-AT', 'de'],
    ['DE-de, en;q=0.9', 'de'],
    ['fr, de;q=0.5, en;q=0.4', 'de'],
    ['en;q=0.8, de;q=0.9', 'de'],
    ['de, en', 'de'],
    ['en, de', 'en'],
    ['de;q=0', 'en'],
    ['de;q=0, en;q=0.1', 'en'],
    ['fr, *', 'en'],
    ['den', 'en'],
    ['de;q=x', 'en'],
    ['zh-Hant-TW, de-CH-1996;q=0.3', 'de'],
  ])('for Accept-Language %j is %s', (accepted, language) => expect(of(accepted)).toBe(language))

  test.each([
    ['svc-language=de', 'de'],
    ['token=x; svc-language=de', 'de'],
    ['svc-language=de; token=x', 'de'],
    ['svc-language=fr', 'en'],
    ['x-svc-language=de', 'en'],
    ['svc-language=de-x', 'en'],
    ['svc-language=__proto__', 'en'],
  ])('is that of the cookie, if it exists: %j', (cookie, language) => expect(of('en', cookie)).toBe(language))

  test('is one that exists for any headers, and is found at once in long ones', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const headers = { get: (name: string) => (name === 'cookie' ? one : other) }
        expect(languages).toContain(languageOf(Object.assign(new Headers(), headers), languages))
      }),
    )
    for (const each of [',', ' ', 'de;q=0,', 'a-', 'de;q=0.0000', ';']) expect(of(each.repeat(8_000))).toBe('en')
  })
})
