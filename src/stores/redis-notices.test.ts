import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { RedisClient } from 'bun'
import { startRedisServer, type RedisServer } from '../../test/fakes/redis-server.ts'
import { needs } from '../../test/needs.ts'
import { messageLengthMost } from './notice-message.ts'
import { redisConnection } from './redis-connection.ts'
import { redisNotices } from './redis-notices.ts'
import { redisStores, type RedisStores } from './redis.ts'
import { noticeLengthMost, StoreUnavailable, type Notices } from './store.ts'
import { unusedName } from './testing.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function storesAt(url: string): RedisStores {
  const stores = redisStores({ url, now: Date.now, timeoutMs: 500 })
  cleanUps.push(() => stores.close())
  return stores
}

/** What is heard, to be awaited. */
interface Listener {
  readonly heard: readonly (readonly [text: string, keptMs: number | undefined])[]
  readonly texts: () => readonly string[]
  /** Resolves when so many were heard in all. */
  until(count: number): Promise<void>
}

function listenTo(notices: Notices): Listener {
  const heard: [string, number | undefined][] = []
  let awaited = { count: Infinity, resolve(): void {} }
  notices.listen((text, keptMs) => {
    heard.push([text, keptMs])
    if (heard.length >= awaited.count) awaited.resolve()
  })
  return {
    heard,
    texts: () => heard.map(([text]) => text),
    async until(count) {
      const { promise, resolve } = Promise.withResolvers<void>()
      awaited = { count, resolve }
      if (heard.length < count) await promise
    },
  }
}

describe.skipIf(needs('redis-server') === undefined)('redis: notices', () => {
  let server: RedisServer, direct: RedisClient
  beforeAll(async () => {
    server = await startRedisServer()
    direct = new RedisClient(server.url, { autoReconnect: false })
  })
  afterAll(async () => {
    direct.close()
    await server.kill()
  })

  const channelOf = (name: string): string => `svc:${name}:notices:0`

  /** Resolves when so many listen to a name. */
  async function untilListening(name: string, count: number, admin = direct): Promise<void> {
    for (;;) {
      const reply: unknown = await admin.send('PUBSUB', ['NUMSUB', channelOf(name)])
      if (Array.isArray(reply) && reply[1] === count) return
      await Bun.sleep(5)
    }
  }

  async function keysOf(name: string): Promise<readonly string[]> {
    return (await direct.keys(`svc:${name}:*`)).toSorted()
  }

  /** Somebody who listens from the start: what they have heard has also been kept. */
  async function watcher(name: string): Promise<Listener> {
    const ear = listenTo(storesAt(server.url).notices(name))
    await untilListening(name, 1)
    return ear
  }

  /** Somebody who comes later, when they have heard so much. */
  async function latecomer(name: string, count: number): Promise<Listener> {
    const ear = listenTo(storesAt(server.url).notices(name))
    await ear.until(count)
    return ear
  }

  /** Notices of somebody whose commands are all refused until it is connected. */
  function connectedWhenAsked(name: string) {
    const connection = redisConnection({ url: server.url }),
      refused = Promise.withResolvers<void>()
    let isConnected = false
    const notices = redisNotices({
      url: server.url,
      name,
      from: 'refused',
      connection: {
        close: connection.close,
        send(command, words) {
          if (isConnected) return connection.send(command, words)
          refused.resolve()
          return Promise.reject(new StoreUnavailable('away'))
        },
      },
    })
    cleanUps.push(() => {
      notices.close()
      connection.close()
    })
    return {
      tell: notices.tell,
      refused: refused.promise,
      connect: () => {
        isConnected = true
      },
    }
  }

  test('are heard by all others, in order, and not by who told them', async () => {
    const name = unusedName()
    const one = storesAt(server.url).notices(name),
      two = storesAt(server.url).notices(name),
      three = storesAt(server.url).notices(name)
    const atOne = listenTo(one),
      atTwo = listenTo(two),
      atThree = listenTo(three)
    await untilListening(name, 3)
    for (let index = 0; index < 50; index++) one.tell(`${index}`)
    two.tell('from two')
    await Promise.all([atOne.until(1), atTwo.until(50), atThree.until(51)])
    expect(atOne.heard).toEqual([['from two', undefined]])
    expect(atTwo.texts()).toEqual(Array.from({ length: 50 }, (_, index) => `${index}`))
    expect(atThree.texts().filter((text) => text !== 'from two')).toEqual([...atTwo.texts()])
  })

  test('of one name, or database, are not those of another; the same name gives the same', async () => {
    const name = unusedName(),
      stores = storesAt(server.url)
    expect(stores.notices(name)).toBe(stores.notices(name))
    const other = listenTo(storesAt(server.url).notices(unusedName())),
      elsewhere = listenTo(storesAt(`${server.url}/1`).notices(name)),
      here = listenTo(storesAt(server.url).notices(name))
    await untilListening(name, 1)
    stores.notices(name).tell('here', { key: 'key', ms: 10_000 })
    await here.until(1)
    expect([other.heard, elsewhere.heard]).toEqual([[], []])
  })

  test('carry any text, up to their length', async () => {
    const name = unusedName(),
      one = storesAt(server.url).notices(name),
      ear = listenTo(storesAt(server.url).notices(name))
    await untilListening(name, 1)
    const texts = ['', ' ', '\0', '\r\n', '"', '🦊', '\ud800', '{"from":"x"}', '\0'.repeat(noticeLengthMost)]
    for (const text of [...texts, 'x'.repeat(noticeLengthMost + 1)])
      one.tell(text, { key: text.slice(0, 9), ms: 10_000 })
    one.tell('the last')
    await ear.until(texts.length + 1)
    expect(ear.texts()).toEqual([...texts, 'the last'])
  })

  describe('that are kept', () => {
    test('are heard by those who come later, with the time they have left', async () => {
      const name = unusedName(),
        one = storesAt(server.url).notices(name),
        ear = await watcher(name)
      one.tell('not kept')
      one.tell('first', { key: 'a', ms: 60_000 })
      one.tell('second', { key: 'b', ms: 30_000 })
      await ear.until(3)
      const late = await latecomer(name, 2)
      expect(late.texts()).toEqual(['second', 'first'])
      expect(late.heard[0]?.[1]).toBeWithin(10_000, 30_001)
      expect(late.heard[1]?.[1]).toBeWithin(40_000, 60_001)
    })

    test('say at once for how long', async () => {
      const name = unusedName(),
        ear = await watcher(name)
      storesAt(server.url).notices(name).tell('news', { key: 'a', ms: 1_234 })
      await ear.until(1)
      expect(ear.heard).toEqual([['news', 1_234]])
    })

    test('give way to those under the same key, and to none; nothing is left then', async () => {
      const name = unusedName(),
        one = storesAt(server.url).notices(name),
        two = storesAt(server.url).notices(name),
        ear = await watcher(name)
      one.tell('old', { key: 'a', ms: 60_000 })
      one.tell('gone', { key: 'b', ms: 60_000 })
      await ear.until(2)
      two.tell('new', { key: 'a', ms: 60_000 })
      two.tell('over', { key: 'b', ms: 0 })
      await ear.until(4)
      expect((await latecomer(name, 1)).texts()).toEqual(['new'])
      one.tell('over', { key: 'a', ms: 0 })
      await ear.until(5)
      expect(await keysOf(name)).toEqual([])
    })

    test('and were refused take, when the store is back, the place of what is older, and of nothing that another told after them', async () => {
      const name = unusedName(),
        ear = await watcher(name),
        two = storesAt(server.url).notices(name)
      const one = connectedWhenAsked(name)
      two.tell('ill, before', { key: 'b', ms: 60_000 })
      await ear.until(1)
      await Bun.sleep(5)
      for (const key of ['a', 'b']) one.tell(`${key}: told`, { key, ms: 60_000 })
      await one.refused
      // Well above what a command takes to arrive, and below the second after which it is told again.
      await Bun.sleep(300)
      two.tell('well again', { key: 'a', ms: 60_000 })
      await ear.until(2)
      one.connect()
      await ear.until(4)
      expect((await latecomer(name, 2)).texts().toSorted()).toEqual(['b: told', 'well again'])
    })

    test('end by the clock of the server, and their keys by themselves', async () => {
      const name = unusedName(),
        one = storesAt(server.url).notices(name),
        ear = await watcher(name)
      for (const key of ['a', 'b', 'c']) one.tell(key, { key, ms: 60_000 })
      await ear.until(3)
      for (const key of await keysOf(name)) expect(await direct.pttl(key)).toBeWithin(3_000_000, 3_600_001)
      await direct.send('ZADD', [`svc:${name}:kept-until`, '1', 'a', `${Date.now() + 7_200_000}`, 'b'])
      expect((await latecomer(name, 1)).texts()).toEqual(['c'])
      one.tell('news')
      await ear.until(4)
      expect(await direct.hkeys(`svc:${name}:kept`)).toEqual(['c'])
    })

    test('are bounded in number', async () => {
      const name = unusedName(),
        stores = storesAt(server.url),
        ear = await watcher(name)
      for (let round = 0; round < 9; round++) {
        for (let index = 0; index < 100; index++)
          stores.notices(name).tell('news', { key: `${round} ${index}`, ms: 60_000 + round * 1_000 })
        await ear.until(100 * (round + 1))
      }
      await direct.send('EVAL', [
        "for index = 1, 900 do redis.call('ZADD', KEYS[1], ARGV[1] + index, index) redis.call('HSET', KEYS[2], index, 'x') end",
        '2',
        `svc:${name}:kept-until`,
        `svc:${name}:kept`,
        String(Date.now() + 600_000),
      ])
      stores.notices(name).tell('news', { key: 'the last', ms: 60_000 })
      await ear.until(901)
      expect([
        await direct.hlen(`svc:${name}:kept`),
        await direct.zcard(`svc:${name}:kept-until`),
        await direct.hexists(`svc:${name}:kept`, '0 0'),
        await direct.hexists(`svc:${name}:kept`, '8 0'),
      ]).toEqual([1_000, 1_000, false, true])
    })

    test('are none while their keys hold something else', async () => {
      const name = unusedName()
      await direct.set(`svc:${name}:kept`, 'text')
      await direct.send('ZADD', [`svc:${name}:kept-until`, String(Date.now() + 60_000), 'a'])
      const ear = listenTo(storesAt(server.url).notices(name))
      await untilListening(name, 1)
      await direct.publish(channelOf(name), '{"from":"x","text":"news"}')
      await ear.until(1)
      expect(ear.texts()).toEqual(['news'])
      storesAt(server.url).notices(name).tell('kept again', { key: 'a', ms: 60_000 })
      await ear.until(2)
      expect((await latecomer(name, 1)).texts()).toEqual(['kept again'])
    })
  })

  test('that others make up are not heard unless they are notices', async () => {
    const name = unusedName(),
      ear = listenTo(storesAt(server.url).notices(name))
    await untilListening(name, 1)
    for (const message of [
      '',
      'x',
      '1',
      'null',
      '[]',
      '{}',
      '{"from":1,"text":"x"}',
      '{"from":"x","text":1}',
      '{"from":"x","text":"x","keptMs":"1"}',
      '{"from":"x","text":"x","keptMs":-1}',
      '{"from":"x","text":"x","keptMs":1e99}',
      JSON.stringify({ from: 'x', text: 'x'.repeat(noticeLengthMost + 1) }),
      JSON.stringify({ from: 'x'.repeat(messageLengthMost), text: 'x' }),
      '['.repeat(100_000),
    ])
      await direct.publish(channelOf(name), message)
    await direct.publish(channelOf(name), '{"from":"x","text":"a notice","more":1}')
    await ear.until(1)
    expect(ear.texts()).toEqual(['a notice'])
  })

  test('are heard at most a thousand in a second', async () => {
    const name = unusedName(),
      ear = listenTo(storesAt(server.url).notices(name)),
      started = performance.now()
    await untilListening(name, 1)
    await direct.send('EVAL', [
      "for index = 1, 20000 do redis.call('PUBLISH', ARGV[1], ARGV[2]) end",
      '0',
      channelOf(name),
      '{"from":"x","text":"flood"}',
    ])
    await direct.send('EVAL', [
      "return redis.call('PUBLISH', ARGV[1], ARGV[2])",
      '0',
      channelOf(name),
      '{"from":"x","text":"flood"}',
    ])
    await ear.until(1_000)
    expect(ear.heard.length).toBeLessThanOrEqual(1_000 * Math.ceil((performance.now() - started) / 1_000 + 1))
  })

  test('that are kept arrive however many others there are: the last under each key', async () => {
    const name = unusedName(),
      ear = listenTo(storesAt(server.url).notices(name)),
      one = storesAt(server.url).notices(name)
    await untilListening(name, 1)
    await direct.send('EVAL', [
      "for index = 1, 20000 do redis.call('PUBLISH', ARGV[1], ARGV[2]) end",
      '0',
      channelOf(name),
      '{"from":"x","text":"flood"}',
    ])
    one.tell('ill', { key: 'a', ms: 60_000 })
    one.tell('well again', { key: 'a', ms: 60_000 })
    // Heard or made up for a second later: no event tells which.
    while (ear.texts().at(-1) !== 'well again') await Bun.sleep(10)
  })

  test('are told one batch after the other, and too much of it is dropped', async () => {
    const name = unusedName(),
      one = storesAt(server.url).notices(name),
      ear = listenTo(storesAt(server.url).notices(name))
    await untilListening(name, 1)
    for (let index = 0; index < 900; index++) one.tell(`${index}`)
    for (let index = 0; index < 900; index++) one.tell(`kept ${index}`, { key: 'a', ms: 60_000 })
    await ear.until(258)
    expect([ear.texts()[0], ear.texts().length, ear.texts().at(-1)]).toEqual(['0', 258, 'kept 899'])
  })

  describe('when the server goes', () => {
    test('are dropped meanwhile, and heard again when it is back', async () => {
      const first = await startRedisServer(),
        name = unusedName(),
        one = storesAt(first.url).notices(name),
        ear = listenTo(storesAt(first.url).notices(name))
      const admin = new RedisClient(first.url, { autoReconnect: false })
      await untilListening(name, 1, admin)
      await first.kill()
      for (let index = 0; index < 1_000; index++) one.tell('lost')
      await using again = await startRedisServer({ port: first.port })
      const other = new RedisClient(again.url, { autoReconnect: false })
      await untilListening(name, 1, other)
      one.tell('news')
      await ear.until(1)
      expect(ear.texts()).toEqual(['news'])
      admin.close()
      other.close()
    })

    test('what is kept is heard again, when only the connection was lost', async () => {
      const name = unusedName(),
        one = storesAt(server.url).notices(name),
        ear = listenTo(storesAt(server.url).notices(name))
      await untilListening(name, 1)
      one.tell('first', { key: 'a', ms: 60_000 })
      await ear.until(1)
      await direct.send('CLIENT', ['KILL', 'TYPE', 'pubsub'])
      one.tell('second', { key: 'b', ms: 60_000 })
      await ear.until(3)
      expect(ear.texts().toSorted()).toEqual(['first', 'first', 'second'])
    })

    test('a server that hangs is left, and heard again when it goes on', async () => {
      await using other = await startRedisServer()
      const name = unusedName(),
        connection = redisConnection({ url: other.url }),
        told = storesAt(other.url).notices(name)
      const notices = redisNotices({ connection, url: other.url, timeoutMs: 50, heartbeatMs: 20, name, from: 'me' }),
        ear = listenTo(notices)
      cleanUps.push(() => {
        notices.close()
        connection.close()
      })
      const admin = new RedisClient(other.url, { autoReconnect: false })
      await untilListening(name, 1, admin)
      const before = String(await admin.send('INFO', ['stats']))
      other.pause()
      await Bun.sleep(200)
      other.resume()
      await untilListening(name, 1, admin)
      told.tell('news', { key: 'a', ms: 60_000 })
      await ear.until(1)
      const connections = (info: string): number => Number(/total_connections_received:(\d+)/.exec(info)?.[1])
      expect(connections(String(await admin.send('INFO', ['stats']))) - connections(before)).toBeWithin(1, 5)
      admin.close()
    })

    test('nobody is asked again and again', async () => {
      let connections = 0
      using listener = Bun.listen({
        hostname: '127.0.0.1',
        port: 0,
        socket: {
          open(socket) {
            connections++
            socket.end()
          },
          data() {},
        },
      })
      storesAt(`redis://127.0.0.1:${listener.port}`)
        .notices('news')
        .listen(() => {})
      await Bun.sleep(600)
      expect(connections).toBeWithin(1, 3)
    })
  })

  test('are no more when the stores are closed', async () => {
    const name = unusedName(),
      stores = storesAt(server.url),
      notices = stores.notices(name),
      ear = listenTo(notices)
    await untilListening(name, 1)
    await stores.close()
    await untilListening(name, 0)
    notices.tell('nothing', { key: 'a', ms: 60_000 })
    await direct.publish(channelOf(name), '{"from":"x","text":"nothing"}')
    expect([ear.heard, await keysOf(name)]).toEqual([[], []])
  })

  test('do not keep the process alive once the stores are closed, however early', async () => {
    const script = (
      wait: string,
    ): string => `import { redisStores } from ${JSON.stringify(import.meta.resolve('./redis.ts'))}
      const stores = redisStores({ url: ${JSON.stringify(server.url)}, now: Date.now })
      stores.notices('news').listen(() => {})
      ${wait}
      await stores.close()`
    for (const wait of ['', 'await stores.ready()']) {
      const child = Bun.spawn([process.execPath, '-e', script(wait)], { stdout: 'ignore', stderr: 'pipe' })
      expect([await child.exited, await child.stderr.text()]).toEqual([0, ''])
    }
  })
})
