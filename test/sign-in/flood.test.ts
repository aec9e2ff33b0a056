import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { request } from 'node:http'
import { errorOf } from '../client.ts'
import { flood } from '../fakes/flood.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { residentMb } from '../fakes/memory.ts'
import { startSignIn, type SignInRig } from './rig.ts'

/** On Linux, 127.0.0.2 is a local address, and memory use can be read. */
const isLinux = process.platform === 'linux'
const startsOfFlow = 100_000
const perMinute = 120
const start = 'GET /auth/provider HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'

/** Sends a GET from another local address. */
function getFrom(address: string, url: string): Promise<{ readonly status: number; readonly location: string }> {
  return new Promise((resolve, reject) => {
    request(url, { localAddress: address, headers: { 'user-agent': 'tests' } }, (response) => {
      response.resume()
      resolve({ status: response.statusCode ?? 0, location: response.headers.location ?? '' })
    })
      .on('error', reject)
      .end()
  })
}

/** Signs in as a script from an address. @returns the status of the callback */
async function signInFrom(rig: SignInRig<Github>, address: string): Promise<number> {
  const begun = await getFrom(address, `${rig.service.url}/auth/provider`)
  if (begun.status !== 302) return begun.status
  const back = await getFrom(address, await rig.provider.approve(rig.browser(), begun.location, 'ada'))
  rig.remember(
    ...[begun, back].flatMap(({ location }) =>
      [...new URL(location, rig.service.url).searchParams]
        .filter(([name]) => ['state', 'session'].includes(name))
        .map(([, value]) => value),
    ),
  )
  return back.status
}

describe.skipIf(!isLinux)('100,000 starts of the flow from one address', () => {
  let rig: SignInRig<Github>
  beforeAll(async () => {
    rig = await startSignIn(startGithub, { config: { requests_per_minute: undefined } })
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  /** Starts flows until one is refused, since the token bucket has refilled a little. @returns the refusal */
  async function refusedStart(headers: Record<string, string> = {}): ReturnType<typeof rig.get> {
    for (let passed = 0; passed < 10; passed++) {
      const answer = await rig.get('/auth/provider', headers)
      if (answer.status !== 302) return answer
    }
    throw new Error('ten starts in a row, and none is refused')
  }

  test('bounded memory, 429 with Retry-After, and another address signs in meanwhile', async () => {
    const before = residentMb(rig.service.pid)
    const flooding = flood({ port: rig.service.port, request: start, count: startsOfFlow })
    const meanwhile = await signInFrom(rig, '127.0.0.2')
    const { statuses, ms } = await flooding
    expect(meanwhile).toBe(302)
    expect([...statuses.keys()].toSorted()).toEqual([302, 429])
    const begun = statuses.get(302) ?? 0
    // The token bucket refills during the flood.
    expect(begun).toBeGreaterThanOrEqual(perMinute)
    expect(begun).toBeLessThanOrEqual(perMinute + Math.ceil(((ms / 1000) * perMinute) / 60) + 2)
    expect(begun + (statuses.get(429) ?? 0)).toBe(startsOfFlow)
    expect(residentMb(rig.service.pid) - before).toBeLessThan(150)
    const refused = await refusedStart()
    expect([refused.status, errorOf(refused)?.type, errorOf(refused)?.code]).toEqual([
      429,
      'rate_limit_error',
      'rate_limited',
    ])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await signInFrom(rig, '127.0.0.3')).toBe(302)
  }, 60_000)

  test('a limited client › can use other routes, and cannot claim another address', async () => {
    expect(
      (
        await refusedStart({
          'x-forwarded-for': '10.0.0.1',
          forwarded: 'for=10.0.0.2',
          'x-real-ip': '10.0.0.3',
          'true-client-ip': '10.0.0.4',
          'cf-connecting-ip': '10.0.0.5',
        })
      ).status,
    ).toBe(429)
    expect([(await rig.get('/health')).status, (await rig.ask()).status, (await rig.get('/')).status]).toEqual([
      200, 401, 200,
    ])
  })
})

describe('behind a proxy that trusted_proxies names', () => {
  let rig: SignInRig<Github>
  beforeAll(async () => {
    rig = await startSignIn(startGithub, { config: { requests_per_minute: 5, trusted_proxies: ['127.0.0.1'] } })
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  async function startsOf(forwarded: string, times: number): Promise<readonly number[]> {
    const statuses: number[] = []
    for (let time = 0; time < times; time++)
      statuses.push((await rig.get('/auth/provider', { 'x-forwarded-for': forwarded })).status)
    return statuses
  }

  test('each forwarded client has its own limit, IPv6 by /64, and forged entries are ignored', async () => {
    expect(await startsOf('10.1.1.1', 6)).toEqual([302, 302, 302, 302, 302, 429])
    expect(await startsOf('10.1.1.2', 1)).toEqual([302])
    expect(await startsOf('6.6.6.6, 10.1.1.1', 1)).toEqual([429])
    expect(await startsOf('2001:db8:1:2::1', 5)).toEqual([302, 302, 302, 302, 302])
    expect([await startsOf('2001:db8:1:2:ffff::9', 1), await startsOf('2001:db8:1:3::1', 1)]).toEqual([[429], [302]])
  })

  test.each([
    '',
    ' ',
    'zq',
    '10.1.1.1:99999999',
    '[::1',
    '999.1.1.1',
    ',,,',
    `${'1.1.1.1, '.repeat(800)}zq`,
    'unknown',
    '_hidden',
  ])('X-Forwarded-For: %p › does not avoid the limit', async (value) => {
    const statuses = await startsOf(value, 7)
    expect(statuses.at(-1)).toBe(429)
    expect((await rig.get('/health')).status).toBe(200)
  })
})

test.skipIf(!isLinux)(
  '30,000 starts from ten addresses, without a limit of requests › the memory of the service is bounded all the same',
  async () => {
    await using rig = await startSignIn(startGithub, { config: { trusted_proxies: ['127.0.0.1'] } })
    const before = residentMb(rig.service.pid)
    for (let client = 0; client < 10; client++) {
      const { statuses } = await flood({
        port: rig.service.port,
        request: start.replace('\r\n\r\n', `\r\nx-forwarded-for: 10.2.0.${client}\r\n\r\n`),
        count: 3_000,
      })
      expect([...statuses.keys()]).toEqual([302])
    }
    expect(residentMb(rig.service.pid) - before).toBeLessThan(200)
    expect((await rig.signIn()).page.status).toBe(302)
  },
  60_000,
)
