import { describe, expect, test } from 'bun:test'
import { pick } from '../client.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import type { Registration } from '../fakes/identity/identity-provider.ts'
import { provider } from '../harness.ts'
import { startSignIn, type SignInRig } from './rig.ts'

/** A server without a preset, configured by three URLs: `OctoCat` and `OCTOCAT` are two accounts. */
function startDjango(registration: Registration): Github {
  const github = startGithub(registration)
  const [authorize_url, token_url, user_url] = [
    '/login/oauth/authorize',
    '/login/oauth/access_token',
    '/api/v3/user',
  ].map((path) => github.url + path)
  return { ...github, config: { authorize_url, token_url, user_url } }
}

const people = ['OctoCat', 'OCTOCAT'] as const

async function signInBoth(rig: SignInRig<Github>): Promise<readonly string[]> {
  return Promise.all(people.map(async (person) => (await rig.signIn(person)).token))
}

function areOwners(rig: SignInRig<Github>, tokens: readonly string[]): Promise<readonly unknown[]> {
  return Promise.all(
    tokens.map(async (token) => pick((await rig.get('/api/boot', { cookie: `token=${token}` })).json, 'isOwner')),
  )
}

/** Changes `owners`, and waits until the configuration is reloaded. */
async function configured(rig: SignInRig<Github>, owners: readonly string[]): Promise<void> {
  const count = () => rig.service.output.split('configuration reloaded').length
  const before = count()
  await rig.service.configure({ providers: [provider('a', rig.upstream.url)], owners })
  for (let round = 0; round < 500 && count() === before; round++) await Bun.sleep(10)
}

describe('names that differ in case', () => {
  test('are two users at a provider without preset › restrict_to and owners match one of them', async () => {
    await using rig = await startSignIn(startDjango)
    const tokens = await signInBoth(rig)
    await configured(rig, ['OctoCat'])
    expect(await areOwners(rig, tokens)).toEqual([true, false])
    await configured(rig, [`id:${String(rig.provider.profile('OCTOCAT')['id'])}`])
    expect(await areOwners(rig, tokens)).toEqual([false, true])
    await rig.configure({ restrict_to: 'OctoCat' })
    await rig.logged('extension reloaded')
    expect(
      await Promise.all(tokens.map(async (token) => (await rig.ask({ 'x-session-token': token })).status)),
    ).toEqual([200, 401])
  })

  test('are one user at GitHub', async () => {
    await using rig = await startSignIn(startGithub, { config: { restrict_to: 'octocat' } })
    const tokens = await signInBoth(rig)
    await configured(rig, ['octocat'])
    expect(await areOwners(rig, tokens)).toEqual([true, true])
  })
})
