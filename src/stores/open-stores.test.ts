import { describe, expect, test } from 'bun:test'
import { RedisClient } from 'bun'
import fc from 'fast-check'
import { startRedisServer } from '../../test/fakes/redis-server.ts'
import { needs } from '../../test/needs.ts'
import { BadStoreUrl, openStores } from './open-stores.ts'
import { StoreUnavailable } from './store.ts'
import { ampleOptions } from './testing.ts'

const form =
  'allowed: memory, redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// with TLS; all but the host may be left out'

async function failure(url: string): Promise<unknown> {
  return await openStores(url, { now: Date.now, timeoutMs: 100 }).then(
    () => 'nothing',
    (error: unknown) => error,
  )
}

describe('opening stores', () => {
  test.each([undefined, 'memory'])('%p keeps values in this process', async (url) => {
    const stores = await openStores(url, { now: Date.now }),
      store = stores.open('states', ampleOptions)
    await store.set('key', 'value', 'owner')
    expect(await store.get('key')).toBe('value')
    await stores.close()
  })

  test.skipIf(needs('redis-server') === undefined).each(['', '/', '/3'])(
    'redis://HOST:PORT%s keeps values in a server',
    async (path) => {
      await using server = await startRedisServer()
      const [one, other] = await Promise.all([
        openStores(server.url + path, { now: Date.now }),
        openStores(server.url + path, { now: Date.now }),
      ])
      await one.open('states', ampleOptions).set('key', 'value', 'owner')
      expect(await other.open('states', ampleOptions).get('key')).toBe('value')
      await Promise.all([one.close(), other.close()])
    },
  )

  test.skipIf(needs('redis-server') === undefined)('leaves no connection to a server that cannot be used', async () => {
    await using server = await startRedisServer({ flags: ['--maxmemory', '1'] })
    expect(await failure(server.url)).toEqual(new StoreUnavailable('the server of the store is out of memory'))
    const admin = new RedisClient(server.url, { autoReconnect: false })
    const clients = async (): Promise<number> =>
      String(await admin.send('CLIENT', ['LIST']))
        .split('\n')
        .filter((line) => line !== '').length
    // The server may be told of the closing a moment later.
    for (let attempt = 0; attempt < 1_000 && (await clients()) > 1; attempt++);
    expect(await clients()).toBe(1)
    admin.close()
  })

  test.each([
    ['', 'not a URL (within a password, : / ? # @ % are written %3A %2F %3F %23 %40 %25)'],
    ['redis', 'not a URL (within a password, : / ? # @ % are written %3A %2F %3F %23 %40 %25)'],
    ['Memory', 'not a URL (within a password, : / ? # @ % are written %3A %2F %3F %23 %40 %25)'],
    ['redis://:hush#@host', 'not a URL (within a password, : / ? # @ % are written %3A %2F %3F %23 %40 %25)'],
    ['redis://:hush@host:99999', 'not a URL (within a password, : / ? # @ % are written %3A %2F %3F %23 %40 %25)'],
    ['redis://:hush@', 'not a URL (within a password, : / ? # @ % are written %3A %2F %3F %23 %40 %25)'],
    ['localhost:6379', 'another kind of URL'],
    ['postgres://user:hush@host/base', 'another kind of URL'],
    ['redis+unix:///run/redis.sock', 'another kind of URL'],
    ['redis:', 'no host'],
    ['redis:///1', 'no host'],
    ['redis:host', 'no host'],
    ['redis://:hush@host/one', 'the database is not a number'],
    ['redis://:hush@host/1/2', 'the database is not a number'],
    ['redis://:hush@host/-1', 'the database is not a number'],
    ['redis://host?password=hush', 'nothing may follow the database'],
    ['redis://host/1#hush', 'nothing may follow the database'],
    ['redis://:hush%zz@host', 'the user name or the password has a % that is not %25'],
  ])('%p is refused', async (url, why) => {
    const error = await failure(url)
    expect(error).toBeInstanceOf(BadStoreUrl)
    expect(error).toMatchObject({ message: `${why}; ${form}` })
  })

  test('never shows any URL', async () => {
    // Nothing listens on port 1: an accepted URL fails to connect.
    const url = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map((text) => `redis://:${text}hush@127.0.0.1:1`),
      fc.string().map((text) => `redis://127.0.0.1:1/${text}hush`),
    )
    await fc.assert(
      fc.asyncProperty(
        url.filter((text) => text !== 'memory'),
        async (text) => {
          const error = await failure(text)
          if (!(error instanceof BadStoreUrl) && !(error instanceof StoreUnavailable))
            throw new Error('of another kind', { cause: error })
          expect(Bun.inspect(error.message)).not.toContain('hush')
        },
      ),
    )
  })

  test('fails when the server cannot be used', async () => {
    expect(await failure('redis://user:hush@127.0.0.1:1/2')).toEqual(
      new StoreUnavailable('the server of the store cannot be reached'),
    )
    expect(await failure('redis://[::1]:1')).toEqual(new StoreUnavailable('the server of the store cannot be reached'))
  })
})
