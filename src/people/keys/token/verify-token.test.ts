import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { exportSPKI, SignJWT } from 'jose'
import {
  githubClaims,
  googleClaims,
  issuerKey,
  kubernetesClaims,
  signed,
  tokenIssuer,
  type IssuerKey,
  type TokenIssuer,
} from '../../../../test/fakes/token-issuer.ts'
import { parseAccess } from '../../../config/file/parse-access.ts'
import { WireError } from '../../../formats/error.ts'
import type { FileKey } from '../file-key.ts'
import { TokenVerifier } from './verify-token.ts'

const audience = 'https://svc.example.org'
let key: IssuerKey
let issuer: TokenIssuer
beforeAll(async () => {
  key = await issuerKey('one')
})
beforeEach(() => {
  issuer?.[Symbol.dispose]()
  issuer = tokenIssuer([key.jwk])
})
afterAll(() => issuer[Symbol.dispose]())

/** Keys of access.json with these tokens; without an issuer, that of the test. */
function keysOf(...tokens: readonly object[]): readonly FileKey[] {
  const keys = tokens.map((token, index) => ({
    name: `key${index + 1}`,
    token: { issuer: issuer.url, audience, claims: { sub: githubClaims.sub }, ...token },
  }))
  return parseAccess(JSON.stringify({ keys }), 'access.json').keys ?? []
}

function subject(keys = keysOf({})) {
  const state = { keys, elapsed: 0, now: Date.now, warnings: [] as string[] }
  const verifier = new TokenVerifier({
    fileKeys: () => state.keys,
    now: () => state.now(),
    elapsedMs: () => state.elapsed,
    fetch: (url, { method, headers }) => fetch(url, { method, headers, redirect: 'manual' }),
    warn: (message) => state.warnings.push(message),
  })
  /** The name of the key that a token proves, or status and message. */
  const verdict = async (token: string): Promise<string> => {
    try {
      return (await verifier.keyOf(token)).name
    } catch (error) {
      if (error instanceof WireError) return `${error.status} ${error.message}`
      throw error
    }
  }
  return Object.assign(state, { verifier, verdict })
}

const github = (claims: object = {}, header: object = {}) =>
  signed(key, { iss: issuer.url, aud: audience, ...githubClaims, ...claims }, header)

describe('a token proves', () => {
  test('the first key whose audience and claims fit, of GitHub, Kubernetes and Google', async () => {
    const { verdict } = subject(
      keysOf(
        { claims: { sub: 'repo:acme/app:*', environment: ['stage', 'prod'] } },
        { claims: { repository: 'acme/app' } },
        { claims: { sub: kubernetesClaims.sub }, audience: ['other', 'svc'] },
        { claims: { email: googleClaims.email } },
      ),
    )
    const of = (claims: object, aud: string | readonly string[] = audience) =>
      signed(key, { iss: issuer.url, aud: typeof aud === 'string' ? aud : [...aud], ...claims })
    expect(await verdict(await of(githubClaims))).toBe('key1')
    expect(await verdict(await of({ ...githubClaims, environment: 'lab' }))).toBe('key2')
    expect(await verdict(await of(kubernetesClaims, ['https://kubernetes.default.svc', 'svc']))).toBe('key3')
    expect(await verdict(await of(googleClaims))).toBe('key4')
    expect(await verdict(await of({ ...googleClaims, email_verified: false }))).toStartWith('401 ')
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys'])
  })

  test.each(['PS256', 'ES256', 'EdDSA'])('a key by the algorithm %s', async (alg) => {
    const other = await issuerKey('two', alg)
    issuer.keys = [key.jwk, other.jwk]
    const token = await signed(other, { iss: issuer.url, aud: audience, ...githubClaims })
    expect(await subject().verdict(token)).toBe('key1')
  })

  test('a key by a file with keys, which is read again when it has changed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-jwks-'))
    const file = join(folder, 'jwks.json')
    await Bun.write(file, JSON.stringify({ keys: [key.jwk] }))
    const state = subject(keysOf({ jwks_file: file }))
    expect(await state.verdict(await github())).toBe('key1')
    const other = await issuerKey('two', 'ES256')
    await Bun.write(file, JSON.stringify({ keys: [other.jwk], changed: true }))
    expect(await state.verdict(await signed(other, { iss: issuer.url, aud: audience, ...githubClaims }))).toBe('key1')
    expect(issuer.asked).toEqual([])
    await rm(folder, { recursive: true })
  })

  test('no key, with the reason', async () => {
    const { verdict } = subject()
    const now = Math.floor(Date.now() / 1_000)
    const other = await issuerKey('one')
    const twins = [await issuerKey('a'), await issuerKey('b')] as const
    for (const [token, reason] of [
      [await github({ aud: 'https://other.example.org' }), 'no key for its audience and its claims'],
      [await github({ aud: [] }), 'no key for its audience and its claims'],
      [await github({ sub: 'repo:evil/app:ref:refs/heads/main' }), 'no key for its audience and its claims'],
      [await github({ sub: `${githubClaims.sub}-2` }), 'no key for its audience and its claims'],
      [await github({ sub: undefined }), 'no key for its audience and its claims'],
      [await github({ iss: 'https://issuer.example.org' }), 'names no such issuer'],
      [await github({ iss: `${issuer.url}/` }), 'names no such issuer'],
      [await github({ exp: now - 31 }), 'it has expired'],
      [await github({ exp: undefined }), 'its issuer or one of its times'],
      [await github({ exp: now + 86_500 }), 'more than a day'],
      [await github({ nbf: now + 60 }), 'its issuer or one of its times'],
      [await github({ iat: now + 60 }), 'in the future'],
      [await signed(other, { iss: issuer.url, aud: audience, ...githubClaims }), 'signature or its form'],
      [await signed(twins[0], { iss: issuer.url, aud: audience, ...githubClaims }), 'no such key'],
      [await github({}, { crit: ['b64'], b64: true }), 'it has "crit"'],
      [`${(await github()).slice(0, -6)}AAAAAA`, 'signature or its form'],
    ] as const)
      expect(await verdict(token)).toMatch(new RegExp(`^401 The token is not valid: .*${reason}`))
  })

  test('no key by an algorithm without a public key, or by keys that it brings itself', async () => {
    const { verdict, verifier } = subject()
    const claims = { iss: issuer.url, aud: audience, ...githubClaims, exp: Math.floor(Date.now() / 1_000) + 60 }
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const pem = new TextEncoder().encode(await exportSPKI(key.publicKey))
    const own = await issuerKey('one')
    const at = { jku: 'https://evil.example.org/keys', x5u: 'https://evil.example.org/cert' }
    const hostile = [
      `${encoded({ alg: 'none' })}.${encoded(claims)}.`,
      `${encoded({ alg: 'None', kid: 'one' })}.${encoded(claims)}.AAAA`,
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(pem),
      await signed(own, claims, { jwk: own.jwk, ...at }),
      await signed(own, claims, { kid: '../../dev/null' }),
      `${encoded({ alg: 'RS256', kid: 'one' })}.${encoded(claims)}.${'A'.repeat(342)}`,
      `${encoded({ alg: 'RS256', kid: 'one' })}.bm90IEpTT04.AAAA`,
      `${encoded({ alg: 'RS256', kid: 'one' })}..`,
    ]
    for (const token of hostile)
      expect([token, verifier.takes(token), await verdict(token)]).toEqual([
        token,
        true,
        expect.stringMatching(/^401 The token is not valid: /),
      ])
    expect(issuer.asked.filter((path) => path !== '/keys' && !path.startsWith('/.well-known'))).toEqual([])
    const long = `${encoded({ alg: 'RS256' })}.${'A'.repeat(65_536)}.AAAA`
    expect([verifier.takes(long), await Promise.resolve(long).then(verdict)]).toEqual([
      true,
      '401 The token is not valid: it has more than 16384 characters',
    ])
  })

  test('no key by a secret that the issuer publishes by mistake', async () => {
    issuer.keys = [{ kty: 'oct', k: Buffer.alloc(32).toString('base64url'), kid: 'one', alg: 'HS256' }]
    const token = await new SignJWT({ iss: issuer.url, aud: audience, ...githubClaims, exp: 4e9 })
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .sign(new Uint8Array(32))
    expect(await subject().verdict(token)).toStartWith('401 ')
  })

  test('a key without naming its own only if one of the issuer fits', async () => {
    const token = await github({}, { kid: undefined })
    expect(await subject().verdict(token)).toBe('key1')
    issuer.keys = [key.jwk, (await issuerKey('two')).jwk]
    expect(await subject().verdict(token)).toInclude('it names no key, and its issuer has several')
  })

  test('nothing if it is none: other credentials are left to others', () => {
    const { verifier } = subject()
    fc.assert(fc.property(fc.string(), (text) => !verifier.takes(text)))
    for (const text of ['ey.a.b', 'eyJ4IjoxfQ.a.b', 'eyJhbGciOiJSUzI1NiJ9.a', 'eyJhbGciOiJSUzI1NiJ9.a.b.c', 'W10.a.b'])
      expect([text, verifier.takes(text)]).toEqual([text, false])
    expect(subject([]).verifier.takes('eyJhbGciOiJSUzI1NiJ9.a.b')).toBe(false)
  })
})

describe('a verdict', () => {
  test('is kept until the end of the token, a minute at most, and until the configuration changes', async () => {
    const state = subject()
    const token = await github()
    expect(await state.verdict(token)).toBe('key1')
    expect(state.verifier.keyOf(token)).toMatchObject({ name: 'key1' })
    const start = Date.now()
    state.now = () => start + 61_000
    const again = state.verifier.keyOf(token)
    expect([again instanceof Promise, (await again).name]).toEqual([true, 'key1'])
    state.now = Date.now
    expect(await state.verdict(token)).toBe('key1')
    state.keys = keysOf({ audience: 'https://other.example.org' })
    expect(await state.verdict(token)).toStartWith('401 ')
  })

  test('ends with its token', async () => {
    const state = subject()
    const end = Math.floor(Date.now() / 1_000) + 10
    const token = await github({ exp: end })
    expect(await state.verdict(token)).toBe('key1')
    state.now = () => (end + 1) * 1_000
    const late = state.verifier.keyOf(token)
    expect([late instanceof Promise, (await late).name]).toEqual([true, 'key1'])
    state.now = () => (end + 40) * 1_000
    expect(await state.verdict(token)).toInclude('it has expired')
  })

  test('costs a look-up when it is known', async () => {
    const state = subject()
    const token = await github()
    await state.verdict(token)
    const start = process.cpuUsage().user
    for (let count = 0; count < 20_000; count += 1) void state.verifier.keyOf(token)
    expect((process.cpuUsage().user - start) / 20_000).toBeLessThan(20)
  })
})

describe('the keys of an issuer', () => {
  test('are read anew for one that is not known, once in 30 s', async () => {
    const state = subject()
    expect(await state.verdict(await github())).toBe('key1')
    const next = await issuerKey('next', 'ES256')
    issuer.keys = [key.jwk, next.jwk]
    const token = () => signed(next, { iss: issuer.url, aud: audience, ...githubClaims, jti: String(Math.random()) })
    expect(await state.verdict(await token())).toInclude('no such key')
    state.elapsed = 30_000
    const unknown = await issuerKey('unknown', 'ES256')
    const flood = Array.from({ length: 50 }, () => signed(unknown, { iss: issuer.url, aud: audience, ...githubClaims }))
    for (const each of await Promise.all(flood)) await state.verdict(each)
    expect(await state.verdict(await token())).toBe('key1')
    expect(issuer.asked.filter((path) => path === '/keys')).toHaveLength(2)
  })

  test('count for a day while it is away, and without any the answer is 503', async () => {
    const state = subject()
    issuer.answer = () => new Response('<html>', { status: 502 })
    const away = /^503 The token cannot be checked: the keys of http:.* cannot be read$/
    expect(await state.verdict(await github())).toMatch(away)
    issuer.answer = undefined
    expect(await state.verdict(await github({ jti: '1' }))).toMatch(away)
    state.elapsed = 30_000
    expect(await state.verdict(await github({ jti: '2' }))).toBe('key1')
    issuer.answer = () => new Response('<html>', { status: 502 })
    state.elapsed += 86_000_000
    expect(await state.verdict(await github({ jti: '3' }))).toBe('key1')
    state.elapsed += 1_000_000
    expect(await state.verdict(await github({ jti: '4' }))).toMatch(away)
    expect(state.warnings).toEqual(Array.from({ length: 2 }, () => 'the keys of an issuer of tokens cannot be read'))
  })

  test.each<[string, (path: string) => Response | undefined]>([
    ['of another issuer', () => Response.json({ issuer: 'https://other', jwks_uri: `${issuer.url}/keys` })],
    ['without an address', () => Response.json({ issuer: issuer.url })],
    ['elsewhere', () => Response.redirect('https://other.example.org/')],
    ['that are no list', (path) => (path === '/keys' ? Response.json({ keys: 'none' }) : undefined)],
    ['too many', (path) => (path === '/keys' ? Response.json({ keys: Array(10_000).fill(key.jwk) }) : undefined)],
    ['none', (path) => (path === '/keys' ? Response.json({ keys: [] }) : undefined)],
    ['that are no JSON', (path) => (path === '/keys' ? new Response('{') : undefined)],
  ])('%s are not taken', async (_, answer) => {
    issuer.answer = answer
    expect(await subject().verdict(await github())).toStartWith('503 ')
  })
})
