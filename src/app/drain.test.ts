import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { openRequests } from '../http/entrance/admission.ts'
import { logger } from '../observe/log.ts'
import { drain } from './drain.ts'
import { readTimers } from './timers.ts'

/** A real server with an open request and an idle connection. Each check takes 150 ms, as with thousands of them. */
async function startDraining() {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, fetch: () => new Response('hello') })
  const port = server.port ?? 0,
    requests = openRequests(),
    open = requests.begin({ stop() {}, peerPort: () => undefined })
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
    isImmediate: false,
    doOthersListen: async () => false,
    leftPort() {},
  })
  return { state, end: () => open.end(), ended: once(idle.resume(), 'end'), drained }
}

test.skipIf(process.platform !== 'linux')(
  'checks leave most of the time to open requests; after the last answer idle connections are closed at once',
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
