import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorOf, metric, question, rawChat, rawConnection } from '../client.ts'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { provider, startService } from '../harness.ts'
import { ask, demandExact, demandOthersServed, demandServed, servedBy } from './ask.ts'
import { clockFaults } from './clock.ts'
import { diskFaults } from './disk.ts'
import { demand, demandEqual } from './fault-case.ts'
import type { FaultCase } from './fault-case.ts'
import { openGround, until } from './ground.ts'
import type { Ground } from './ground.ts'
import { limitFaults } from './limits.ts'
import { startScript } from './start-script.ts'
import type { StartScript } from './start-script.ts'

const clients = 10
const paced = { tokens: 40, pauseMs: 50 }

/** Streams whose tokens come every 50 ms, all of which have begun. */
async function beginStreams(ground: Ground, count = clients): Promise<readonly ReturnType<typeof rawConnection>[]> {
  const streams = Array.from({ length: count }, () =>
    rawConnection(
      ground.service.port,
      rawChat(JSON.stringify(question({ stream: true })), { connection: 'close' }),
      15_000,
    ),
  )
  await Promise.all(streams.map((stream) => stream.until('paced-2')))
  return streams
}

const body = JSON.stringify(question({ model: 'well' })),
  half = 10

/** Requests of whose bodies the first half is there. */
function beginUploads({ service }: Ground): readonly ReturnType<typeof rawConnection>[] {
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
  own: () => openGround(),
  async run(ground) {
    const a = faultUpstream(good({ name: 'paced', ...paced }))
    await ground.offer(provider('a', a.url, ['m']))
    const streams = await beginStreams(ground)
    ground.service.signal('SIGKILL')
    const ends = await Promise.all(streams.map(({ response }) => response))
    demandEqual(
      ends.filter((end) => end.includes('[DONE]') || end.endsWith('0\r\n\r\n')).length,
      0,
      'streams that look complete',
    )
    await until(() => a.open === 0, 'the provider is let go')
    await ground.startAgain()
    a.stop()
    return 'every stream broke visibly, inside its framing and without `[DONE]`; the next process served at once'
  },
}

/** Longer than the providers' timers: what has run out meanwhile has not run out for the provider. */
const pauseMs = 2_500

const stopped: FaultCase = {
  id: 'sigstop',
  area: 'process',
  isShort: true,
  what: `the process stands still (SIGSTOP) for ${pauseMs / 1_000} s, longer than \`idle_ms\`, \`attempt_ms\` and \`SVC_BODY_IDLE_MS\``,
  own: () => openGround({ environment: { SVC_BODY_IDLE_MS: '1000', SVC_BODY_TIMEOUT_MS: '2000' } }),
  async run(ground) {
    const timeouts = { connect_ms: 1_000, first_token_ms: 1_500, idle_ms: 1_000, attempt_ms: 1_500 }
    const a = faultUpstream(good({ name: 'paced', ...paced })),
      late = faultUpstream(async (exchange) => {
        await exchange.pause(500)
        await good()(exchange)
      }),
      b = faultUpstream(good())
    await ground.offer(
      provider('a', a.url, ['m'], { timeouts }),
      provider('late', late.url, ['late'], { timeouts }),
      provider('b', b.url, ['m', 'late']),
    )
    const streams = await beginStreams(ground)
    const plain = Array.from({ length: clients }, () => ask(ground, { model: 'late' }))
    await until(() => late.hits.length === clients, 'all are asked for')
    const uploads = beginUploads(ground)
    await Bun.sleep(100)
    process.kill(ground.service.pid, 'SIGSTOP')
    for (const { socket } of uploads) socket.write(body.slice(half))
    await Bun.sleep(pauseMs)
    process.kill(ground.service.pid, 'SIGCONT')
    demandEqual(
      await Promise.all(uploads.map(async ({ response }) => (await response).slice(9, 12))),
      uploads.map(() => '200'),
      'the statuses of bodies that came meanwhile',
    )
    const ends = await Promise.all(streams.map(({ response }) => response))
    demandEqual(
      ends.filter((end) => !end.includes('paced-39') || !end.includes('[DONE]')).length,
      0,
      'streams that did not finish',
    )
    for (const asking of await Promise.all(plain)) {
      demandExact(asking, false)
      demandEqual(servedBy(asking.answer), 'late', 'who served')
    }
    demandEqual(b.hits.length, 0, 'requests at the next provider')
    await demandServed(ground, 'm', 'a', [false])
    for (const upstream of [a, b, late]) upstream.stop()
    return 'every stream, plain request and upload under way finished where it was; nobody was blamed, no breaker opened'
  },
}

/** The reader of a log that never reads, whose process the file `reader` names, ends with the service. */
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

/** Standard error, where the log goes, is a pipe that nobody takes anything from. */
function badLog(id: string, what: string, write: (start: string, folder: string) => string): FaultCase {
  return {
    id,
    area: 'process',
    what,
    isShort: id === 'log-disk-full',
    own: () => openGround(withReader(startScript(write))),
    async run(ground) {
      const dropped = () => metric(ground.service.url, 'svc_log_lines_dropped_total')
      await until(
        async () => {
          await Promise.all(
            Array.from({ length: 200 }, () =>
              fetch(`${ground.service.url}/v1/chat/completions`, { method: 'POST', body: '{', keepalive: false }).then(
                (response) => response.text(),
              ),
            ),
          )
          return (await dropped()) > 0
        },
        'lines are lost, and counted',
        30_000,
      )
      await demandOthersServed(ground)
      return 'went on serving; lines that nobody took are lost, and counted in `svc_log_lines_dropped_total`'
    },
  }
}

const portTaken: FaultCase = {
  id: 'port-taken',
  area: 'process',
  what: 'a second service on the same port',
  isShort: true,
  async run(ground) {
    const failure = await startService({ providers: [] }, { port: ground.service.port }).then(
      () => 'it started',
      String,
    )
    demand(
      /exited with [1-9]/.test(failure) && failure.includes(String(ground.service.port)),
      `it says why it does not start, not ${failure}`,
    )
    await demandOthersServed(ground)
    return 'the second does not start, and names the port; the first goes on'
  },
}

const outOfDescriptors: FaultCase = {
  id: 'out-of-descriptors',
  area: 'process',
  what: '300 clients at a service that may open 64 descriptors',
  own: () => openGround({ descriptors: 64 }),
  isShort: true,
  async run(ground) {
    const a = faultUpstream(good({ pauseMs: 20 })),
      b = faultUpstream(good())
    await ground.offer(provider('a', a.url, ['m']), provider('b', b.url, ['m']))
    const settled = await Promise.allSettled(
      Array.from({ length: 300 }, () => ask(ground, { model: 'm', stream: true, signal: AbortSignal.timeout(5_000) })),
    )
    const askings = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const refused = askings.filter(({ answer }) => answer.status !== 200)
    for (const asking of askings) if (asking.answer.status === 200) demandExact(asking, true)
    demandEqual(
      [
        ...new Set(
          refused.map(
            ({ answer }) =>
              `${answer.status} ${String(errorOf(answer)?.code)} ${answer.headers.get('retry-after') === null ? 'without' : 'with'} Retry-After`,
          ),
        ),
      ],
      ['503 overloaded with Retry-After'],
      'what the others got',
    )
    demandEqual(b.hits.length, 0, 'requests at the next provider: it is not the first one’s fault')
    await until(
      async () => servedBy((await ask(ground, { model: 'm' })).answer) === 'a',
      'the first provider serves again',
    )
    a.stop()
    b.stop()
    return 'served exactly, refused with 503 and Retry-After, or not connected; no provider was blamed or passed over'
  },
}

/** What happens to the process, and to the machine it is on. */
export const processFaults: readonly FaultCase[] = [
  killed,
  stopped,
  outOfDescriptors,
  portTaken,
  badLog(
    'log-pipe-full',
    'a log pipe whose reader has stopped',
    (start, folder) =>
      `mkfifo '${folder}/log'\nsleep 600 <'${folder}/log' >&- 2>&- & echo $! >'${folder}/reader'\nexec ${start} 2>'${folder}/log'`,
  ),
  badLog(
    'log-pipe-closed',
    'a log pipe whose reader has gone',
    (start, folder) => `mkfifo '${folder}/log'\ntrue <'${folder}/log' &\nexec ${start} 2>'${folder}/log'`,
  ),
  badLog(
    'log-file-full',
    'a log file that may not become larger (`ulimit -f`)',
    (start, folder) => `ulimit -f 16\nexec ${start} 2>'${folder}/log'`,
  ),
  badLog('log-disk-full', 'a log on a full disk', (start) => `exec ${start} 2>/dev/full`),
  ...diskFaults,
  ...clockFaults,
  ...limitFaults,
]
