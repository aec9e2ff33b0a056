import { metric, question, rawChat, rawConnection } from '../../test/client.ts'
import { faultUpstream, type FaultUpstream } from '../../test/fakes/fault-upstream.ts'
import { good } from '../../test/fakes/good.ts'
import { provider } from '../../test/harness.ts'
import { isAlive, workersOf } from '../../test/process-tree.ts'
import { ask, demandExact, demandOthersServed, demandServed, servedBy } from './ask.ts'
import { demand, demandEqual, type FaultCase } from './fault-case.ts'
import { openTestbed, until, type Testbed } from './testbed.ts'

const streams = 40

function workersFault(
  id: string,
  what: string,
  run: (testbed: Testbed, a: FaultUpstream) => Promise<string>,
  isShort = false,
): FaultCase {
  return {
    id,
    area: 'workers',
    what,
    isShort,
    own: () => openTestbed({ flags: ['--workers', '2'] }),
    async run(testbed) {
      const a = faultUpstream(good({ name: 'paced', tokens: 30, pauseMs: 50 }))
      await testbed.offer(provider('a', a.url, ['m']))
      const words = await run(testbed, a)
      a.stop()
      return words
    },
  }
}

/** Starts streams, each on its own connection, so that the kernel spreads them over the workers. */
async function beginStreams({ service }: Testbed): Promise<readonly Promise<string>[]> {
  const begun = Array.from({ length: streams }, () =>
    rawConnection(service.port, rawChat(JSON.stringify(question({ stream: true })), { connection: 'close' }), 20_000),
  )
  await Promise.all(begun.map((stream) => stream.until('paced-1')))
  return begun.map(({ response }) => response)
}

const isWhole = (response: string): boolean => response.includes('paced-29 ') && response.includes('[DONE]')

async function allRunning(testbed: Testbed): Promise<void> {
  await until(
    async () => (await metric(testbed.service.url, 'svc_workers').catch(() => 0)) === 2,
    'two workers are running',
    15_000,
  )
}

const killed = workersFault('worker-killed', 'kill -9 of a worker with streams open', async (testbed) => {
  const [victim = 0] = workersOf(testbed.service.pid)
  const open = await beginStreams(testbed)
  process.kill(victim, 'SIGKILL')
  const ends = await Promise.all(open),
    whole = ends.filter(isWhole).length
  demand(whole > 0 && whole < streams, `some streams end with the worker, others go on; of ${streams} ${whole} went on`)
  demandEqual(
    ends.filter((end) => !isWhole(end) && end.includes('[DONE]')).length,
    0,
    'broken streams that look complete',
  )
  await allRunning(testbed)
  return 'its streams broke visibly, those of the other worker were exact; it was replaced'
})

const stopped = workersFault(
  'worker-stopped',
  'a worker is stopped (SIGSTOP) for two seconds, with streams open',
  async (testbed) => {
    const [victim = 0] = workersOf(testbed.service.pid)
    const open = await beginStreams(testbed)
    process.kill(victim, 'SIGSTOP')
    const meanwhile = Promise.all(
      Array.from({ length: 12 }, async () => {
        const asked = performance.now()
        demandExact(await ask(testbed), false)
        return performance.now() - asked
      }),
    )
    await Bun.sleep(2_000)
    process.kill(victim, 'SIGCONT')
    const quick = (await meanwhile).filter((ms) => ms < 1_500).length
    demandEqual((await Promise.all(open)).filter((end) => !isWhole(end)).length, 0, 'streams that did not finish')
    demand(quick > 0, 'the other worker serves meanwhile')
    return 'every stream went on, exact; new requests on connections of that worker waited, others were served at once'
  },
)

const primaryKilled = workersFault(
  'primary-killed',
  'kill -9 of the primary with streams open, and a start on the same port',
  async (testbed) => {
    const workers = workersOf(testbed.service.pid)
    const open = await beginStreams(testbed)
    testbed.service.signal('SIGKILL')
    demandEqual((await Promise.all(open)).filter((end) => !isWhole(end)).length, 0, 'streams that did not finish')
    await until(() => !workers.some(isAlive), 'the workers end')
    await testbed.startAgain()
    return 'its workers finished every stream, exact, and ended; the next start served at once'
  },
)

const crashLoop = workersFault(
  'crash-loop',
  'a worker that is killed again and again, as soon as it has started',
  async (testbed) => {
    const [survivor = 0] = workersOf(testbed.service.pid)
    const end = performance.now() + 3_500
    let kills = 0
    while (performance.now() < end) {
      for (const pid of workersOf(testbed.service.pid).filter((each) => each !== survivor)) {
        process.kill(pid, 'SIGKILL')
        kills += 1
      }
      await Bun.sleep(20)
    }
    await demandOthersServed(testbed)
    demand(kills >= 2 && kills <= 4, `it is started after 1 s, 2 s, 4 s …, not ${kills} times in 3.5 s`)
    await allRunning(testbed)
    return `restarted after 1 s, 2 s, 4 s …: ${kills} times in 3.5 s; the other worker served meanwhile`
  },
)

const brokenRoll = workersFault(
  'roll-broken',
  'a rolling restart (SIGUSR2) while the configuration is broken',
  async (testbed) => {
    const before = workersOf(testbed.service.pid)
    await testbed.service.configure('{"providers": [')
    process.kill(testbed.service.pid, 'SIGUSR2')
    await until(
      () => testbed.service.output.includes('the rolling restart stops here'),
      'the rolling restart is abandoned',
    )
    demandEqual(workersOf(testbed.service.pid), before, 'the workers')
    await demandServed(testbed, 'm', 'a', [false])
    return 'abandoned with a line in the log; the running workers stayed'
  },
  true,
)

const changeMeanwhile = workersFault(
  'change-while-stopped',
  'a change of the configuration while a worker is stopped',
  async (testbed) => {
    const [victim = 0] = workersOf(testbed.service.pid),
      b = faultUpstream(good())
    process.kill(victim, 'SIGSTOP')
    const changing = testbed.offer(provider('b', b.url, ['m']))
    await Bun.sleep(1_000)
    process.kill(victim, 'SIGCONT')
    await changing
    const servers = await Promise.all(
      Array.from({ length: streams }, async () => servedBy((await ask(testbed, { model: 'm' })).answer)),
    )
    demandEqual([...new Set(servers)], ['b'], 'the providers that serve')
    b.stop()
    return 'both workers loaded it once that worker ran again, and neither before'
  },
)

const killedMidRoll = workersFault(
  'killed-while-rolling',
  'kill -9 of a worker in the middle of a rolling restart',
  async (testbed) => {
    const before = workersOf(testbed.service.pid)
    process.kill(testbed.service.pid, 'SIGUSR2')
    await until(() => workersOf(testbed.service.pid).some((pid) => !before.includes(pid)), 'a new worker has started')
    for (const pid of workersOf(testbed.service.pid).filter((each) => !before.includes(each)))
      process.kill(pid, 'SIGKILL')
    await allRunning(testbed)
    await demandOthersServed(testbed)
    return 'two workers were running again, and served'
  },
)

/** Faults of the processes of a service with workers. */
export const workersFaults: readonly FaultCase[] = [
  killed,
  stopped,
  primaryKilled,
  crashLoop,
  brokenRoll,
  changeMeanwhile,
  killedMidRoll,
]
