import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test'
import { RedisClient } from 'bun'
import { Peer } from '../../src/limits/redis/peer.ts'
import { redisScriptRunner } from '../../src/stores/redis/redis-script-runner.ts'
import { startRedisServer, type RedisServer } from './redis-server.ts'

/** A process under test, which sends heartbeats only when it is told to. */
export interface TestedPeer {
  readonly own: Peer
  /** Ends the process without a word. Its last message was long ago then. */
  crash(): Promise<void>
}

/** A server for the tests of a block, empty before each of them. */
export interface TestedRedis {
  readonly url: string
  /** A connection of the test. */
  readonly direct: RedisClient
  /** Joins as a new process. @param url default: the server of the block */
  join(url?: string): TestedPeer
  /** Begins anew, without processes. */
  clear(): Promise<void>
}

/** Registers the hooks of a server. Call it in a `describe`. */
export function testedRedis(): TestedRedis {
  let server: RedisServer
  let direct: RedisClient
  const peers: Peer[] = []

  async function leave(): Promise<void> {
    await Promise.all(peers.splice(0).map((each) => each.close()))
  }

  beforeAll(async () => {
    server = await startRedisServer()
    direct = new RedisClient(server.url, { autoReconnect: false })
  })
  afterAll(async () => {
    direct.close()
    await server.kill()
  })
  beforeEach(() => direct.send('FLUSHALL', []))
  afterEach(leave)

  return {
    get url() {
      return server.url
    },
    get direct() {
      return direct
    },
    join(url = server.url) {
      const scripts = redisScriptRunner({ url, timeoutMs: 500 })
      const own = new Peer({ server: scripts, beatMs: 60_000 })
      peers.push(own)
      return {
        own,
        async crash() {
          await own.beat()
          scripts.close()
          await direct.hset('svc:limits:alive', own.name, '1 1000000')
          for (const each of peers) if (each !== own) await each.beat()
        },
      }
    },
    async clear() {
      await leave()
      await direct.send('FLUSHALL', [])
    },
  }
}
