import { connect } from 'node:net'
import { answerOf, errorOf, question } from '../client.ts'
import { startGithub } from '../fakes/identity/github.ts'
import type { Github } from '../fakes/identity/github.ts'
import { startRedisServer } from '../fakes/redis-server.ts'
import type { RedisServer } from '../fakes/redis-server.ts'
import { provider } from '../harness.ts'
import { needs } from '../needs.ts'
import { freePort, startSignIn } from '../sign-in/rig.ts'
import type { SignInRig } from '../sign-in/rig.ts'
import { demandServed } from './ask.ts'
import { demand, demandEqual } from './fault-case.ts'
import type { FaultCase } from './fault-case.ts'
import { until } from './ground.ts'
import type { Ground } from './ground.ts'
import { shapedLink } from './shaped-link.ts'
import type { LinkShape } from './shaped-link.ts'

/** A service with sign-in whose sessions are in a store that can be spoilt, and who is signed in there. */
interface Stage {
  readonly ground: Ground
  readonly redis: RedisServer
  /** Takes its place after it was killed. */
  restart(): Promise<void>
  /** Who has just chatted. */
  readonly busy: string
  /** Who has signed in and asked for nothing yet. */
  readonly unseen: string
  /** The status of a request with this session, and the code of its error. */
  status(token: string): Promise<string>
  /** Signs in anew. @throws when that does not succeed */
  signIn(): Promise<string>
}

/** Looks like a session, and is none. */
const unknown = 'x'.repeat(43)
const away = '503 store_unavailable'

async function openStage(flags: readonly string[], shape: LinkShape | undefined): Promise<Stage> {
  const port = freePort(),
    start = () => startRedisServer({ port, flags })
  let redis = await start()
  const link = shape === undefined ? undefined : await shapedLink(port, shape)
  const rig = await startSignIn(startGithub, {
    flags: ['--store', `redis://127.0.0.1:${link === undefined ? port : new URL(link.url).port}`],
  })
  await rig.service.configure({ providers: [provider('sound', rig.upstream.url, ['well'])] })
  await rig.logged('configuration reloaded')
  const signIn = async (): Promise<string> => (await rig.signIn()).token
  let token = await signIn()
  const ground: Ground = {
    service: rig.service,
    sound: rig.upstream,
    home: rig.service.home,
    starts: 1,
    get headers() {
      return { 'x-session-token': token }
    },
    offer: () => Promise.reject(new Error('the providers of this ground stay')),
    startAgain: () => Promise.reject(new Error('this ground is not started again')),
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]()
      link?.stop()
      await redis[Symbol.asyncDispose]()
    },
  }
  return {
    ground,
    busy: token,
    unseen: await signIn(),
    get redis() {
      return redis
    },
    async restart() {
      redis = await start()
    },
    status: (of) => statusOf(rig, of),
    async signIn() {
      token = await signIn()
      return token
    },
  }
}

async function statusOf({ service }: SignInRig<Github>, token: string): Promise<string> {
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    keepalive: false,
    headers: { 'x-session-token': token },
    body: JSON.stringify(question({ model: 'well' })),
  })
  const answer = answerOf(response, await response.text())
  demand(answer.status !== 503 || answer.headers.has('retry-after'), 'a 503 says when to try again')
  return answer.status === 200 ? '200' : `${answer.status} ${String(errorOf(answer)?.code)}`
}

/** Demands that chat goes on for who was at work, that others are told to come back, and that nothing is open. */
async function demandOutage(stage: Stage): Promise<void> {
  await demandServed(stage.ground)
  demandEqual(
    [await stage.status(stage.unseen), await stage.status(unknown)],
    [away, away],
    'what those get who have not been seen',
  )
  const { url } = stage.ground.service
  demandEqual(
    [
      (await fetch(`${url}/health`)).status,
      (await fetch(`${url}/auth/provider`, { redirect: 'manual' })).status,
      (await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: '{}' })).status,
    ],
    [200, 503, 401],
    'the statuses of /health, of signing in, and of who has no session',
  )
}

async function demandBack(stage: Stage, unseen: string): Promise<void> {
  await until(async () => (await stage.status(stage.unseen)) !== away, 'the store is found again')
  demandEqual(await stage.status(stage.unseen), unseen, 'what those get who have not been seen')
  demandEqual(await stage.status(await stage.signIn()), '200', 'the status of who has just signed in')
}

interface StoreFault {
  readonly id: string
  readonly what: string
  readonly flags?: readonly string[]
  readonly shape?: LinkShape
  readonly isShort?: boolean
  run(stage: Stage): Promise<string>
}

function storeFault({ id, what, flags = [], shape, isShort = false, run }: StoreFault): FaultCase {
  let stage: Stage | undefined
  return {
    id,
    area: 'store',
    what,
    isShort,
    needs: () => (needs('redis-server') === undefined ? 'there is no redis-server on this machine' : undefined),
    async own() {
      stage = await openStage(flags, shape)
      return stage.ground
    },
    async run() {
      if (stage === undefined) throw new Error('nothing is on stage')
      return run(stage)
    },
  }
}

const during = 'who had chatted within a minute went on, exact; others and signing in got 503 with Retry-After'

/** Speaks, but no Redis. */
async function withGarbage(port: number, act: () => Promise<void>): Promise<void> {
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(socket) {
        socket.write(crypto.getRandomValues(new Uint8Array(200)))
      },
      data(socket) {
        socket.write(crypto.getRandomValues(new Uint8Array(200)))
      },
    },
  })
  try {
    await act()
  } finally {
    listener.stop(true)
  }
}

/** What can be wrong with `--store redis://…`. */
export const storeFaults: readonly FaultCase[] = [
  storeFault({
    id: 'store-killed',
    what: 'the store is killed, and comes back empty',
    isShort: true,
    async run(stage) {
      await stage.redis.kill()
      await demandOutage(stage)
      await stage.restart()
      await demandBack(stage, '401 invalid_session')
      return `${during}; afterwards everybody signs in again, for the store was empty`
    },
  }),
  storeFault({
    id: 'store-hangs',
    what: 'the store stands still (SIGSTOP), and goes on',
    async run(stage) {
      stage.redis.pause()
      await demandOutage(stage)
      stage.redis.resume()
      await demandBack(stage, '200')
      return `${during}; afterwards every session was there`
    },
  }),
  storeFault({
    id: 'store-full',
    what: 'the store is full (`maxmemory`, `noeviction`), and gets room',
    flags: ['--maxmemory', '8mb', '--maxmemory-policy', 'noeviction'],
    async run(stage) {
      const empty = await fill(stage.redis.port)
      demandEqual(
        [await stage.status(stage.busy), await stage.status(stage.unseen)],
        ['200', '200'],
        'the statuses of who is signed in',
      )
      demandEqual(
        (await fetch(`${stage.ground.service.url}/auth/provider`, { redirect: 'manual' })).status,
        503,
        'the status of signing in',
      )
      await empty()
      await demandBack(stage, '200')
      return 'who was signed in went on; signing in got 503 with Retry-After until there was room'
    },
  }),
  storeFault({
    id: 'store-slow',
    what: 'a store that takes a fifth of a second for each question',
    shape: { pieceBytes: 65_536, pauseMs: 200 },
    async run(stage) {
      demandEqual(
        [await stage.status(stage.busy), await stage.status(stage.unseen), await stage.status(unknown)],
        ['200', '200', '401 invalid_session'],
        'the statuses',
      )
      await stage.signIn()
      return 'everything works, more slowly'
    },
  }),
  storeFault({
    id: 'store-garbage',
    what: 'something else answers at the address of the store',
    async run(stage) {
      await stage.redis.kill()
      await withGarbage(stage.redis.port, () => demandOutage(stage))
      await stage.restart()
      await demandBack(stage, '401 invalid_session')
      return `${during}; afterwards all is well`
    },
  }),
]

/** Fills a store until not even a word more fits. @returns what empties it again */
async function fill(port: number): Promise<() => Promise<void>> {
  // They stay: a connection that goes leaves room.
  const lines: Line[] = []
  for (let size = 60_000; size > 10;) {
    const line = openLine(port)
    lines.push(line)
    demand(lines.length < 200, 'the store becomes full')
    if ((await line.say(`RPUSH filler ${'a'.repeat(size)}\r\n`.repeat(20))).includes('OOM')) size = Math.floor(size / 4)
  }
  return async () => {
    await lines[0]?.say('DEL filler\r\n')
    for (const line of lines) line.close()
  }
}

/** A connection to a store. */
interface Line {
  /** Sends commands, and gives what comes back when all are answered. */
  say(commands: string): Promise<string>
  close(): void
}

function openLine(port: number): Line {
  const socket = connect(port, '127.0.0.1')
  let heard = '',
    answered = (): void => {}
  socket.setEncoding('latin1')
  socket.on('data', (text) => {
    heard += String(text)
    if (heard.endsWith('+PONG\r\n')) answered()
  })
  return {
    say(commands) {
      heard = ''
      socket.write(`${commands}PING\r\n`)
      return new Promise((resolve) => {
        answered = () => resolve(heard)
      })
    },
    close: () => socket.destroy(),
  }
}
