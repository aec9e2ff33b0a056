import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openBrowser } from '../fakes/browser.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import type { Registration } from '../fakes/identity/identity-provider.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { checkNoSecrets, configPath, register, tokenIn } from './rig.ts'

let service: ServiceUnderTest, github: Github, registration: Registration

beforeAll(async () => {
  registration = register()
  github = startGithub(registration)
  const teams = { a: { members: ['id:1@https://elsewhere.test'] } }
  const port = Number(new URL(registration.redirectUri).port)
  service = await startService(
    { providers: [{ id: 'echo' }] },
    { port, flags: ['--workers', '2'], files: { 'access.json': JSON.stringify({ teams }) } },
  )
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await github.stop()
  checkNoSecrets(service.output, [registration.clientSecret, ...github.secrets])
})

const setUp = () => ({
  provider: 'github',
  place: github.url,
  clientId: registration.clientId,
  clientSecret: registration.clientSecret,
  user: 'ada',
  others: ['grace'],
  hasKeys: true,
  origin: service.url,
})

async function post(path: string, body: object): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { 'content-type': 'application/json', origin: service.url }
  const response = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, text: await response.text() }
}

async function versionNow(): Promise<string> {
  const { text } = await post('/api/sign-in/draft', setUp())
  return String(JSON.parse(text).version)
}

const textOf = (path: string) => readFileSync(join(service.home, path), 'utf8')
const status = async () => (await fetch(`${service.url}/v1/models`)).status

describe('sign-in, set up on the page', () => {
  test('shows what is written, without the secret', async () => {
    const { status: code, text } = await post('/api/sign-in/draft', { ...setUp(), clientSecret: undefined })
    expect(code).toBe(200)
    expect(JSON.parse(text)).toMatchObject({
      faults: [],
      files: [
        { file: join(service.home, configPath), before: '' },
        { file: service.file, before: '', after: '"owners": [ "ada" ],\n"auth": [ "provider_auth", "keys" ]' },
      ],
    })
    expect(text).toContain('restrict_to')
    expect(text).not.toContain(registration.clientSecret)
    expect([existsSync(join(service.home, configPath)), await status()]).toEqual([false, 200])
  })

  test.each([
    ['a wrong secret', { clientSecret: 'wrong' }, 400, 'GitHub refuses the client id or the client secret.'],
    [
      'an issuer that does not answer',
      { provider: 'openid', place: 'http://127.0.0.1:9' },
      400,
      '127.0.0.1:9 does not',
    ],
    ['an address that is none', { place: 'nowhere' }, 400, 'base_url: found'],
    ['no address of a server', { provider: 'gitea', place: undefined }, 400, 'base_url: found nothing'],
    ['a name with blanks', { user: 'ada lovelace' }, 400, 'a user name without commas and blanks'],
    ['a name with blanks among the others', { others: ['ada lovelace'] }, 400, "'others[0]'"],
    ['a secret that is a variable', { clientSecret: '$HOME' }, 400, "'clientSecret'"],
    ['a redirect address with another port', { origin: 'http://127.0.0.1:1' }, 400, "'origin' must be the address"],
    ['no secret', { clientSecret: undefined }, 400, "'clientSecret' is missing"],
    ['files that changed meanwhile', { version: 'another' }, 409, 'changed in the meantime'],
  ])('changes nothing with %s', async (_name, fault, code, message) => {
    const before = textOf('providers.json')
    const answer = await post('/api/sign-in', { ...setUp(), version: await versionNow(), ...fault })
    expect([answer.status, answer.text]).toEqual([code, expect.stringContaining(message)])
    expect([existsSync(join(service.home, configPath)), await status()]).toEqual([false, 200])
    expect(textOf('providers.json')).toBe(before)
  })

  test('takes both files back if it does not start: a team has a member of another identity provider', async () => {
    const before = textOf('providers.json')
    const answer = await post('/api/sign-in', { ...setUp(), version: await versionNow() })
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('as they were before')])
    expect([existsSync(join(service.home, configPath)), textOf('providers.json'), await status()]).toEqual([
      false,
      before,
      200,
    ])
  })

  test('is on in every worker when it is answered, without a restart', async () => {
    await service.write('access.json', '{}')
    let answer = { status: 503, text: '' }
    // Until the service has noticed access.json.
    for (let round = 0; round < 100 && answer.status === 503; round++) {
      answer = await post('/api/sign-in', { ...setUp(), version: await versionNow() })
      if (answer.status === 503) await Bun.sleep(50)
    }
    expect(answer).toEqual({ status: 200, text: '{}' })
    expect(await Promise.all(Array.from({ length: 8 }, status))).toEqual(Array.from({ length: 8 }, () => 401))
    expect(statSync(join(service.home, configPath)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(textOf(configPath))).toEqual({
      ...github.config,
      client_id: registration.clientId,
      client_secret: registration.clientSecret,
      redirect_uri: registration.redirectUri,
      restrict_to: ['ada', 'grace'],
    })
    expect(await post('/api/sign-in', setUp())).toMatchObject({ status: 401 })
    const browser = openBrowser()
    const begun = await browser.visit(`${service.url}/auth/provider`)
    const token = tokenIn(await browser.visit(await github.approve(browser, begun.location ?? '', 'ada')))
    const headers = { 'x-session-token': token }
    const boot: unknown = await (await fetch(`${service.url}/api/boot`, { headers })).json()
    expect(boot).toMatchObject({ isOwner: true, hasPeople: true, hasKeys: true, hasLimits: true })
    expect((await fetch(`${service.url}/api/sign-in`, { headers })).status).toBe(409)
  })

  test('is corrected after --auth none, and holds from the next start on', async () => {
    const port = Number(new URL(registration.redirectUri).port)
    const files = { [configPath]: '{ "client_id": "wrong", "issuer": "https://wrong.test" }' }
    await service.stop()
    const auth = ['provider_auth']
    await using again = await startService(
      { providers: [{ id: 'echo' }], owners: ['eve'], auth },
      { port, files, flags: ['--auth', 'none'] },
    )
    const answer = await post('/api/sign-in', { ...setUp(), hasKeys: false, version: await versionNow() })
    expect([answer.status, await status()]).toEqual([200, 200])
    expect(JSON.parse(readFileSync(again.file, 'utf8'))).toMatchObject({ owners: ['eve', 'ada'], auth })
    expect(JSON.parse(readFileSync(join(again.home, configPath), 'utf8'))).toMatchObject({
      restrict_to: ['ada', 'grace'],
    })
  })
})
