import { connect } from 'node:net'
import { answerOf, errorOf, question } from '../../test/client.ts'
import { startGithub, type Github } from '../../test/fakes/identity/github.ts'
import { startRedisServer, type RedisServer } from '../../test/fakes/redis-server.ts'
import { provider } from '../../test/harness.ts'
import { needs } from '../../test/needs.ts'
import { freePort, startSignIn, type SignInRig } from '../../test/sign-in/rig.ts'
import { demandServed } from './ask.ts'
import { demand, demandEqual, type FaultCase } from './fault-case.ts'
import { shapedLink, type LinkShape } from './shaped-link.ts'
import { until, type Testbed } from './testbed.ts'

/** A service with sign-in, its store, and two sessions in that store. */
interface StoreSetup {
  readonly testbed: Testbed
  readonly redis: RedisServer
  /** Starts a new store in place of one that was killed. */
  restart(): Promise<void>
  /** Session with a recent request, which the service has cached. */
  readonly recent: string
  /** Session without a request so far. */
  readonly unused: string
  /** Status of a request with this session, with its error code. */
  status(token: string): Promise<string>
  /** Signs in anew. @throws when that does not succeed */
  signIn(): Promise<string>
}

/** A well-formed token without a session. */
const unknown = 'x'.repeat(43)
const unavailable = '503 store_unavailable'

async function openStore(flags: readonly string[], shape: LinkShape | undefined): Promise<StoreSetup> {
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
  const testbed: Testbed = {
    service: rig.service,
    sound: rig.upstream,
    home: rig.service.home,
    starts: 1,
    get headers() {
      return { 'x-session-token': token }
    },
    offer: () => Promise.reject(new Error('the providers of this testbed stay')),
    startAgain: () => Promise.reject(new Error('this testbed is not started again')),
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]()
      link?.stop()
      await redis[Symbol.asyncDispose]()
    },
  }
  return {
    testbed,
    recent: token,
    unused: await signIn(),
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

/** Demands that recent sessions go on, that other sessions and signing in get 503, and that no route becomes open. */
async function demandOutage(setup: StoreSetup): Promise<void> {
  await demandServed(setup.testbed)
  demandEqual(
    [await setup.status(setup.unused), await setup.status(unknown)],
    [unavailable, unavailable],
    'the statuses of an unused and of an unknown session',
  )
  const { url } = setup.testbed.service
  demandEqual(
    [
      (await fetch(`${url}/health`)).status,
      (await fetch(`${url}/auth/provider`, { redirect: 'manual' })).status,
      (await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: '{}' })).status,
    ],
    [200, 503, 401],
    'the statuses of /health, of signing in, and without a session',
  )
}

async function demandBack(setup: StoreSetup, unusedStatus: string): Promise<void> {
  await until(async () => (await setup.status(setup.unused)) !== unavailable, 'the service is connected again')
  demandEqual(await setup.status(setup.unused), unusedStatus, 'the status of an unused session')
  demandEqual(await setup.status(await setup.signIn()), '200', 'the status of a new session')
}

interface StoreFault {
  readonly id: string
  readonly what: string
  readonly flags?: readonly string[]
  readonly shape?: LinkShape
  readonly isShort?: boolean
  run(setup: StoreSetup): Promise<string>
}

function storeFault({ id, what, flags = [], shape, isShort = false, run }: StoreFault): FaultCase {
  let setup: StoreSetup | undefined
  return {
    id,
    area: 'store',
    what,
    isShort,
    needs: () => (needs('redis-server') === undefined ? 'there is no redis-server on this machine' : undefined),
    async own() {
      setup = await openStore(flags, shape)
      return setup.testbed
    },
    async run() {
      if (setup === undefined) throw new Error('the store is not open')
      return run(setup)
    },
  }
}

const during = 'sessions used within the last minute went on, exact; others and signing in got 503 with Retry-After'

/** Runs `act` while a listener at the port of the store sends random bytes. */
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

/** Faults of `--store redis://…`. */
export const storeFaults: readonly FaultCase[] = [
  storeFault({
    id: 'store-killed',
    what: 'the store is killed, and comes back empty',
    isShort: true,
    async run(setup) {
      await setup.redis.kill()
      await demandOutage(setup)
      await setup.restart()
      await demandBack(setup, '401 invalid_session')
      return `${during}; afterwards every user signs in again, because the store was empty`
    },
  }),
  storeFault({
    id: 'store-hangs',
    what: 'the store is stopped (SIGSTOP), and goes on',
    async run(setup) {
      setup.redis.pause()
      await demandOutage(setup)
      setup.redis.resume()
      await demandBack(setup, '200')
      return `${during}; afterwards every session was there`
    },
  }),
  storeFault({
    id: 'store-full',
    what: 'the store is full (`maxmemory`, `noeviction`), and is emptied later',
    flags: ['--maxmemory', '8mb', '--maxmemory-policy', 'noeviction'],
    async run(setup) {
      const empty = await fill(setup.redis.port)
      demandEqual(
        [await setup.status(setup.recent), await setup.status(setup.unused)],
        ['200', '200'],
        'the statuses of existing sessions',
      )
      demandEqual(
        (await fetch(`${setup.testbed.service.url}/auth/provider`, { redirect: 'manual' })).status,
        503,
        'the status of signing in',
      )
      await empty()
      await demandBack(setup, '200')
      return 'existing sessions went on; signing in got 503 with Retry-After until there was memory'
    },
  }),
  storeFault({
    id: 'store-slow',
    what: 'a store that takes 0.2 s for each command',
    shape: { pieceBytes: 65_536, pauseMs: 200 },
    async run(setup) {
      demandEqual(
        [await setup.status(setup.recent), await setup.status(setup.unused), await setup.status(unknown)],
        ['200', '200', '401 invalid_session'],
        'the statuses',
      )
      await setup.signIn()
      return 'everything works, more slowly'
    },
  }),
  storeFault({
    id: 'store-garbage',
    what: 'another program answers at the address of the store',
    async run(setup) {
      await setup.redis.kill()
      await withGarbage(setup.redis.port, () => demandOutage(setup))
      await setup.restart()
      await demandBack(setup, '401 invalid_session')
      return `${during}; afterwards everything worked`
    },
  }),
]

/** Fills a store until it takes no further word. @returns a function that empties it */
async function fill(port: number): Promise<() => Promise<void>> {
  // They stay open: closing a connection would free memory.
  const connections: StoreConnection[] = []
  for (let size = 60_000; size > 10;) {
    const connection = openConnection(port)
    connections.push(connection)
    demand(connections.length < 200, 'the store becomes full')
    const replies = await connection.send(`RPUSH filler ${'a'.repeat(size)}\r\n`.repeat(20))
    if (replies.includes('OOM')) size = Math.floor(size / 4)
  }
  return async () => {
    await connections[0]?.send('DEL filler\r\n')
    for (const connection of connections) connection.close()
  }
}

interface StoreConnection {
  /** Sends commands, and resolves with all replies. */
  send(commands: string): Promise<string>
  close(): void
}

function openConnection(port: number): StoreConnection {
  const socket = connect(port, '127.0.0.1')
  let received = '',
    answered = (): void => {}
  socket.setEncoding('latin1')
  socket.on('data', (text) => {
    received += String(text)
    if (received.endsWith('+PONG\r\n')) answered()
  })
  return {
    send(commands) {
      received = ''
      socket.write(`${commands}PING\r\n`)
      return new Promise((resolve) => {
        answered = () => resolve(received)
      })
    },
    close: () => socket.destroy(),
  }
}
