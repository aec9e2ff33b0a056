import { describe, expect, test } from 'bun:test'
import { ExtensionConfigError, type ExtensionConfig } from '../extension.ts'
import { extensionContract, fakeHost } from '../testing.ts'
import { extension } from './extension.ts'

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

function contextOf(path: string) {
  const request = new Request(`https://svc.test${path}`)
  return { request, path, address: '203.0.113.9', caller: {}, id: 'request-1', body: async () => new Uint8Array() }
}

extensionContract(extension, { folder: 'provider_auth', values: complete })

describe('provider_auth', () => {
  test('adds routes, guard, page part and origin, and redirects to the configured identity provider', async () => {
    const host = hostOf(complete)
    const contribution = await extension.start(host)
    expect(Object.keys(contribution ?? {}).toSorted()).toEqual([
      ...['guard', 'identityProvider', 'mayEnter', 'origin', 'part', 'people', 'probe', 'routes'],
    ])
    const response = await contribution?.routes
      ?.find(({ path }) => path === '/auth/provider')
      ?.handle(contextOf('/auth/provider'))
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

  test('is off with "enabled": false', async () => {
    expect(await extension.start(hostOf({ ...complete, enabled: false }))).toBeUndefined()
  })

  test('without client id or secret is on, refuses all requests and warns', async () => {
    const { client_secret, ...incomplete } = complete
    expect(client_secret).toBeDefined()
    const host = hostOf(incomplete, [['client_secret', 'PROVIDER_CLIENT_SECRET']])
    const contribution = await extension.start(host)
    await expect(Promise.resolve(contribution?.guard?.(contextOf('/v1/models')))).rejects.toMatchObject({ status: 401 })
    const start = contribution?.routes?.find(({ path }) => path === '/auth/provider')
    await expect(start?.handle(contextOf('/auth/provider')) ?? Promise.resolve()).rejects.toMatchObject({
      status: 500,
      code: 'oauth_not_configured',
    })
    expect(host.lines).toEqual([['warn', expect.stringContaining('$PROVIDER_CLIENT_SECRET')]])
  })

  test('warns without restrict_to', async () => {
    const { restrict_to, ...open } = complete
    expect(restrict_to).toBe('ada')
    const host = hostOf(open, [['restrict_to', 'PROVIDER_USERS']])
    await extension.start(host)
    expect(host.lines).toEqual([['warn', expect.stringContaining('anyone')]])
  })

  test('does not start with an invalid file', async () => {
    await expect(extension.start(hostOf({ ...complete, redirect_uri: 'https://svc.test/elsewhere' }))).rejects.toThrow(
      ExtensionConfigError,
    )
  })
})
