import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorOf, metric, question, rawChat, rawConnection } from '../../test/client.ts'
import { faultUpstream } from '../../test/fakes/fault-upstream.ts'
import { good } from '../../test/fakes/good.ts'
import { provider, startService } from '../../test/harness.ts'
import { ask, demandExact, demandOthersServed, demandServed, servedBy } from './ask.ts'
import { clockFaults } from './clock.ts'
import { diskFaults } from './disk.ts'
import { demand, demandEqual, type FaultCase } from './fault-case.ts'
import { limitFaults } from './limits.ts'
import { startScript, type StartScript } from './start-script.ts'
import { openTestbed, until, type Testbed } from './testbed.ts'

const clients = 10
const paced = { tokens: 40, pauseMs: 50 }

/** Starts streams with a token every 50 ms, and waits until all have begun. */
async function beginStreams(testbed: Testbed, count = clients): Promise<readonly ReturnType<typeof rawConnection>[]> {
  const streams = Array.from({ length: count }, () =>
    rawConnection(
      testbed.service.port,
      rawChat(JSON.stringify(question({ stream: true })), { connection: 'close' }),
      15_000,
    ),
  )
  await Promise.all(streams.map((stream) => stream.until('paced-2')))
  return streams
}

const body = JSON.stringify(question({ model: 'well' })),
  half = 10

/** Starts requests and sends only the first bytes of their bodies. */
function beginUploads({ service }: Testbed): readonly ReturnType<typeof rawConnection>[] {
  return Array.from({ length: clients }, () =>
    rawConnection(
      service.port,
      rawChat(body.slice(0, half), { 'content-length': String(body.length), connection: 'close' }),
      15_000,
    ),
  )
}

const killed: FaultCase = {
  id: 'kill-9',
  area: 'process',
  what: 'kill -9 with streams open, and a start on the same port',
  isShort: true,
  own: () => openTestbed(),
  async run(testbed) {
    const a = faultUpstream(good({ name: 'paced', ...paced }))
    await testbed.offer(provider('a', a.url, ['m']))
    const streams = await beginStreams(testbed)
    testbed.service.signal('SIGKILL')
    const ends = await Promise.all(streams.map(({ response }) => response))
    demandEqual(
      ends.filter((end) => end.includes('[DONE]') || end.endsWith('0\r\n\r\n')).length,
      0,
      'streams that look complete',
    )
    await until(() => a.open === 0, 'every request at the provider is aborted')
    await testbed.startAgain()
    a.stop()
    return 'every stream broke visibly, inside its framing and without `[DONE]`; the next process served at once'
  },
}

/** Longer than the providers' timers, which must not expire because the service itself was stopped. */
const pauseMs = 2_500

const stopped: FaultCase = {
  id: 'sigstop',
  area: 'process',
  isShort: true,
  what:
    `the process is stopped (SIGSTOP) for ${pauseMs / 1_000} s, ` +
    'longer than `idle_ms`, `attempt_ms` and `SVC_BODY_IDLE_MS`',
  own: () => openTestbed({ environment: { SVC_BODY_IDLE_MS: '1000', SVC_BODY_TIMEOUT_MS: '2000' } }),
  async run(testbed) {
    const timeouts = { connect_ms: 1_000, first_token_ms: 1_500, idle_ms: 1_000, attempt_ms: 1_500 }
    const a = faultUpstream(good({ name: 'paced', ...paced })),
      late = faultUpstream(async (exchange) => {
        await exchange.pause(500)
        await good()(exchange)
      }),
      b = faultUpstream(good())
    await testbed.offer(
      provider('a', a.url, ['m'], { timeouts }),
      provider('late', late.url, ['late'], { timeouts }),
      provider('b', b.url, ['m', 'late']),
    )
    const streams = await beginStreams(testbed)
    const plain = Array.from({ length: clients }, () => ask(testbed, { model: 'late' }))
    await until(() => late.hits.length === clients, 'all requests have reached the provider')
    const uploads = beginUploads(testbed)
    await Bun.sleep(100)
    process.kill(testbed.service.pid, 'SIGSTOP')
    for (const { socket } of uploads) socket.write(body.slice(half))
    await Bun.sleep(pauseMs)
    process.kill(testbed.service.pid, 'SIGCONT')
    demandEqual(
      await Promise.all(uploads.map(async ({ response }) => (await response).slice(9, 12))),
      uploads.map(() => '200'),
      'the statuses of bodies that arrived meanwhile',
    )
    const ends = await Promise.all(streams.map(({ response }) => response))
    demandEqual(
      ends.filter((end) => !end.includes('paced-39') || !end.includes('[DONE]')).length,
      0,
      'streams that did not finish',
    )
    for (const asking of await Promise.all(plain)) {
      demandExact(asking, false)
      demandEqual(servedBy(asking.answer), 'late', 'the provider that served')
    }
    demandEqual(b.hits.length, 0, 'requests at the next provider')
    await demandServed(testbed, 'm', 'a', [false])
    for (const upstream of [a, b, late]) upstream.stop()
    return 'every open stream, request and upload finished at its provider; no failure was recorded, no breaker opened'
  },
}

/** Ends the process that holds the log pipe open, together with the service. The file `reader` has its pid. */
function withReader(script: StartScript): StartScript {
  const reader = join(script.folder, 'reader')
  return {
    ...script,
    async cleanUp() {
      if (existsSync(reader)) process.kill(Number(readFileSync(reader, 'utf8')), 'SIGKILL')
      await script.cleanUp()
    },
  }
}

/** The log goes to a standard error that takes no lines. */
function badLog(id: string, what: string, write: (start: string, folder: string) => string): FaultCase {
  return {
    id,
    area: 'process',
    what,
    isShort: id === 'log-disk-full',
    own: () => openTestbed(withReader(startScript(write))),
    async run(testbed) {
      const dropped = () => metric(testbed.service.url, 'svc_log_lines_dropped_total')
      await until(
        async () => {
          await Promise.all(
            Array.from({ length: 200 }, () =>
              fetch(`${testbed.service.url}/v1/chat/completions`, { method: 'POST', body: '{', keepalive: false }).then(
                (response) => response.text(),
              ),
            ),
          )
          return (await dropped()) > 0
        },
        'dropped lines are counted',
        30_000,
      )
      await demandOthersServed(testbed)
      return 'went on serving; dropped lines were counted in `svc_log_lines_dropped_total`'
    },
  }
}

const portTaken: FaultCase = {
  id: 'port-taken',
  area: 'process',
  what: 'a second service on the same port',
  isShort: true,
  async run(testbed) {
    const failure = await startService({ providers: [] }, { port: testbed.service.port }).then(
      () => 'it started',
      String,
    )
    demand(
      /exited with [1-9]/.test(failure) && failure.includes(String(testbed.service.port)),
      `its error names the port, not ${failure}`,
    )
    await demandOthersServed(testbed)
    return 'the second does not start, and names the port; the first goes on'
  },
}

const outOfDescriptors: FaultCase = {
  id: 'out-of-descriptors',
  area: 'process',
  what: '300 clients at a service that may open 64 descriptors',
  own: () => openTestbed({ descriptors: 64 }),
  isShort: true,
  async run(testbed) {
    const a = faultUpstream(good({ pauseMs: 20 })),
      b = faultUpstream(good())
    await testbed.offer(provider('a', a.url, ['m']), provider('b', b.url, ['m']))
    const settled = await Promise.allSettled(
      Array.from({ length: 300 }, () => ask(testbed, { model: 'm', stream: true, signal: AbortSignal.timeout(5_000) })),
    )
    const askings = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const refused = askings.filter(({ answer }) => answer.status !== 200)
    for (const asking of askings) if (asking.answer.status === 200) demandExact(asking, true)
    const refusals = refused.map(({ answer }) => {
      const retryAfter = answer.headers.has('retry-after') ? 'with' : 'without'
      return `${answer.status} ${String(errorOf(answer)?.code)} ${retryAfter} Retry-After`
    })
    demandEqual([...new Set(refusals)], ['503 overloaded with Retry-After'], 'the answers to the others')
    demandEqual(b.hits.length, 0, 'requests at the next provider: a lack of descriptors is no failure of the first')
    await until(
      async () => servedBy((await ask(testbed, { model: 'm' })).answer) === 'a',
      'the first provider serves again',
    )
    a.stop()
    b.stop()
    return 'served exactly, refused with 503 and Retry-After, or not connected; no failover, no failure was recorded'
  },
}

/** Faults of the process and of its machine. */
export const processFaults: readonly FaultCase[] = [
  killed,
  stopped,
  outOfDescriptors,
  portTaken,
  badLog(
    'log-pipe-full',
    'a log pipe whose reader has stopped',
    (start, folder) =>
      `mkfifo '${folder}/log'\nsleep 600 <'${folder}/log' >&- 2>&- & echo $! >'${folder}/reader'\n` +
      `exec ${start} 2>'${folder}/log'`,
  ),
  badLog(
    'log-pipe-closed',
    'a log pipe whose reader has gone',
    (start, folder) => `mkfifo '${folder}/log'\ntrue <'${folder}/log' &\nexec ${start} 2>'${folder}/log'`,
  ),
  badLog(
    'log-file-full',
    'a log file that cannot grow (`ulimit -f`)',
    (start, folder) => `ulimit -f 16\nexec ${start} 2>'${folder}/log'`,
  ),
  badLog('log-disk-full', 'a log on a full disk', (start) => `exec ${start} 2>/dev/full`),
  ...diskFaults,
  ...clockFaults,
  ...limitFaults,
]
