import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { underWay } from '../http/under-way.ts'
import { logger } from '../observe/log.ts'
import { drain } from './drain.ts'
import { readTimers } from './timers.ts'

/**
 * The real thing on a port of its own, with one request under way and a connection that is idle. Each look at who is
 * busy takes 150 ms, as if they were thousands.
 */
async function startDraining() {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, fetch: () => new Response('hello') })
  const port = server.port ?? 0,
    requests = underWay(),
    end = requests.begin(() => undefined)
  const idle = connect(port, '127.0.0.1', () => idle.write('GET / HTTP/1.1\r\nhost: test\r\n\r\n'))
  await once(idle, 'data')
  const busy = idle.localPort ?? 0
  const state = { looks: 0, isBusy: true, looked: () => {} }
  const drained = drain({
    server: { port, pending: 0, stop: (now) => server.stop(now) },
    requests: {
      ...requests,
      get count() {
        return requests.count
      },
      peers() {
        state.looks += 1
        Bun.sleepSync(150)
        state.looked()
        return new Set(state.isBusy ? [busy] : [])
      },
    },
    log: logger({ level: 'silent', format: 'json', write: async () => {} }),
    timers: { ...readTimers({}), drainMs: 20_000, drainWindowMs: 0 },
    isHasty: false,
    leavePort: async () => false,
    leftPort() {},
  })
  return { state, end, ended: once(idle.resume(), 'end'), drained }
}

test.skipIf(process.platform !== 'linux')(
  'while requests are under way, most of the time is theirs; when all are answered, idle connections are ended at once',
  async () => {
    const { state, end, ended, drained } = await startDraining()
    await new Promise<void>((resolve) => {
      state.looked = resolve
    })
    await Bun.sleep(500)
    expect(state.looks).toBeLessThanOrEqual(2)
    // The next look is a second away.
    const answered = performance.now()
    state.isBusy = false
    end()
    await ended
    expect(performance.now() - answered).toBeLessThan(700)
    await drained
  },
)
