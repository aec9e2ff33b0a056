import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answerOf } from '../client.ts'
import { openBrowser, type Browser, type Page } from '../fakes/browser.ts'
import { makeCertificate } from '../fakes/certificates.ts'
import { cookieParts } from '../fakes/cookie-jar.ts'
import { exampleWith, nginxOf } from '../fakes/examples.ts'
import { good, goodText } from '../fakes/good.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { needs } from '../needs.ts'
import { describeInChromium, useChromium } from '../page/in-chromium.ts'
import { signInLink, signOutLine } from '../page/sign-in.ts'
import { freePort, checkNoSecrets, register, startSignIn, tokenIn, type SignInRig } from './rig.ts'

/** The reverse proxies of examples/ with HTTPS; only names, ports and paths in the files are replaced. */

const perMinute = 20

interface Place {
  /** A folder with `cert.pem` and `key.pem`. */
  readonly folder: string
  readonly port: number
  /** Port of the service. */
  readonly upstream: number
}

interface ReverseProxy {
  readonly name: string
  readonly executable: string | undefined
  /** Writes the configuration. @returns the command that starts the proxy in the foreground */
  prepare(place: Place): readonly string[]
}

const nginx: ReverseProxy = {
  name: 'nginx',
  executable: needs('nginx'),
  prepare({ folder, port, upstream }) {
    return nginxOf(
      folder,
      exampleWith('sign-in-nginx.conf', [
        ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
        ['chat.example.org;', 'localhost;'],
        ['127.0.0.1:8000', `127.0.0.1:${upstream}`],
        ['/var/log/nginx/svc.log', join(folder, 'access.log')],
        ['/var/log/nginx/svc-error.log', join(folder, 'svc-error.log')],
        ['/etc/letsencrypt/live/chat.example.org/fullchain.pem', join(folder, 'cert.pem')],
        ['/etc/letsencrypt/live/chat.example.org/privkey.pem', join(folder, 'key.pem')],
      ]),
    )
  },
}

const caddy: ReverseProxy = {
  name: 'Caddy',
  executable: needs('caddy'),
  prepare({ folder, port, upstream }) {
    const site = exampleWith('sign-in-Caddyfile', [
      ['\n{\n', `\n{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${folder}\n`],
      [
        '\nchat.example.org {',
        `\nhttps://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${folder}/cert.pem ${folder}/key.pem`,
      ],
      ['127.0.0.1:8000', `127.0.0.1:${upstream}`],
      ['/var/log/caddy/svc.log', join(folder, 'access.log')],
    ])
    writeFileSync(join(folder, 'Caddyfile'), site)
    return ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')]
  },
}

describe.each([nginx, caddy])('behind $name', (proxy) => {
  describe.skipIf(proxy.executable === undefined)('with examples/', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-proxy-'))
    const authority = makeCertificate({ host: 'tests', isAuthority: true })
    const own = makeCertificate({ host: 'localhost', issuer: authority })
    const port = freePort(),
      upstream = freePort()
    const url = `https://localhost:${port}`
    let rig: SignInRig<Github>, running: Bun.Subprocess<'ignore', 'ignore', 'ignore'>

    beforeAll(async () => {
      const registration = { ...register(), redirectUri: `${url}/auth/provider/callback` }
      rig = await startSignIn(startGithub, {
        registration,
        port: upstream,
        config: { requests_per_minute: perMinute, trusted_proxies: ['127.0.0.1'] },
      })
      writeFileSync(join(folder, 'cert.pem'), own.cert)
      writeFileSync(join(folder, 'key.pem'), own.key, { mode: 0o600 })
      running = Bun.spawn([proxy.executable ?? '', ...proxy.prepare({ folder, port, upstream })], {
        env: { ...process.env, HOME: folder },
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'ignore',
      })
      await answers()
    })

    afterAll(async () => {
      running.kill('SIGTERM')
      await running.exited
      await rig[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    })

    async function answers(): Promise<void> {
      for (let round = 0; ; round++) {
        try {
          await fetch(`${url}/health`, { tls: { ca: authority.cert } })
          return
        } catch (error) {
          if (round === 500 || running.exitCode !== null) throw error
          await Bun.sleep(10)
        }
      }
    }

    const secrets = new Set<string>()

    async function signIn(): Promise<{
      readonly browser: Browser
      readonly begun: Page
      readonly back: Page
      readonly token: string
    }> {
      const browser = rig.browser({ authority: authority.cert })
      const begun = await browser.visit(`${url}/auth/provider`)
      const callback = await rig.provider.approve(openBrowser(), begun.location ?? '', 'ada')
      const back = await browser.visit(callback)
      const token = tokenIn(back)
      for (const secret of [token, ...['code', 'state'].map((name) => new URL(callback).searchParams.get(name) ?? '')])
        secrets.add(secret)
      return { browser, begun, back, token }
    }

    /** Starts a flow from another local address. */
    function startFrom(address: string, forwarded: string): Promise<number> {
      return new Promise((resolve, reject) => {
        request(
          `${url}/auth/provider`,
          {
            localAddress: address,
            host: '127.0.0.1',
            servername: 'localhost',
            ca: authority.cert,
            headers: { host: `localhost:${port}`, 'x-forwarded-for': forwarded },
            agent: false,
          },
          (response) => {
            response.resume()
            resolve(response.statusCode ?? 0)
          },
        )
          .on('error', reject)
          .end()
      })
    }

    test('signs in, with Secure cookies, and chats, plain and streamed', async () => {
      const { browser, begun, back, token } = await signIn()
      expect([back.status, back.headers.get('location')]).toEqual([302, `/?session=${token}`])
      const cookies = [...begun.headers.getSetCookie(), ...back.headers.getSetCookie()]
        .map(cookieParts)
        .filter(({ value }) => value !== '')
      expect(cookies.map(({ name, attributes }) => [name.replace(/flow_.*/, 'flow_'), attributes['secure']])).toEqual([
        ['__Host-svc_flow_', true],
        ['token', true],
      ])
      for (const stream of [false, true]) {
        const page = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          tls: { ca: authority.cert },
          body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'hello' }] }),
          headers: { cookie: browser.jar.header(url) ?? '', origin: url, 'sec-fetch-site': 'same-origin' },
        })
        expect(answerOf(page, await page.text()).content).toBe(goodText())
      }
      expect((await fetch(`${url}/v1/models`, { tls: { ca: authority.cert } })).status).toBe(401)
      expect(
        (await fetch(`${url}/v1/models`, { tls: { ca: authority.cert }, headers: { 'x-session-token': token } }))
          .status,
      ).toBe(200)
    })

    describeInChromium('Chromium', () => {
      const chromium = useChromium()
      test('signs in and out, and keeps the Secure cookies', async () => {
        const browser = chromium.person(),
          tab = browser.tab()
        await tab.goto(`${url}/`)
        await tab.click(signInLink)
        await tab.waitFor('role=button[name=/^Account of/]')
        const token = (await browser.cookies()).get('token') ?? ''
        rig.remember(token)
        expect((await rig.ask({ 'x-session-token': token })).status).toBe(200)
        expect([await tab.url(), [...(await browser.cookies()).keys()]]).toEqual([`${url}/`, ['token']])
        await tab.click('role=button[name=/^Account of/]')
        await tab.click(signOutLine)
        await tab.waitFor(signInLink)
        expect((await rig.ask({ 'x-session-token': token })).status).toBe(401)
      })
    })

    test('tokens arrive as they are generated', async () => {
      const { token } = await signIn()
      rig.upstream.use(good({ tokens: 2, pauseMs: 200 }))
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        tls: { ca: authority.cert },
        headers: { 'x-session-token': token },
        body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] }),
      })
      const pieces: string[] = []
      if (response.body !== null) for await (const bytes of response.body) pieces.push(new TextDecoder().decode(bytes))
      rig.upstream.use(good())
      expect(pieces.findIndex((piece) => piece.includes('good-0'))).toBeLessThan(
        pieces.findIndex((piece) => piece.includes('good-1')),
      )
    })

    test('the rate limit counts the clients of the proxy, and ignores forged addresses', async () => {
      const statuses: number[] = []
      for (let time = 0; time <= perMinute; time++) statuses.push(await startFrom('127.0.0.7', `10.9.9.${time}`))
      expect([statuses.filter((status) => status === 302).length >= perMinute - 1, statuses.at(-1)]).toEqual([
        true,
        429,
      ])
      expect(await startFrom('127.0.0.8', '127.0.0.7')).toBe(302)
    })

    test('its logs hold no token or code while the service is down', async () => {
      const place = { folder: mkdtempSync(join(tmpdir(), 'svc-proxy-')), port: freePort(), upstream: freePort() }
      for (const file of ['cert.pem', 'key.pem']) copyFileSync(join(folder, file), join(place.folder, file))
      const child = Bun.spawn([proxy.executable ?? '', ...proxy.prepare(place)], {
        env: { ...process.env, HOME: place.folder },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const secrets = ['token-of-a-session', 'code-of-a-flow', 'state-of-a-flow']
      const query = `session=${secrets[0]}&code=${secrets[1]}&state=${secrets[2]}`
      const ask = () =>
        fetch(`https://localhost:${place.port}/auth/provider/callback?${query}`, {
          tls: { ca: authority.cert },
          headers: { referer: `https://localhost:${place.port}/?${query}`, 'x-session-token': secrets[0] ?? '' },
        }).then(
          ({ status }) => status,
          () => 0,
        )
      let status = 0
      for (let round = 0; status === 0 && round < 500; round++)
        status = (await ask()) || (await Bun.sleep(10).then(() => 0))
      child.kill('SIGTERM')
      const printed = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
      const logs = readdirSync(place.folder)
        .filter((name) => name.endsWith('.log'))
        .map((name) => readFileSync(join(place.folder, name), 'utf8'))
      const written = [...printed, ...logs].join('\n')
      rmSync(place.folder, { recursive: true, force: true })
      expect([status, written.includes('/auth/provider/callback')]).toEqual([502, true])
      checkNoSecrets(written, secrets)
    })

    test('its own log holds no token, code or state', async () => {
      await signIn()
      const log = readFileSync(join(folder, 'access.log'), 'utf8')
      expect(log).toContain('/auth/provider/callback')
      checkNoSecrets(log, [...secrets])
    })
  })
})
