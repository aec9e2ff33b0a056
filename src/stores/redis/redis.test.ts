import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RedisClient } from 'bun'
import { makeCertificate } from '../../../test/fakes/certificates.ts'
import { startRedisServer, type RedisServer } from '../../../test/fakes/redis-server.ts'
import { needs } from '../../../test/needs.ts'
import { StoreUnavailable } from '../store.ts'
import { limitContract } from '../testing-limits.ts'
import { ampleOptions, storeContract, unusedName } from '../testing.ts'
import { redisStores, type RedisStores } from './redis.ts'

/** The message of the StoreUnavailable that a promise rejects with. */
async function trouble(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => 'nothing',
    (reason: unknown) => reason,
  )
  return error instanceof StoreUnavailable && error.cause === undefined
    ? error.message
    : `not StoreUnavailable: ${Bun.inspect(error)}`
}

const opened: RedisStores[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((stores) => stores.close()))
})

function storesAt(
  url: string,
  more: { readonly timeoutMs?: number; readonly onChange?: (failure: StoreUnavailable | undefined) => void } = {},
): RedisStores {
  const stores = redisStores({ url, now: Date.now, ...more })
  opened.push(stores)
  return stores
}

describe.skipIf(needs('redis-server') === undefined)('redis', () => {
  let server: RedisServer, direct: RedisClient
  beforeAll(async () => {
    server = await startRedisServer()
    direct = new RedisClient(server.url, { autoReconnect: false })
  })
  afterAll(async () => {
    direct.close()
    await server.kill()
  })

  storeContract('redis', async (now) => redisStores({ url: server.url, now, timeoutMs: 15_000 }))

  limitContract('redis', async () => ({
    stores: redisStores({ url: server.url, now: Date.now, timeoutMs: 15_000 }),
    // The server's clock counts: instead of the clock, its entries are moved.
    async elapse(limit, ms) {
      const key = `svc:${limit}:limit`
      for (const client of await direct.zrange(key, 0, -1)) await direct.zincrby(key, -ms * 1_000, client)
    },
  }))

  async function keys(name: string): Promise<readonly string[]> {
    return (await direct.keys(`svc:${name}:*`)).toSorted()
  }

  describe('redis: several processes', () => {
    test('share values, and one of them takes a value', async () => {
      const name = unusedName(),
        stores = [storesAt(server.url), storesAt(server.url)].map((each) => each.open(name, ampleOptions))
      await stores[0]?.set('key', 'value', 'owner')
      expect(await stores[1]?.get('key')).toBe('value')
      const taken = await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, () => store.take('key'))))
      expect(taken.filter((value) => value !== undefined)).toEqual(['value'])
    })

    test('share the limits', async () => {
      const name = unusedName(),
        [one, other] = [storesAt(server.url), storesAt(server.url)].map((each) =>
          each.open(name, { ...ampleOptions, valuesPerOwnerMax: 2 }),
        )
      await one?.set('first', 'value', 'owner')
      await other?.set('second', 'value', 'owner')
      await one?.set('third', 'value', 'owner')
      expect([await one?.get('first'), await one?.get('second'), await one?.get('third')]).toEqual([
        undefined,
        'value',
        'value',
      ])
    })
  })

  describe('redis: a limit', () => {
    test('counts for several processes, expires by itself, and shows no client', async () => {
      const name = unusedName(),
        [one, other] = [storesAt(server.url), storesAt(server.url)].map((each) => each.limit(name, { perMinute: 2 }))
      expect([await one?.take('198.51.100.7'), await other?.take('198.51.100.7')]).toEqual([undefined, undefined])
      expect(
        [await one?.take('198.51.100.7'), await other?.take('198.51.100.7')].map((seconds) => seconds !== undefined),
      ).toEqual([true, true])
      expect(await keys(name)).toEqual([`svc:${name}:limit`])
      expect(await direct.pttl(`svc:${name}:limit`)).toBeWithin(30_000, 61_001)
      expect(await direct.zrange(`svc:${name}:limit`, 0, -1)).toEqual([expect.stringMatching(/^[0-9a-f]{40}$/)])
    })

    test('forgets clients with a full bucket, and those from before the clock was set back', async () => {
      const name = unusedName(),
        limit = storesAt(server.url).limit(name, { perMinute: 2 }),
        key = `svc:${name}:limit`
      await direct.send('ZADD', [key, '1', 'long ago', `${(Date.now() + 3_600_000) * 1_000}`, 'to come'])
      await limit.take('client')
      expect(await direct.zcard(key)).toBe(1)
    })
  })

  describe('redis: a stored value', () => {
    test('expires by itself, to the last key', async () => {
      const name = unusedName(),
        store = storesAt(server.url).open(name, ampleOptions)
      await store.set('a', 'value', 'owner')
      await store.set('b', 'value', 'owner')
      expect(await keys(name)).toEqual(
        ['order', 'owned', 'places', 'ranking', 'value:a', 'value:b'].map((key) => `svc:${name}:${key}`),
      )
      for (const key of await keys(name)) {
        const ms = await direct.pttl(key)
        expect(ms).toBeGreaterThan(ampleOptions.ttlMs - 10_000)
        expect(ms).toBeLessThanOrEqual(ampleOptions.ttlMs + 1)
      }
    })

    test('leaves nothing behind when it was taken, deleted or evicted', async () => {
      const name = unusedName(),
        store = storesAt(server.url).open(name, { ...ampleOptions, valuesMax: 3, valuesPerOwnerMax: 2 })
      for (const key of ['a1', 'a2', 'a3', 'b1', 'c1']) await store.set(key, 'value', key.slice(0, 1))
      await store.take('a3')
      await store.delete('b1')
      await store.delete('c1')
      expect(await keys(name)).toEqual([])
    })

    test('does not count once the server has expired it', async () => {
      const name = unusedName(),
        store = storesAt(server.url).open(name, ampleOptions)
      for (const key of ['a', 'b', 'c']) await store.set(key, 'value', key)
      await direct.send('ZADD', [`svc:${name}:order`, '1', 'a', '2', 'b'])
      await store.set('d', 'value', 'c')
      expect(await direct.send('ZRANGE', [`svc:${name}:order`, '0', '-1'])).toEqual(['c', 'd'])
      expect((await direct.hkeys(`svc:${name}:places`)).toSorted()).toEqual(['c', 'd'])
      expect(await Promise.all([direct.zcard(`svc:${name}:owned`), direct.zcard(`svc:${name}:ranking`)])).toEqual([
        2, 1,
      ])
    })

    test('keeps its order when the clock was set back a little', async () => {
      const name = unusedName(),
        store = storesAt(server.url).open(name, ampleOptions)
      await store.set('a', 'value', 'owner')
      await direct.send('ZADD', [`svc:${name}:order`, `${(Date.now() + 60_000) * 1_000}`, 'a'])
      await store.set('b', 'value', 'owner')
      expect(await direct.send('ZRANGE', [`svc:${name}:order`, '0', '-1'])).toEqual(['a', 'b'])
    })

    test('does not pile up when the clock was set back', async () => {
      const name = unusedName(),
        store = storesAt(server.url).open(name, ampleOptions)
      await store.set('a', 'value', 'owner')
      await direct.send('ZADD', [`svc:${name}:order`, '9000000000000000', 'a'])
      await store.set('b', 'value', 'owner')
      expect(await direct.send('ZRANGE', [`svc:${name}:order`, '0', '-1'])).toEqual(['b'])
      expect(await Promise.all([store.get('a'), store.get('b')])).toEqual(['value', 'value'])
    })

    test('shows its owner neither in keys nor in values', async () => {
      const name = unusedName(),
        store = storesAt(server.url).open(name, ampleOptions)
      await store.set('key', 'value', 'someone@example.org')
      const dumps = await Promise.all((await keys(name)).map((key) => direct.send('DUMP', [key])))
      expect(JSON.stringify([await keys(name), dumps])).not.toContain('someone')
    })
  })

  describe('redis: a value that others put there', () => {
    test.each([
      'nonsense',
      '',
      '{}',
      '[]',
      'null',
      '1',
      '"text"',
      '{"createdAt":1}',
      '{"value":"text"}',
      '{"createdAt":"1","value":"text"}',
      '{"createdAt":null,"value":"text"}',
      `{"createdAt":"${Date.now()}","value":"text"}`,
      '{"createdAt":"now","value":"text"}',
      '{"createdAt":1e999,"value":"text"}',
      `{"createdAt":${Date.now()},"value":7}`,
      `{"createdAt":${Date.now()},"value":`,
      '\u0000',
      '['.repeat(100_000),
    ])('%p is no value', async (garbage) => {
      const name = unusedName(),
        store = storesAt(server.url).open(name, ampleOptions)
      await direct.set(`svc:${name}:value:key`, garbage)
      expect([await store.get('key'), await store.take('key'), await direct.exists(`svc:${name}:value:key`)]).toEqual([
        undefined,
        undefined,
        false,
      ])
    })

    test('is none when it is no text, and can be replaced', async () => {
      const name = unusedName(),
        store = storesAt(server.url).open(name, ampleOptions),
        key = `svc:${name}:value:key`
      await direct.send('RPUSH', [key, 'one', 'two'])
      expect([await store.get('key'), await store.take('key'), await direct.exists(key)]).toEqual([
        undefined,
        undefined,
        false,
      ])
      await direct.send('RPUSH', [key, 'one', 'two'])
      await store.set('key', 'value', 'owner')
      expect(await store.get('key')).toBe('value')
    })

    test('is none when it is not UTF-8', async () => {
      const name = unusedName(),
        store = storesAt(server.url).open(name, ampleOptions)
      await direct.set(`svc:${name}:value:key`, Uint8Array.of(0xff, 0xfe, 0x00, 0xc3))
      expect(await store.get('key')).toBeUndefined()
    })

    test.each(['order', 'places', 'owned', 'ranking'])('does no lasting harm when %s is lost', async (book) => {
      const name = unusedName(),
        store = storesAt(server.url).open(name, { ...ampleOptions, valuesMax: 3, valuesPerOwnerMax: 2 })
      for (const key of ['a1', 'b1', 'b2']) await store.set(key, 'value', key.slice(0, 1))
      await direct.del(`svc:${name}:${book}`)
      await store.set('c1', 'value', 'c')
      const [order, places, owned] = await Promise.all([
        direct.zcard(`svc:${name}:order`),
        direct.hlen(`svc:${name}:places`),
        direct.zcard(`svc:${name}:owned`),
      ])
      expect([places, owned]).toEqual([order, order])
      for (const key of ['b3', 'a1', 'd1', 'e1', 'e2']) await store.set(key, 'value', key.slice(0, 1))
      expect([await store.get('e2'), await store.take('e2'), await store.get('e2')]).toEqual([
        'value',
        'value',
        undefined,
      ])
      expect(await direct.zcard(`svc:${name}:order`)).toBeLessThanOrEqual(3)
    })
  })

  describe('redis: a server that refuses', () => {
    /** Its own server, since it is made unfit. */
    async function refusing(flags: readonly string[], path = '', credentials = ''): Promise<string> {
      await using other = await startRedisServer({ flags })
      return await trouble(storesAt(`redis://${credentials}127.0.0.1:${other.port}${path}`).ready())
    }

    test.each([
      ['because no password was given', ['--requirepass', 'pass word'], '', '', 'wants a password'],
      [
        'because the password is wrong',
        ['--requirepass', 'pass word'],
        '',
        ':other@',
        'refuses the user name or the password',
      ],
      ['because it knows no such user', [], '', 'unknown:word@', 'refuses the user name or the password'],
      [
        'because the user may not',
        ['--user', 'svc', 'on', '>word', '~*', '-@all', '+get'],
        '',
        'svc:word@',
        'does not permit its user what is needed',
      ],
      [
        'because the user may use other keys only',
        ['--user', 'svc', 'on', '>word', '~other:*', '+@all'],
        '',
        'svc:word@',
        'does not permit its user what is needed',
      ],
      ['because there is no such database', [], '/99', '', 'has no database of that number'],
      [
        'because it is too old',
        ['--rename-command', 'GETDEL', ''],
        '',
        '',
        'is too old: Redis 6.2 or later is needed, or Valkey',
      ],
      ['because it is a replica', ['--replicaof', '127.0.0.1', '1'], '', '', 'is a replica that takes no writes'],
      ['because its memory is full', ['--maxmemory', '1'], '', '', 'is out of memory'],
      ['because it is a cluster', ['--cluster-enabled', 'yes'], '', '', 'is part of a cluster, which is not supported'],
    ] as const)('%s', async (_why, flags, path, credentials, reason) => {
      expect(await refusing(flags, path, credentials)).toBe(`the server of the store ${reason}`)
    })

    test('accepts a password of any characters, a user without channels and a database', async () => {
      await using other = await startRedisServer({
        flags: ['--user', 'svc', 'on', '>p@ss:w/o?#%', '~svc:*', 'resetchannels', '+@all'],
      })
      const stores = storesAt(`redis://svc:${encodeURIComponent('p@ss:w/o?#%')}@127.0.0.1:${other.port}/5`)
      await stores.ready()
      await stores.open('states', ampleOptions).set('key', 'value', 'owner')
      const reader = new RedisClient(`redis://127.0.0.1:${other.port}/5`, { autoReconnect: false })
      expect(await reader.exists('svc:states:value:key')).toBe(true)
      reader.close()
    })
  })

  describe('redis: a server that fails and recovers', () => {
    test('is unavailable at once while it is stopped, and recovers by itself', async () => {
      const first = await startRedisServer(),
        changes: (string | undefined)[] = []
      const stores = storesAt(first.url, { onChange: (change) => void changes.push(change?.message) }),
        store = stores.open(unusedName(), ampleOptions)
      await store.set('key', 'value', 'owner')
      await first.kill()

      const gone = 'the server of the store cannot be reached'
      const started = performance.now()
      for (const asking of [
        store.get('key'),
        store.set('key', 'value', 'owner'),
        store.take('key'),
        store.delete('key'),
        stores.ready(),
      ])
        expect(await trouble(asking)).toBe(gone)
      expect(performance.now() - started).toBeLessThan(1_000)

      await using again = await startRedisServer({ port: first.port })
      await store.set('key', 'again', 'owner')
      expect(await store.get('key')).toBe('again')
      expect([again.port, changes]).toEqual([first.port, [gone, undefined]])
    })

    test('is connected to again when an idle connection was lost', async () => {
      const first = await startRedisServer(),
        store = storesAt(first.url).open(unusedName(), ampleOptions)
      await store.set('key', 'value', 'owner')
      await first.kill()
      await using again = await startRedisServer({ port: first.port })
      expect([await store.get('key'), again.port]).toEqual([undefined, first.port])
    })

    test('fails pending commands when it ends', async () => {
      const other = await startRedisServer(),
        store = storesAt(other.url).open(unusedName(), ampleOptions)
      await store.get('key')
      other.pause()
      const waiting = [trouble(store.get('key')), trouble(store.take('key'))]
      await other.kill()
      expect(await Promise.all(waiting)).toEqual([
        'the server of the store cannot be reached',
        'the server of the store cannot be reached',
      ])
    })

    /** Asks until there is an answer. */
    async function untilItAnswers<Value>(ask: () => Promise<Value>): Promise<Value> {
      for (;;) {
        try {
          return await ask()
        } catch (error) {
          if (!(error instanceof StoreUnavailable)) throw error
          await Bun.sleep(10)
        }
      }
    }

    test('is unavailable in time when it hangs, then at once, and recovers when it goes on', async () => {
      await using other = await startRedisServer()
      const store = storesAt(other.url, { timeoutMs: 400 }).open(unusedName(), ampleOptions)
      await store.set('key', 'value', 'owner')
      other.pause()
      const hanging = 'the server of the store does not answer'
      expect(await trouble(store.get('key'))).toBe(hanging)
      const started = performance.now()
      for (let index = 0; index < 1_000; index++)
        expect(await trouble(store.set('key', 'other', 'owner'))).toBe(hanging)
      expect(performance.now() - started).toBeLessThan(400)
      other.resume()
      expect(await untilItAnswers(() => store.get('key'))).toBe('value')
    })

    test('is found again by background pings soon after a failed command', async () => {
      await using other = await startRedisServer()
      const changes: (string | undefined)[] = [],
        healed = Promise.withResolvers<void>()
      const store = storesAt(other.url, {
        timeoutMs: 300,
        onChange: (change) => {
          changes.push(change?.message)
          if (change === undefined) healed.resolve()
        },
      }).open(unusedName(), ampleOptions)
      await store.set('key', 'value', 'owner')
      other.pause()
      await trouble(store.get('key'))
      other.resume()
      await healed.promise
      expect([await store.get('key'), changes]).toEqual([
        'value',
        ['the server of the store does not answer', undefined],
      ])
    })

    test('is pinged one at a time, and not without commands', async () => {
      let connections = 0
      using silent = Bun.listen({
        hostname: '127.0.0.1',
        port: 0,
        socket: {
          open() {
            connections++
          },
          data() {},
        },
      })
      const store = storesAt(`redis://127.0.0.1:${silent.port}`, { timeoutMs: 100 }).open(unusedName(), ampleOptions)
      await trouble(store.get('key'))
      await Bun.sleep(700)
      const asked = connections
      expect(asked).toBeWithin(1, 4)
      await Bun.sleep(700)
      expect(connections).toBe(asked)
      for (let round = 0; round < 70; round++) {
        await Promise.all(Array.from({ length: 20 }, () => trouble(store.get('key'))))
        await Bun.sleep(10)
      }
      expect(connections - asked).toBeWithin(1, 6)
    })

    test('is used again when it stops being a replica', async () => {
      await using other = await startRedisServer()
      const store = storesAt(other.url).open(unusedName(), ampleOptions),
        admin = new RedisClient(other.url, { autoReconnect: false })
      await admin.send('REPLICAOF', ['127.0.0.1', '1'])
      expect(await trouble(store.set('key', 'value', 'owner'))).toBe(
        'the server of the store is a replica that takes no writes',
      )
      await admin.send('REPLICAOF', ['NO', 'ONE'])
      await store.set('key', 'value', 'owner')
      expect(await store.get('key')).toBe('value')
      // Connected to anew, since its successor may have its address now.
      expect(await admin.send('INFO', ['stats'])).toContain('total_connections_received:3\r\n')
      admin.close()
    })

    test('that refuses one command does not fail the other pending ones', async () => {
      await using other = await startRedisServer()
      const store = storesAt(other.url).open(unusedName(), ampleOptions),
        admin = new RedisClient(other.url, { autoReconnect: false })
      await store.set('key', 'value', 'owner')
      await admin.send('CONFIG', ['SET', 'maxmemory', '1'])
      expect(await Promise.all([trouble(store.set('key', 'other', 'owner')), store.get('key')])).toEqual([
        'the server of the store is out of memory',
        'value',
      ])
      admin.close()
    })

    test('costs no descriptors while it is stopped', async () => {
      const other = await startRedisServer()
      await other.kill()
      const store = storesAt(other.url).open(unusedName(), ampleOptions),
        before = readdirSync('/proc/self/fd').length
      for (let index = 0; index < 500; index++) await trouble(store.get('key'))
      expect(await Promise.all(Array.from({ length: 500 }, () => trouble(store.get('key'))))).toHaveLength(500)
      expect(readdirSync('/proc/self/fd').length - before).toBeLessThan(20)
    })
  })

  describe('redis: a server with TLS', () => {
    const authority = makeCertificate({ host: 'tests authority', isAuthority: true })

    test('is used when its certificate is of an authority of NODE_EXTRA_CA_CERTS', async () => {
      await using other = await startRedisServer({ tls: makeCertificate({ host: '127.0.0.1', issuer: authority }) })
      const folder = mkdtempSync(join(tmpdir(), 'svc-redis-tls-'))
      await Bun.write(join(folder, 'ca.pem'), authority.cert)
      const script = `import { redisStores } from ${JSON.stringify(import.meta.resolve('./redis.ts'))}
        await redisStores({ url: ${JSON.stringify(other.url)}, now: Date.now }).ready()
        console.log('ready')`
      const child = Bun.spawn([process.execPath, '-e', script], {
        stdout: 'pipe',
        stderr: 'pipe',
        env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') },
      })
      expect([await child.stdout.text(), await child.stderr.text()]).toEqual(['ready\n', ''])
      rmSync(folder, { recursive: true })
    })

    test.each([
      ['of an unknown authority', makeCertificate({ host: '127.0.0.1', issuer: authority })],
      ['its own', makeCertificate({ host: '127.0.0.1' })],
    ])('is not used when its certificate is %s', async (_whose, tls) => {
      await using other = await startRedisServer({ tls })
      expect(await trouble(storesAt(other.url).ready())).toMatch(
        /^the server of the store cannot be trusted \([A-Z_]+\)$/,
      )
    })

    test('cannot be reached without it', async () => {
      await using other = await startRedisServer({ tls: makeCertificate({ host: '127.0.0.1' }) })
      expect(await trouble(storesAt(other.url.replace('rediss:', 'redis:')).ready())).toBe(
        'the server of the store cannot be reached',
      )
    })
  })

  test('redis: is unavailable once closed', async () => {
    const stores = storesAt(server.url),
      store = stores.open(unusedName(), ampleOptions)
    await store.set('key', 'value', 'owner')
    await stores.close()
    expect(await trouble(store.get('key'))).toBe('the store is closed')
  })

  test('redis: closing it ends pending commands, and reports no failure', async () => {
    const troubles: unknown[] = [],
      stores = storesAt(server.url, { onChange: (each) => void troubles.push(each) })
    const asking = trouble(stores.open(unusedName(), ampleOptions).get('key'))
    await stores.close()
    expect([await asking, troubles]).toEqual(['the server of the store cannot be reached', []])
  })

  test('redis: keeps the process alive neither while it is idle nor when it is closed', async () => {
    const script = (
      end: string,
    ): string => `import { redisStores } from ${JSON.stringify(import.meta.resolve('./redis.ts'))}
      const stores = redisStores({ url: ${JSON.stringify(server.url)}, now: Date.now, timeoutMs: 60_000 })
      await stores.ready()
      ${end}`
    for (const end of ['', 'await stores.close()']) {
      const child = Bun.spawn([process.execPath, '-e', script(end)], { stdout: 'ignore', stderr: 'pipe' })
      expect([await child.exited, await child.stderr.text()]).toEqual([0, ''])
    }
  })
})

describe('redis: a server that is no Redis', () => {
  /** Answers every message with the same bytes. */
  async function troubleWith(answer: string | undefined, scheme = 'redis', timeoutMs = 300): Promise<string> {
    using listener = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          if (answer === '') socket.end()
          else if (answer !== undefined) socket.write(answer)
        },
      },
    })
    return await trouble(storesAt(`${scheme}://user:secret-word@127.0.0.1:${listener.port}/2`, { timeoutMs }).ready())
  }

  const strange = 'the server of the store does not speak the Redis protocol'
  const hanging = 'the server of the store does not answer'

  test.each([
    ['never answers', undefined, hanging],
    ['hangs up', '', 'the server of the store cannot be reached'],
    ['speaks HTTP', 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n', strange],
    ['greets like SSH', 'SSH-2.0-OpenSSH_9.2\r\n', strange],
    ['promises more than there can be', '$99999999999999\r\nabc', strange],
    ['says yes to everything', '+OK\r\n', hanging],
    [
      'is of before 2020 and repeats the password',
      '-ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `user`, `secret-word`, \r\n',
      'the server of the store is too old: Redis 6.2 or later is needed, or Valkey',
    ],
    [
      'refuses in a script, as Redis 6 does',
      '-ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -OOM command not allowed\r\n',
      'the server of the store is out of memory',
    ],
    ['refuses in words of its own', '-secret-word is wrong\r\n', strange],
  ])('what %s is unavailable in time', async (_what, answer, expected) => {
    const started = performance.now()
    expect(await troubleWith(answer)).toBe(expected)
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  test('every attempt has a connection of its own, which is closed', async () => {
    let closings = 0
    using listener = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          socket.write('+OK\r\n')
        },
        close() {
          closings++
        },
      },
    })
    const stores = storesAt(`redis://127.0.0.1:${listener.port}/2`, { timeoutMs: 50 })
    while (closings < 2) {
      expect(await trouble(stores.ready())).toBe(hanging)
      await Bun.sleep(10)
    }
  })

  test('a server without TLS is unavailable in time', async () => {
    expect(await troubleWith('+OK\r\n', 'rediss')).toMatch(
      /^the server of the store (does not answer|cannot be reached|does not speak|cannot be trusted)/,
    )
    expect(await troubleWith(undefined, 'rediss')).toBe(hanging)
  })
})
