import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rename, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { configPath, configText, startSignIn, type SignInConfig, type SignInRig } from './rig.ts'

/** Changes of config.json while the service runs. */

const steps = 500,
  stepMs = 10

describe('config.json, changed while the service runs', () => {
  let rig: SignInRig<Github>
  beforeAll(async () => {
    rig = await startSignIn(startGithub)
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  const statusOf = async (token: string) => (await rig.ask({ 'x-session-token': token })).status

  /** Waits for a condition. @throws if it is not met in time */
  async function becomes(isSo: () => Promise<boolean>): Promise<void> {
    for (let step = 0; step < steps; step++) {
      if (await isSo()) return
      await Bun.sleep(stepMs)
    }
    throw new Error(`the condition was not met:\n${rig.service.output}`)
  }

  function countOf(word: string): number {
    return rig.service.logs.filter(({ message }) => String(message).includes(word)).length
  }

  /** Writes the file, and waits until the service has applied or refused it. */
  async function settle(config: SignInConfig | string | null, word = 'extension reloaded'): Promise<void> {
    const before = countOf(word)
    await rig.configure(config)
    await becomes(() => Promise.resolve(countOf(word) > before))
  }

  test('restrict_to › ends the sessions of removed users at their next use', async () => {
    const ada = await rig.signIn('ada'),
      grace = await rig.signIn('grace')
    await settle({ restrict_to: 'GRACE' })
    expect([await statusOf(ada.token), await statusOf(grace.token)]).toEqual([401, 200])
    const browser = rig.browser()
    expect((await browser.visit(await rig.authorize(browser, 'ada'))).status).toBe(403)
    await settle({})
    expect((await rig.signIn('ada')).page.status).toBe(302)
    expect(await statusOf(grace.token)).toBe(200)
  })

  test('a session that ended this way › stays ended when the name is added again', async () => {
    const ada = await rig.signIn('ada')
    await settle({ restrict_to: 'grace' })
    expect(await statusOf(ada.token)).toBe(401)
    await settle({})
    expect(await statusOf(ada.token)).toBe(401)
  })

  test('enabled: false › routes are 404, the service open, with a warning; true › closed, sessions valid', async () => {
    const { token } = await rig.signIn()
    await settle({ enabled: false })
    const open = await Promise.all(
      ['/auth', '/auth/provider', '/auth/provider/callback', '/auth/session', '/v1/models'].map(
        async (path) => (await rig.get(path)).status,
      ),
    )
    expect([...open, (await rig.ask()).status]).toEqual([404, 404, 404, 404, 200, 200])
    await rig.logged('"level":"warn"', 'is OFF')
    await settle({})
    expect([(await rig.ask()).status, await statusOf(token)]).toEqual([401, 200])
  })

  test.each<readonly [string, string | SignInConfig]>([
    ['half a file', '{"client_id": "x",'],
    ['an empty file', ''],
    ['a wrong type', { enabled: 'no' }],
    ['a redirect_uri that leads elsewhere', { redirect_uri: 'https://evil.example/' }],
    ['a member that is misspelt', { restrict: 'ada' }],
  ])('%s › keeps the configuration, and is logged', async (_, config) => {
    const { token } = await rig.signIn()
    await settle(config, 'was not reloaded')
    expect([(await rig.ask()).status, await statusOf(token)]).toEqual([401, 200])
    expect((await rig.signIn()).page.status).toBe(302)
  })

  test('a deleted file › keeps the configuration, and is logged; restored, it applies again', async () => {
    const { token } = await rig.signIn()
    await settle(null, 'was not reloaded')
    expect([(await rig.ask()).status, await statusOf(token)]).toEqual([401, 200])
    await settle({ restrict_to: 'other-user' })
    expect(await statusOf(token)).toBe(401)
    await settle({})
  })

  test('client_secret › applies to the next token request', async () => {
    await settle({ client_secret: 'another' })
    const browser = rig.browser()
    expect((await browser.visit(await rig.authorize(browser))).status).toBe(500)
    await settle({})
    expect((await rig.signIn()).page.status).toBe(302)
  })

  test('a flow in progress › completes', async () => {
    const browser = rig.browser(),
      callback = await rig.authorize(browser)
    await settle({ display_name: 'Another name' })
    expect((await browser.visit(callback)).status).toBe(302)
    await settle({})
  })

  test('a symbolic link with a replaced target, as in mounted configuration › applies the new target', async () => {
    const folder = dirname(join(rig.service.home, configPath))
    for (const [version, restrict_to] of [
      ['..1', 'ada'],
      ['..2', 'grace'],
    ] as const)
      await rig.service.write(
        join(dirname(configPath), version, 'config.json'),
        configText(rig.provider, rig.registration, { restrict_to }),
      )
    await symlink('..1', join(folder, '..data'))
    const restricts = (person: string) => async () => {
      const browser = rig.browser()
      return (await browser.visit(await rig.authorize(browser, person))).status === 403
    }
    await symlink('..data/config.json', join(folder, 'linked.json'))
    await rename(join(folder, 'linked.json'), join(folder, 'config.json'))
    await becomes(restricts('grace'))
    await symlink('..2', join(folder, '..next'))
    await rename(join(folder, '..next'), join(folder, '..data'))
    await becomes(restricts('ada'))
    expect((await rig.signIn('grace')).page.status).toBe(302)
    await settle({})
  })

  test('SIGHUP › reads the file again', async () => {
    const before = countOf('extension reloaded')
    rig.service.signal('SIGHUP')
    await becomes(() =>
      Promise.resolve(countOf('extension reloaded') > before || countOf('configuration reloaded') > 0),
    )
    expect((await rig.ask()).status).toBe(401)
  })

  test('saved forty times, alternately open and closed › the last version applies', async () => {
    for (let times = 0; times < 40; times++) await rig.configure({ enabled: times % 2 === 0 })
    await rig.configure({ restrict_to: 'grace' })
    await becomes(async () => (await rig.ask()).status === 401)
    const browser = rig.browser()
    await becomes(async () => (await browser.visit(await rig.authorize(browser, 'ada'))).status === 403)
    expect((await rig.signIn('grace')).page.status).toBe(302)
  })
})

test('a service started without a file › is closed when the file appears', async () => {
  await using rig = await startSignIn(startGithub, { config: { enabled: false } })
  expect((await rig.ask()).status).toBe(200)
  await rig.service.write(configPath, configText(rig.provider, rig.registration))
  await rig.logged('extension reloaded', '"state":"on"')
  expect((await rig.ask()).status).toBe(401)
  expect((await rig.signIn()).page.status).toBe(302)
})
