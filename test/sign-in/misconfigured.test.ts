import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { errorOf } from '../client.ts'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import { startGithub } from '../fakes/identity/github.ts'
import type { ServiceOptions } from '../harness.ts'
import { configPath, logged, register, startProtected, startSignIn } from './rig.ts'

/** Misconfigured sign-in never leaves the service open (docs/sign-in.md), with the real process. */

const upstream = faultUpstream()
afterAll(() => upstream.stop())

const { clientId, clientSecret, redirectUri } = register()
const members = { client_id: clientId, client_secret: clientSecret, redirect_uri: redirectUri }

/** A file with one member per line: line 3 is `redirect_uri`, line 5 the first of `more`. */
function file(more: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...members, ...more }, undefined, 2)
}

interface End {
  readonly code: number
  readonly output: string
}

/** Exit code and output of a start that must fail. @throws if it succeeds */
async function failedStart(
  files: Readonly<Record<string, string>>,
  options: ServiceOptions & { readonly isOnByFlag?: boolean } = {},
): Promise<End> {
  const failure = await startProtected(upstream.url, files, options).then(async (service) => {
    await service.stop()
    return 'it started'
  }, String)
  const code = Number(/svc exited with (\d+) before it listened/.exec(failure)?.[1])
  return { code, output: failure }
}

describe('an extension that does not exist › exit 2', () => {
  test.each([
    ['--auth', { flags: ['--auth', 'provider_aut'], isOnByFlag: false }],
    ['SVC_AUTH', { environment: { SVC_AUTH: 'provider_aut' }, isOnByFlag: false }],
    [
      '--auth, which wins over SVC_AUTH',
      { flags: ['--auth', '../provider_auth'], environment: { SVC_AUTH: 'provider_auth' }, isOnByFlag: false },
    ],
  ])('%s', async (_, options) => {
    const { code, output } = await failedStart({ [configPath]: file({}) }, options)
    expect(code).toBe(2)
    expect(output).toMatch(/there is no extension '[^']*'/)
  })

  test.each(['', '__proto__', 'provider_auth/../provider_auth'])('--auth %p', async (name) => {
    expect((await failedStart({ [configPath]: file({}) }, { flags: ['--auth', name], isOnByFlag: false })).code).toBe(2)
  })

  test('--auth provider_auth wins over an SVC_AUTH that does not exist', async () => {
    await using rig = await startSignIn(startGithub, { environment: { SVC_AUTH: 'nonsense' } })
    expect((await rig.ask()).status).toBe(401)
  })
})

describe('an invalid file › exit 2, with file, line and field, and without the secret', () => {
  test.each<readonly [string, string, string, number | undefined]>([
    ['not JSON', `{"client_secret": "${clientSecret}"`, '', undefined],
    ['a number for client_secret', file({ client_secret: 5 }), 'client_secret', 3],
    ['two identity providers at once', file({ provider: 'gitlab', issuer: 'https://issuer.example' }), '', undefined],
    ['a number for user_fields.id', file({ user_fields: { id: 1 } }), 'user_fields.id', 6],
    ['a member that is misspelt', file({ restrict: 'ada' }), 'restrict', 5],
  ])('%s', async (_, text, field, line) => {
    const { code, output } = await failedStart({ [configPath]: text })
    expect(code).toBe(2)
    expect(output).toContain(`${configPath}${line === undefined ? '' : `:${line}:`}`)
    expect(output).toMatch(
      field === '' ? /found .+, allowed: / : new RegExp(`: ${RegExp.escape(field)}[^:]*: found .+, allowed: `),
    )
    expect(output).not.toContain(clientSecret)
  })

  test('unreadable, because it is a folder', async () => {
    const { code, output } = await failedStart({ [join(configPath, 'a-file-in-it')]: '' })
    expect([code, output.includes(`${configPath}: found a folder`)]).toEqual([2, true])
  })
})

describe('off as configured › routes are 404, the service is open, with a warning', () => {
  test.each([
    ['the file is missing', {}],
    ['enabled is false', { [configPath]: file({ enabled: false }) }],
    ['enabled is "$NAME" of a variable that says false', { [configPath]: file({ enabled: '$IS_ON' }) }],
  ])('%s', async (_, files) => {
    await using service = await startProtected(upstream.url, files, { environment: { IS_ON: 'false' } })
    await logged(service, ['"level":"warn"', 'provider_auth was requested and is OFF'])
    const statuses = await Promise.all(
      ['/auth', '/auth/provider', '/auth/provider/callback', '/auth/session', '/v1/models'].map(
        async (path) => (await fetch(`${service.url}${path}`)).status,
      ),
    )
    expect([...statuses, (await fetch(`${service.url}/auth/logout`, { method: 'POST' })).status]).toEqual([
      404, 404, 404, 404, 200, 404,
    ])
  })
})

describe('CVE-2026-41432: without its secrets it is on and closed', () => {
  test.each([
    ['client_secret is absent', { client_secret: undefined }],
    ['client_id is $NAME of a variable that is empty', { client_id: '$EMPTY' }],
    [
      'there is nothing in the file',
      {
        client_id: undefined,
        client_secret: undefined,
        redirect_uri: undefined,
        provider: undefined,
        base_url: undefined,
        requests_per_minute: undefined,
      },
    ],
  ])('%s › 500 OAuth not configured, a warning, protected routes 401', async (_, config) => {
    await using rig = await startSignIn(startGithub, { config, environment: { EMPTY: '' } })
    for (const path of ['/auth/provider', '/auth/provider/callback?code=c&state=s']) {
      const answer = await rig.get(path)
      expect([path, answer.status, errorOf(answer)?.code]).toEqual(
        path === '/auth/provider'
          ? [path, 500, 'oauth_not_configured']
          : [path, expect.any(Number), expect.any(String)],
      )
      expect(answer.status).toBeGreaterThanOrEqual(400)
    }
    expect([
      (await rig.ask()).status,
      (await rig.get('/v1/models')).status,
      (await rig.get('/metrics')).status,
      (await rig.get('/auth')).status,
    ]).toEqual([401, 401, 401, 401])
    await rig.logged('"level":"warn"', 'Provider OAuth not configured', 'client_')
    expect(rig.provider.asked('authorize')).toEqual([])
  })

  test('restrict_to without a name (" , ") › no user may sign in', async () => {
    await using rig = await startSignIn(startGithub, { config: { restrict_to: ' , ' } })
    const browser = rig.browser()
    expect((await browser.visit(await rig.authorize(browser))).status).toBe(403)
    await rig.logged('"level":"warn"', 'restrict_to')
  })
})

test('restrict_to of the unset "$PROVIDER_USERS" › anyone may sign in, with a warning', async () => {
  await using rig = await startSignIn(startGithub, { config: { restrict_to: '$PROVIDER_USERS' } })
  expect((await rig.signIn('anybody')).page.status).toBe(302)
  expect(await rig.logged('"level":"warn"', 'PROVIDER_USERS')).toContain('restrict_to')
})

describe('a file that others can read', () => {
  test.each([
    [0o644, 'others can read it'],
    [0o666, 'others can write to it'],
  ])('of mode %i › starts, with a warning', async (mode, words) => {
    await using rig = await startSignIn(startGithub, { mode })
    await rig.logged('"level":"warn"', configPath, words)
    expect((await rig.ask()).status).toBe(401)
  })

  test('readable only for its owner › starts without the warning', async () => {
    await using rig = await startSignIn(startGithub)
    expect(rig.service.output).not.toContain('chmod')
  })
})

test('a redirect_uri at another port of this machine is warned of, and one elsewhere is not', async () => {
  const warning = 'sign-in comes back to http://127.0.0.1:9 (redirect_uri)'
  const away = { ...members, restrict_to: 'ada', redirect_uri: 'http://127.0.0.1:9/auth/provider/callback' }
  await using wrong = await startProtected(upstream.url, { [configPath]: JSON.stringify(away) })
  for (let round = 0; round < 200 && !wrong.output.includes(warning); round++) await Bun.sleep(10)
  expect(wrong.output).toContain(warning)
  const right = await startProtected(upstream.url, {
    [configPath]: JSON.stringify({ ...away, redirect_uri: 'https://svc.example/auth/provider/callback' }),
  })
  await right.stop()
  expect(right.output).not.toContain('sign-in comes back to')
})
