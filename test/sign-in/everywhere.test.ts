import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pick } from '../client.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { startRedis } from '../fakes/redis.ts'
import { needs } from '../needs.ts'
import { freePort, register, startSignIn, type SignInRig } from './rig.ts'

/** Kinds of session stores, with their flags. */
const places: readonly (readonly [string, boolean, () => Promise<readonly string[]>])[] = [
  ['one process', true, async () => []],
  ['--workers 2', true, async () => ['--workers', '2']],
  [
    '--store redis://…',
    needs('redis-server') !== undefined,
    async () => {
      const redis = await startRedis(freePort())
      stops.push(redis.stop)
      return ['--store', redis.url]
    },
  ],
]
const stops: (() => PromiseLike<void>)[] = []
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
})

async function svc(argv: readonly string[], environment: Readonly<Record<string, string>>) {
  const main = new URL('../../src/main.ts', import.meta.url).pathname
  const child = Bun.spawn([process.execPath, main, ...argv], {
    env: { ...process.env, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const [code, out] = await Promise.all([child.exited, child.stdout.text()])
  return { code, out }
}

for (const [place, isPossible, flagsOf] of places) {
  describe.skipIf(!isPossible)(`sessions of a person, ${place}`, () => {
    let rig: SignInRig<Github>
    beforeAll(async () => {
      rig = await startSignIn(startGithub, { registration: register(), flags: await flagsOf(), owners: ['grace'] })
      stops.push(rig[Symbol.asyncDispose])
    })

    /** The status of each session, each on its own connections, so that all workers are reached. */
    const statuses = (tokens: readonly string[]): Promise<readonly number[]> =>
      Promise.all(
        tokens.map(async (token) => (await rig.get('/auth', { 'x-session-token': token, connection: 'close' })).status),
      )

    test('svc sessions end NAME, and POST /api/people/end › for owners', async () => {
      const owner = (await rig.signIn('grace')).token
      const two = async () => [(await rig.signIn('ada')).token, (await rig.signIn('ada')).token]
      const [byCommand, byRequest] = [await two(), await two()]
      expect(await svc(['sessions', 'end', 'ADA'], { SVC_URL: rig.service.url, SVC_TOKEN: owner })).toEqual({
        code: 0,
        out: '4 sessions of ADA ended\n',
      })
      expect(await statuses([...byCommand, ...byRequest, owner])).toEqual([401, 401, 401, 401, 200])

      const [other] = await two()
      const end = async (headers: Readonly<Record<string, string>>, body = '{"user":"grace"}') => {
        const response = await fetch(`${rig.service.url}/api/people/end`, { method: 'POST', headers, body })
        return [response.status, pick(await response.json(), ...(response.ok ? ['ended'] : ['error', 'code']))]
      }
      const json = { 'content-type': 'application/json' }
      expect(await end(json)).toEqual([401, 'authentication_required'])
      expect(await end({ ...json, 'x-session-token': other ?? '' })).toEqual([403, 'owners_only'])
      expect(await end({ 'content-type': 'text/plain', 'x-session-token': owner })).toEqual([
        415,
        'unsupported_media_type',
      ])
      const evil = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
      expect(await end({ ...json, ...evil, cookie: `token=${owner}` })).toEqual([
        403,
        expect.stringMatching(/^(cross_site_request|origin_not_allowed)$/),
      ])
      expect(await statuses([owner])).toEqual([200])
      expect(await end({ ...json, 'x-session-token': owner }, '{"user":"ada"}')).toEqual([200, 2])
      expect((await svc(['sessions', 'end', 'ada'], { SVC_URL: rig.service.url, SVC_TOKEN: other ?? '' })).code).toBe(1)
    })

    test('POST /auth/logout with {"everywhere":true} › ends all sessions of the user, and no others', async () => {
      const signedIn = [
        await rig.signIn('ada'),
        await rig.signIn('ada'),
        await rig.signIn('grace'),
        await rig.signIn('ada'),
      ]
      const tokens = signedIn.map(({ token }) => token)
      expect(await statuses(tokens)).toEqual([200, 200, 200, 200])
      const out = await fetch(`${rig.service.url}/auth/logout`, {
        method: 'POST',
        headers: { 'x-session-token': tokens[0] ?? '', 'content-type': 'application/json' },
        body: JSON.stringify({ everywhere: true }),
      })
      expect([out.status, await out.json()]).toEqual([200, { success: true, ended: 3 }])
      expect(await statuses(tokens)).toEqual([401, 401, 200, 401])
      expect(await statuses([(await rig.signIn('ada')).token])).toEqual([200])
    })
  })
}
