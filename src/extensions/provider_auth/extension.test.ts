import { describe, expect, test } from 'bun:test'
import { ExtensionConfigFault, type ExtensionConfig } from '../extension.ts'
import { extension } from './extension.ts'
import { fakeHost } from './testing.ts'

const complete = {
  client_id: 'the-client',
  client_secret: 'the-secret',
  redirect_uri: 'https://svc.test/auth/provider/callback',
  restrict_to: 'ada',
}

function hostOf(values: Readonly<Record<string, unknown>>, unset: readonly (readonly [string, string])[] = []) {
  const config: ExtensionConfig = { values, unset: new Map(unset) }
  return fakeHost(config)
}

function visit(path: string) {
  return { request: new Request(`https://svc.test${path}`), path, address: '203.0.113.9', id: 'request-1' }
}

describe('provider_auth', () => {
  test('is called so', () => {
    expect(extension.name).toBe('provider_auth')
  })

  test('adds routes, a guard, a part of the page and its origin, and sends people to the identity provider that is configured', async () => {
    const host = hostOf(complete)
    const contribution = await extension.start(host)
    expect(Object.keys(contribution ?? {}).toSorted()).toEqual(['guard', 'origin', 'part', 'routes'])
    const response = await contribution?.routes
      ?.find(({ path }) => path === '/auth/provider')
      ?.handle(visit('/auth/provider'))
    const location = new URL(response?.headers.get('location') ?? '')
    expect(location.href).toStartWith('https://github.com/login/oauth/authorize?')
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      client_id: 'the-client',
      redirect_uri: complete.redirect_uri,
      response_type: 'code',
      code_challenge_method: 'S256',
    })
    expect(location.href).not.toContain('the-secret')
    expect(host.lines).toEqual([])
  })

  test('is off without a file, and where the file says so', async () => {
    expect(await extension.start(fakeHost())).toBeUndefined()
    expect(await extension.start(hostOf({ ...complete, enabled: false }))).toBeUndefined()
  })

  test('is on and closed without a client id or secret, and warns', async () => {
    const { client_secret, ...incomplete } = complete
    expect(client_secret).toBeDefined()
    const host = hostOf(incomplete, [['client_secret', 'PROVIDER_CLIENT_SECRET']])
    const contribution = await extension.start(host)
    await expect(Promise.resolve(contribution?.guard?.(visit('/v1/models')))).rejects.toMatchObject({ status: 401 })
    const start = contribution?.routes?.find(({ path }) => path === '/auth/provider')
    await expect(start?.handle(visit('/auth/provider')) ?? Promise.resolve()).rejects.toMatchObject({
      status: 500,
      code: 'oauth_not_configured',
    })
    expect(host.lines).toEqual([['warn', expect.stringContaining('$PROVIDER_CLIENT_SECRET')]])
  })

  test('warns that everybody may sign in', async () => {
    const { restrict_to, ...open } = complete
    expect(restrict_to).toBe('ada')
    const host = hostOf(open, [['restrict_to', 'PROVIDER_USERS']])
    await extension.start(host)
    expect(host.lines).toEqual([['warn', expect.stringContaining('everybody')]])
  })

  test('does not start with a file that is faulty', async () => {
    await expect(extension.start(hostOf({ ...complete, redirect_uri: 'https://svc.test/elsewhere' }))).rejects.toThrow(
      ExtensionConfigFault,
    )
    await expect(
      extension.start({ ...fakeHost(), config: () => Promise.reject(new SyntaxError('no JSON')) }),
    ).rejects.toThrow(SyntaxError)
  })
})
