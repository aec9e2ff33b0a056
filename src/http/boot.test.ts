import { describe, expect, test } from 'bun:test'
import type { Visitor } from '../extensions/extension.ts'
import { WireError } from '../wire/error.ts'
import { bootRoute, type BootOptions } from './boot.ts'
import type { Guard } from './pass-guards.ts'
import { exchangeOf } from './testing.ts'

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
    visitor
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
    parts: () => [],
    moduleOf: async () => undefined,
    onMissingPart: () => undefined,
    ...options,
  })
}

async function boot(options: Partial<BootOptions> = {}): Promise<unknown> {
  return (await route(options).handle(exchangeOf(new Request('http://x/api/boot')))).json()
}

describe('GET /api/boot', () => {
  test('is public, and kept by nobody', async () => {
    expect(route()).toMatchObject({ method: 'GET', path: '/api/boot', isPublic: true })
    expect((await route().handle(exchangeOf(new Request('http://x/api/boot')))).headers.get('cache-control')).toBe(
      'no-store',
    )
  })

  test('without a guard tells that nobody need sign in, and that everybody is an owner, whatever owners there are', async () => {
    expect(await boot({ mayOwn: () => false })).toEqual({ version: '1.2.3', isClosed: false, isOwner: true, parts: [] })
  })

  test('tells who is there', async () => {
    expect(await boot({ guards: () => [naming(ada)] })).toEqual({
      version: '1.2.3',
      isClosed: true,
      user: { ...ada.profile },
      isOwner: true,
      parts: [],
    })
  })

  test('tells somebody without a profile by their name', async () => {
    expect(await boot({ guards: () => [naming({ user: 'bob' })] })).toMatchObject({
      user: { id: 'bob', userName: 'bob', displayName: 'bob', email: '', avatarUrl: '' },
    })
  })

  test.each(['http://pictures.test/a.png', 'javascript:alert(1)', ''])('tells no picture at %p', async (avatarUrl) => {
    const profile = { id: 'a', userName: 'ada', displayName: 'Ada', email: '', avatarUrl }
    expect(await boot({ guards: () => [naming({ user: 'ada', profile })] })).toMatchObject({ user: { avatarUrl: '' } })
  })

  test('tells of a profile nothing but what a user is', async () => {
    const profile = { id: 'a', userName: 'ada', displayName: 'Ada', email: '', avatarUrl: '', token: 'secret' }
    expect(JSON.stringify(await boot({ guards: () => [naming({ user: 'ada', profile })] }))).not.toContain('secret')
  })

  test('tells that somebody must sign in when a guard answers 401, and that they own nothing', async () => {
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

  test('passes on a mistake of a guard', async () => {
    await expect(
      boot({
        guards: () => [
          async () => {
            throw new TypeError('a mistake')
          },
        ],
      }),
    ).rejects.toThrow(TypeError)
  })

  test('asks every guard: one is not enough, and the last name counts', async () => {
    expect(await boot({ guards: () => [naming(ada), refusing(401)] })).not.toHaveProperty('user')
    expect(await boot({ guards: () => [naming(ada), naming(undefined), naming({ user: 'bob' })] })).toMatchObject({
      user: { userName: 'bob' },
    })
    expect(await boot({ guards: () => [naming(ada), naming(undefined)] })).toMatchObject({ user: { userName: 'ada' } })
  })

  test('tells whom guards let pass without a name that nobody need sign in', async () => {
    expect(await boot({ guards: () => [naming(undefined)], mayOwn: (user) => user !== undefined })).toEqual({
      version: '1.2.3',
      isClosed: false,
      isOwner: false,
      parts: [],
    })
  })

  test('tells who is an owner', async () => {
    const mayOwn = (user: string | undefined) => user === 'ada'
    expect(await boot({ guards: () => [naming(ada)], mayOwn })).toMatchObject({ isOwner: true })
    expect(await boot({ guards: () => [naming({ user: 'bob' })], mayOwn })).toMatchObject({ isOwner: false })
  })

  test('shows a guard the request as it came', async () => {
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

  test('names the parts and where they are; of one that was not built it tells the log once, and the page nothing', async () => {
    const missing: string[] = []
    const handle = route({
      parts: () => [
        { extension: 'one', slots: ['SignIn'], settings: { a: 'b' } },
        { extension: 'two', slots: [], settings: {} },
      ],
      moduleOf: async (extension) => (extension === 'one' ? '/assets/one.js' : undefined),
      onMissingPart: (extension) => missing.push(extension),
    })
    for (let times = 0; times < 2; times++) {
      const answer: unknown = await (await handle.handle(exchangeOf(new Request('http://x/api/boot')))).json()
      expect(answer).toMatchObject({
        parts: [{ extension: 'one', module: '/assets/one.js', slots: ['SignIn'], settings: { a: 'b' } }],
      })
    }
    expect(missing).toEqual(['two'])
  })
})
