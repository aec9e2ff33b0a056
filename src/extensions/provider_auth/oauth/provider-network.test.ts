import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hostFetch } from '../../../app/extensions/host-fetch.ts'
import { WireError } from '../../../formats/error.ts'
import { httpClient } from '../../../transport/http-client.ts'
import type { Host } from '../../extension.ts'
import { parseSettings } from '../settings/parse-settings.ts'
import { identityProvider } from './make-identity-provider.ts'

/** Misbehaviour of a server towards the service's HTTP client. */
type Misbehaviour = (request: Request) => Response | Promise<Response>

const transport = httpClient()
const asked: string[] = []
const misbehaviours = new Map<string, Misbehaviour>()
const person = { id: 1, login: 'ada', name: 'Ada', avatar_url: '', email: 'ada@x.example' }
const well: Readonly<Record<string, Misbehaviour>> = {
  '/token': () => Response.json({ access_token: 'the-token', token_type: 'bearer' }),
  '/user': (request) =>
    request.headers.get('authorization') === 'Bearer the-token' && request.headers.get('user-agent') === 'svc'
      ? Response.json(person)
      : new Response('', { status: 403 }),
}

let server: ReturnType<typeof Bun.serve>
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      asked.push(pathname)
      return (misbehaviours.get(pathname) ?? well[pathname])?.(request) ?? new Response('', { status: 404 })
    },
  })
})
afterAll(async () => {
  transport.close()
  await server.stop(true)
})

const silence = () => undefined
const host: Host = {
  config: async () => undefined,
  store: () => {
    throw new Error('not needed')
  },
  lastingStore: () => {
    throw new Error('not needed')
  },
  limit: () => {
    throw new Error('not needed')
  },
  fetch: hostFetch(transport, {}),
  now: Date.now,
  elapsedMs: Date.now,
  log: { debug: silence, info: silence, warn: silence, error: silence },
}

/** Signs in while an endpoint misbehaves. @returns the user name or the status of the error, and the duration */
async function signIn(
  endpoint: string,
  misbehaviour: Misbehaviour | undefined,
  limits = { requestMs: 20_000, totalMs: 20_000 },
) {
  const at = (path: string) => `http://127.0.0.1:${server.port}${path}`
  const parsed = parseSettings({
    unset: new Map(),
    values: {
      client_id: 'i',
      client_secret: 's',
      redirect_uri: 'http://127.0.0.1/auth/provider/callback',
      authorize_url: at('/authorize'),
      token_url: at('/token'),
      user_url: at('/user'),
    },
  })
  if (parsed === undefined) throw new Error('sign-in is off')
  const provider = identityProvider(parsed.settings, host, limits)
  misbehaviours.clear()
  if (misbehaviour !== undefined) misbehaviours.set(endpoint, misbehaviour)
  asked.length = 0
  const { secrets } = await provider.begin('s')
  const start = performance.now()
  let outcome: unknown
  try {
    outcome = (await provider.identify({ state: 's', code: 'c' }, secrets)).userName
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    outcome = error.status
  }
  return { outcome, asked: [...asked], ms: performance.now() - start }
}

/** An endless body, in pieces. */
function endless(piece: Uint8Array, everyMs: number): ReadableStream {
  let timer: ReturnType<typeof setTimeout>
  return new ReadableStream({
    pull: (controller) =>
      new Promise((resolve) => {
        timer = setTimeout(() => {
          controller.enqueue(piece)
          resolve()
        }, everyMs)
      }),
    cancel: () => clearTimeout(timer),
  })
}

const asJson = { headers: { 'content-type': 'application/json' } }

describe('an identity provider on the network', () => {
  test('signs a user in', async () => {
    expect(await signIn('', undefined)).toMatchObject({ outcome: 'ada', asked: ['/token', '/user'] })
  })

  for (const place of ['/token', '/user']) {
    describe(`whose ${place} endpoint`, () => {
      test('redirects is not followed', async () => {
        for (const status of [301, 302, 303, 307, 308]) {
          const { outcome, asked } = await signIn(
            place,
            () => new Response(null, { status, headers: { location: '/elsewhere' } }),
          )
          expect(outcome).toBe(502)
          expect(asked).not.toContain('/elsewhere')
        }
      })

      test('hangs times out after the time of one request', async () => {
        const { outcome, ms } = await signIn(place, () => new Promise(() => undefined), {
          requestMs: 100,
          totalMs: 4000,
        })
        expect(outcome).toBe(504)
        expect(ms).toBeLessThan(1500)
      })

      test('drips times out after the time of one request', async () => {
        const { outcome, ms } = await signIn(
          place,
          () => new Response(endless(new TextEncoder().encode(' '), 5), asJson),
          { requestMs: 150, totalMs: 4000 },
        )
        expect(outcome).toBe(504)
        expect(ms).toBeLessThan(1500)
      })

      test('sends 100 MB is cut off', async () => {
        let sent = 0
        const piece = new Uint8Array(1024 * 1024).fill(32)
        const flood = () =>
          new ReadableStream({
            pull(controller) {
              sent += piece.length
              if (sent > 100 * piece.length) controller.close()
              else controller.enqueue(piece)
            },
          })
        const { outcome } = await signIn(place, () => new Response(flood(), asJson))
        expect(outcome).toBe(502)
        expect(sent).toBeLessThan(50 * piece.length)
      })

      test('announces 100 MB is cut off', async () => {
        expect(
          (await signIn(place, () => new Response(new Blob([new Uint8Array(100 * 1024 * 1024)]), asJson))).outcome,
        ).toBe(502)
      })
    })
  }

  test('that is slow times out after the total time of all requests', async () => {
    const { outcome, asked, ms } = await signIn('/user', () => new Promise(() => undefined), {
      requestMs: 10_000,
      totalMs: 150,
    })
    expect(outcome).toBe(504)
    expect(asked).toEqual(['/token', '/user'])
    expect(ms).toBeLessThan(1500)
  })

  test('that does not listen is reported as unavailable', async () => {
    const gone = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const issuer = `http://127.0.0.1:${gone.port}`
    await gone.stop(true)
    const parsed = parseSettings({
      unset: new Map(),
      values: { client_id: 'i', client_secret: 's', redirect_uri: 'http://127.0.0.1/auth/provider/callback', issuer },
    })
    if (parsed === undefined) throw new Error('sign-in is off')
    expect(
      await identityProvider(parsed.settings, host)
        .begin('s')
        .catch((error: unknown) => error),
    ).toMatchObject({ status: 502 })
  })
})
