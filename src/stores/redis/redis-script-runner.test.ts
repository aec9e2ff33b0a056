import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { RedisClient } from 'bun'
import { startRedisServer, type RedisServer } from '../../../test/fakes/redis-server.ts'
import { needs } from '../../../test/needs.ts'
import { StoreUnavailable } from '../store.ts'
import { redisScriptRunner, type RedisScriptRunner } from './redis-script-runner.ts'

describe.skipIf(needs('redis-server') === undefined)('scripts', () => {
  let server: RedisServer
  let direct: RedisClient
  let scripts: RedisScriptRunner
  beforeAll(async () => {
    server = await startRedisServer()
    direct = new RedisClient(server.url, { autoReconnect: false })
    scripts = redisScriptRunner({ url: server.url })
  })
  afterAll(async () => {
    scripts.close()
    direct.close()
    await server.kill()
  })

  async function calls(command: string): Promise<number> {
    const info = String(await direct.send('INFO', ['commandstats']))
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(info)?.[1] ?? 0)
  }

  test('are sent as text once, then by their names, and again when the server has lost them', async () => {
    const script = "return {KEYS[1], ARGV[1], redis.call('INCR', KEYS[1])}"
    for (let time = 1; time <= 3; time++)
      expect(await scripts.run(script, ['key'], ['word'])).toEqual(['key', 'word', time])
    expect([await calls('eval'), await calls('evalsha')]).toEqual([1, 2])
    await direct.send('SCRIPT', ['FLUSH'])
    expect(await scripts.run(script, ['key'], ['word'])).toEqual(['key', 'word', 4])
    expect(await scripts.run(script, ['key'], ['word'])).toEqual(['key', 'word', 5])
    expect(await calls('eval')).toBe(3)
  })

  test('run in the order of the calls, the first time, too', async () => {
    const add = "return redis.call('RPUSH', 'order', ARGV[1])"
    await Promise.all(
      Array.from({ length: 20 }, (_, turn) => scripts.run(turn % 3 ? add : `${add} -- other`, [], [String(turn)])),
    )
    expect(await direct.lrange('order', 0, -1)).toEqual(Array.from({ length: 20 }, (_, turn) => String(turn)))
  })

  test('with a fault say nothing of their text', async () => {
    const failing = scripts.run("return redis.call('GET')", [], ['secret'])
    expect(await failing.catch((error: unknown) => error)).toEqual(
      new StoreUnavailable('the server of the store answers with an error (ERR)'),
    )
  })
})
