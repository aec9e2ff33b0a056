import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { startRedisServer } from './redis-server.ts'

/** A Redis or Valkey without persistence. */
export interface Redis {
  /** `redis://:PASSWORD@127.0.0.1:PORT` */
  readonly url: string
  readonly password: string
  /** Starts it again, empty, after `kill`. */
  start(): Promise<void>
  kill(): Promise<void>
  /** Stops its process, which keeps its connections and answers nothing. */
  pause(): void
  resume(): void
  /** All keys and values, as text. */
  dump(): Promise<string>
  stop(): Promise<void>
}

/** Starts it on a free port. @throws when it does not answer */
export async function startRedis(port: number): Promise<Redis> {
  const password = randomUUID()
  const start = () => startRedisServer({ port, flags: ['--requirepass', password] })
  let server = await start()

  /** Sends a command. @returns its reply */
  async function command(line: string): Promise<string> {
    return (await converse(port, `AUTH ${password}\r\n${line}\r\nQUIT\r\n`))
      .replace(/^\+OK\r\n/, '')
      .replace(/\+OK\r\n$/, '')
  }

  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    password,
    async start() {
      server = await start()
    },
    kill: () => server.kill(),
    pause: () => server.pause(),
    resume: () => server.resume(),
    async dump() {
      const keys = Array.from((await command('KEYS *')).matchAll(/\$\d+\r\n([^\r]*)\r\n/g), ([, key = '']) => key)
      const values = await Promise.all(
        keys.map(async (key) => {
          const type = /^\+(\w+)/.exec(await command(`TYPE ${key}`))?.[1] ?? ''
          const read: Readonly<Record<string, string>> = {
            string: `GET ${key}`,
            zset: `ZRANGE ${key} 0 -1 WITHSCORES`,
            hash: `HGETALL ${key}`,
            list: `LRANGE ${key} 0 -1`,
            set: `SMEMBERS ${key}`,
          }
          return command(read[type] ?? `DUMP ${key}`)
        }),
      )
      return [...keys, ...values].join('\n')
    },
    async stop() {
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Sends lines. @returns all replies until the connection is closed */
function converse(port: number, lines: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.end(lines))
    socket.setEncoding('utf8')
    socket.on('data', (text) => {
      received += String(text)
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}
