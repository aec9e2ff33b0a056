import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientHost } from '../src/cli/client-commands.ts'
import { runCommand } from '../src/cli/testing.ts'
import { loginCommand, tokenCommand } from './login.ts'

const stops: (() => void)[] = []
let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-login-'))
})
afterEach(async () => {
  for (const stop of stops.splice(0)) stop()
  await rm(home, { recursive: true })
})

const waits: number[] = []
const host = { ...clientHost(), wait: async (ms: number) => void waits.push(ms) }
const options = () => ({ environment: { HOME: home } })
const login = (...argv: readonly string[]) => runCommand(loginCommand(host), argv, options())
const token = (...argv: readonly string[]) => runCommand(tokenCommand(host), argv, options())
const file = () => join(home, '.svc', 'logins.json')

/** A service whose token endpoint answers by `tokens`, one after the other. */
function service(answers: readonly (object | 'closed')[], more: object = {}) {
  const forms: Record<string, string>[] = []
  const rest = [...answers]
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, origin } = new URL(request.url)
      const form: Record<string, string> = Object.fromEntries(new URLSearchParams(await request.text()))
      if (request.method === 'POST') forms.push(form)
      if (pathname.startsWith('/.well-known'))
        return Response.json({ device_authorization_endpoint: `${origin}/oauth/device`, ...more })
      if (pathname === '/oauth/device')
        return Response.json({
          ...{ device_code: 'device', user_code: 'BCDF-GHJK', expires_in: 600, interval: 5 },
          verification_uri: `${origin}/device`,
          verification_uri_complete: `${origin}/device?user_code=BCDF-GHJK`,
        })
      if (pathname !== '/oauth/token') return Response.json({})
      const answer = rest.shift() ?? { error: 'invalid_grant' }
      if (answer === 'closed') return new Response(new ReadableStream({ start: (controller) => controller.error() }))
      return Response.json(answer, { status: 'error' in answer ? 400 : 200 })
    },
  })
  stops.push(() => void server.stop(true))
  return { url: `http://127.0.0.1:${server.port}`, forms }
}

const tokens = (name: string, expires_in = 3_600) => ({
  ...{ access_token: `access-${name}`, refresh_token: `refresh-${name}`, token_type: 'Bearer', expires_in },
})

describe('svc login', () => {
  test('shows a code, asks until a person has let it in, and keeps the tokens for its user alone', async () => {
    const { url, forms } = service([{ error: 'authorization_pending' }, { error: 'slow_down' }, 'closed', tokens('1')])
    waits.length = 0
    const { code, out } = await login(`${url}/v1`)
    expect([code, waits]).toEqual([0, [5_000, 5_000, 10_000, 10_000]])
    expect(out).toContain(`Open ${url}/device?user_code=BCDF-GHJK\nor ${url}/device, and enter BCDF-GHJK\n`)
    expect(forms[0]).toMatchObject({ surface: 'svc' })
    expect(out).not.toContain('access-1')
    expect((await stat(file())).mode & 0o777).toBe(0o600)
    expect(await readdir(join(home, '.svc'))).toEqual(['logins.json'])
    expect(await token()).toMatchObject({ code: 0, out: 'access-1\n' })
  })

  test.each([
    ['denied', [{ error: 'access_denied' }], 'denied'],
    ['too late', [{ error: 'expired_token' }], 'start again'],
    ['answered with tokens that cannot be sent', [{ ...tokens('1'), access_token: 'a\nb' }], 'without access_token'],
  ])('that is %s keeps nothing', async (_name, answers, words) => {
    const { url } = service(answers)
    await expect(login(url)).rejects.toThrow(words)
    expect(await stat(file()).catch(() => undefined)).toBeUndefined()
  })

  test('sends nothing to another origin, and nothing in the clear to another machine', async () => {
    const { url, forms } = service([], { device_authorization_endpoint: 'https://evil.example/oauth/device' })
    await expect(login(url)).rejects.toThrow('at another address')
    expect(forms).toEqual([])
    await expect(login('http://svc.example.org')).rejects.toThrow('allowed: https')
    await expect(login('file:///etc')).rejects.toThrow('allowed')
    await expect(login()).rejects.toThrow('the address is missing')
  })

  test('--end forgets the tokens, and signs out at the service', async () => {
    const { url, forms } = service([tokens('1')])
    await login(url)
    expect((await login(url, '--end')).code).toBe(0)
    expect(forms.at(-1)).toEqual({ token: 'refresh-1' })
    await expect(token()).rejects.toThrow('signed in nowhere')
  })
})

describe('svc token', () => {
  test('renews a token that ends within five minutes, once for many processes', async () => {
    const { url, forms } = service([tokens('1', 299), tokens('2')])
    await login(url)
    const printed = await Promise.all(Array.from({ length: 5 }, () => token('--url', url)))
    expect(printed.map(({ out }) => out)).toEqual(Array(5).fill('access-2\n'))
    expect(forms.filter(({ grant_type }) => grant_type === 'refresh_token')).toEqual([
      { grant_type: 'refresh_token', refresh_token: 'refresh-1' },
    ])
  })

  test('prints the old token while the service does not answer, and keeps its sign-in', async () => {
    const { url } = service([tokens('1', 200), 'closed', tokens('2')])
    await login(url)
    expect((await token()).out).toBe('access-1\n')
    expect((await token()).out).toBe('access-2\n')
  })

  test('fails when the service has ended the sign-in, and forgets it', async () => {
    const { url } = service([tokens('1', 200), { error: 'invalid_grant' }])
    await login(url)
    await expect(token()).rejects.toThrow(`svc login ${url}`)
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({})
  })

  test('needs --url with several services, and a sign-in', async () => {
    const [one, other] = [service([tokens('1')]), service([tokens('2')])]
    await login(one.url)
    await login(other.url)
    await expect(token()).rejects.toThrow('--url is missing')
    expect((await token('--url', other.url)).out).toBe('access-2\n')
    await expect(token('--url', 'https://svc.example.org')).rejects.toThrow('not signed in')
  })

  test('takes over the lock of a process that has ended', async () => {
    const { url } = service([tokens('1', 200), tokens('2')])
    await login(url)
    await writeFile(`${file()}.lock`, '')
    const old = new Date(Date.now() - 31_000)
    await utimes(`${file()}.lock`, old, old)
    expect((await token()).out).toBe('access-2\n')
  })

  test('refuses a file that is not its own', async () => {
    const { url } = service([tokens('1')])
    await login(url)
    for (const text of ['[]', '{', '"x"']) {
      await writeFile(file(), text)
      await expect(token()).rejects.toThrow('is not a JSON object')
    }
    await writeFile(file(), JSON.stringify({ [url]: { access: 1 } }))
    await expect(token()).rejects.toThrow('not signed in')
  })
})
