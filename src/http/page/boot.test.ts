import { describe, expect, test } from 'bun:test'
import type { Visitor } from '../../extensions/extension.ts'
import { WireError } from '../../formats/error.ts'
import { callerOf } from '../../people/caller-of.ts'
import type { Caller, Person } from '../../people/person.ts'
import type { Guard } from '../pass-guards.ts'
import { contextOf } from '../testing.ts'
import { bootRoute, type BootOptions } from './boot.ts'

const ada: Visitor = {
  user: 'ada',
  profile: {
    id: 'a-1',
    userName: 'ada',
    displayName: 'Ada Lovelace',
    email: 'ada@mail.test',
    avatarUrl: 'https://pictures.test/ada.png',
  },
}
const naming =
  (visitor: Visitor | undefined): Guard =>
  async () =>
    visitor && callerOf(visitor)
const refusing =
  (status: number): Guard =>
  async () => {
    throw new WireError(status, 'authentication_error', 'refused', 'no')
  }

function route(options: Partial<BootOptions> = {}) {
  return bootRoute({
    version: '1.2.3',
    guards: () => [],
    mayOwn: () => true,
    teamsOf: () => [],
    hasUsage: () => false,
    contentOf: () => undefined,
    hasKeys: () => false,
    hasLimits: () => false,
    hasPeople: () => false,
    titleModel: () => undefined,
    hasHistory: () => false,
    parts: () => [],
    modulesOf: async () => undefined,
    onMissingPart: () => undefined,
    ...options,
  })
}

async function boot(options: Partial<BootOptions> = {}): Promise<unknown> {
  return (await route(options).handle(contextOf(new Request('http://x/api/boot')))).json()
}

describe('GET /api/boot', () => {
  test('is public, and never cached', async () => {
    expect(route()).toMatchObject({ method: 'GET', path: '/api/boot', isPublic: true })
    expect((await route().handle(contextOf(new Request('http://x/api/boot')))).headers.get('cache-control')).toBe(
      'no-store',
    )
  })

  test('without a guard is open, and every visitor is an owner', async () => {
    expect(await boot({ mayOwn: () => false })).toEqual({ version: '1.2.3', isClosed: false, isOwner: true, parts: [] })
  })

  test('names the model of titles to visitors that the guards let pass', async () => {
    const titleModel = () => 'cheap'
    expect(await boot({ titleModel })).toHaveProperty('titleModel', 'cheap')
    expect(await boot({ titleModel, guards: () => [naming(ada)] })).toHaveProperty('titleModel', 'cheap')
    expect(await boot({ titleModel, guards: () => [refusing(401)] })).not.toHaveProperty('titleModel')
  })

  test('says whether content is kept, to visitors that may enter', async () => {
    const contentOf = ({ name }: Caller) => ({ keptMs: name === 'ann' ? 5 : 0 })
    expect(await boot({ contentOf })).toMatchObject({ contentKeptMs: 0 })
    expect(await boot({ contentOf, guards: () => [naming({ user: 'ann' })] })).toMatchObject({ contentKeptMs: 5 })
    expect(await boot({ contentOf, guards: () => [refusing(401)] })).not.toHaveProperty('contentKeptMs')
  })

  test('has the signed-in user', async () => {
    expect(await boot({ guards: () => [naming(ada)] })).toEqual({
      version: '1.2.3',
      isClosed: true,
      user: { ...ada.profile },
      isOwner: true,
      parts: [],
    })
  })

  test('tells only owners that there are limits', async () => {
    const told = (isOwner: boolean) =>
      boot({ guards: () => [naming(ada)], mayOwn: () => isOwner, hasLimits: () => true })
    expect(await told(true)).toHaveProperty('hasLimits', true)
    expect(await told(false)).not.toHaveProperty('hasLimits')
  })

  test('names a user without a profile by the user name', async () => {
    expect(await boot({ guards: () => [naming({ user: 'bob' })] })).toMatchObject({
      user: { id: 'bob', userName: 'bob', displayName: 'bob', email: '', avatarUrl: '' },
    })
  })

  test.each(['http://pictures.test/a.png', 'javascript:alert(1)', ''])('omits an avatar at %p', async (avatarUrl) => {
    const profile = { id: 'a', userName: 'ada', displayName: 'Ada', email: '', avatarUrl }
    expect(await boot({ guards: () => [naming({ user: 'ada', profile })] })).toMatchObject({ user: { avatarUrl: '' } })
  })

  test('has only the fields of a user from a profile', async () => {
    const profile = { id: 'a', userName: 'ada', displayName: 'Ada', email: '', avatarUrl: '', token: 'secret' }
    expect(JSON.stringify(await boot({ guards: () => [naming({ user: 'ada', profile })] }))).not.toContain('secret')
  })

  test('is closed when a guard answers 401, and the visitor is no owner', async () => {
    expect(await boot({ guards: () => [refusing(401)] })).toEqual({
      version: '1.2.3',
      isClosed: true,
      isOwner: false,
      parts: [],
    })
  })

  test.each([403, 503])('passes an answer of %p on', async (status) => {
    await expect(boot({ guards: () => [refusing(status)] })).rejects.toMatchObject({ status })
  })

  test('throws an internal error of a guard', async () => {
    await expect(
      boot({
        guards: () => [
          async () => {
            throw new TypeError('internal')
          },
        ],
      }),
    ).rejects.toThrow(TypeError)
  })

  test('asks every guard; the last name counts', async () => {
    expect(await boot({ guards: () => [naming(ada), refusing(401)] })).not.toHaveProperty('user')
    expect(await boot({ guards: () => [naming(ada), naming(undefined), naming({ user: 'bob' })] })).toMatchObject({
      user: { userName: 'bob' },
    })
    expect(await boot({ guards: () => [naming(ada), naming(undefined)] })).toMatchObject({ user: { userName: 'ada' } })
  })

  test('is open for a visitor without a name that the guards let pass', async () => {
    expect(await boot({ guards: () => [naming(undefined)], mayOwn: (person) => person !== undefined })).toEqual({
      version: '1.2.3',
      isClosed: false,
      isOwner: false,
      parts: [],
    })
  })

  test('marks owners', async () => {
    const mayOwn = (person?: Person) => person?.name === 'ada'
    expect(await boot({ guards: () => [naming(ada)], mayOwn })).toMatchObject({ isOwner: true })
    expect(await boot({ guards: () => [naming({ user: 'bob' })], mayOwn })).toMatchObject({ isOwner: false })
  })

  test('passes the unchanged request to a guard', async () => {
    const seen: unknown[] = []
    await boot({
      guards: () => [
        async (visit) => {
          seen.push([visit.path, visit.address, visit.id])
          return undefined
        },
      ],
    })
    expect(seen).toEqual([['/api/boot', '127.0.0.1', 'request-1']])
  })

  test('lists the parts with their modules, without a missing one, which is logged once', async () => {
    const missing: string[] = []
    const handle = route({
      parts: () => [
        { extension: 'one', slots: ['SignIn'], settings: { a: 'b' } },
        { extension: 'two', slots: [], settings: {} },
      ],
      modulesOf: async (extension) => (extension === 'one' ? { en: '/assets/one.js' } : undefined),
      onMissingPart: (extension) => missing.push(extension),
    })
    for (let times = 0; times < 2; times++) {
      const answer: unknown = await (await handle.handle(contextOf(new Request('http://x/api/boot')))).json()
      expect(answer).toMatchObject({
        parts: [{ extension: 'one', modules: { en: '/assets/one.js' }, slots: ['SignIn'], settings: { a: 'b' } }],
      })
    }
    expect(missing).toEqual(['two'])
  })
})
