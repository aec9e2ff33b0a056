import { metric, question, rawChat, rawConnection } from '../client.ts'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import type { FaultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { provider } from '../harness.ts'
import { isAlive, workersOf } from '../process-tree.ts'
import { ask, demandExact, demandOthersServed, demandServed, servedBy } from './ask.ts'
import { demand, demandEqual } from './fault-case.ts'
import type { FaultCase } from './fault-case.ts'
import { openGround, until } from './ground.ts'
import type { Ground } from './ground.ts'

const streams = 40

function workersFault(
  id: string,
  what: string,
  run: (ground: Ground, a: FaultUpstream) => Promise<string>,
  isShort = false,
): FaultCase {
  return {
    id,
    area: 'workers',
    what,
    isShort,
    own: () => openGround({ flags: ['--workers', '2'] }),
    async run(ground) {
      const a = faultUpstream(good({ name: 'paced', tokens: 30, pauseMs: 50 }))
      await ground.offer(provider('a', a.url, ['m']))
      const words = await run(ground, a)
      a.stop()
      return words
    },
  }
}

/** Streams that have begun, each on a connection of its own: the kernel spreads them over the workers. */
async function beginStreams({ service }: Ground): Promise<readonly Promise<string>[]> {
  const begun = Array.from({ length: streams }, () =>
    rawConnection(service.port, rawChat(JSON.stringify(question({ stream: true })), { connection: 'close' }), 20_000),
  )
  await Promise.all(begun.map((stream) => stream.until('paced-1')))
  return begun.map(({ response }) => response)
}

const isWhole = (response: string): boolean => response.includes('paced-29 ') && response.includes('[DONE]')

async function allAtWork(ground: Ground): Promise<void> {
  await until(
    async () => (await metric(ground.service.url, 'svc_workers').catch(() => 0)) === 2,
    'two workers are at work',
    15_000,
  )
}

const killed = workersFault('worker-killed', 'kill -9 of a worker with streams open', async (ground) => {
  const [victim = 0] = workersOf(ground.service.pid)
  const open = await beginStreams(ground)
  process.kill(victim, 'SIGKILL')
  const ends = await Promise.all(open),
    whole = ends.filter(isWhole).length
  demand(whole > 0 && whole < streams, `some streams end with the worker, others go on; of ${streams} ${whole} went on`)
  demandEqual(
    ends.filter((end) => !isWhole(end) && end.includes('[DONE]')).length,
    0,
    'broken streams that look complete',
  )
  await allAtWork(ground)
  return 'its streams broke visibly, those of the other were exact; it was replaced'
})

const stopped = workersFault(
  'worker-stopped',
  'a worker stands still (SIGSTOP) for two seconds, with streams open',
  async (ground) => {
    const [victim = 0] = workersOf(ground.service.pid)
    const open = await beginStreams(ground)
    process.kill(victim, 'SIGSTOP')
    const meanwhile = Promise.all(
      Array.from({ length: 12 }, async () => {
        const asked = performance.now()
        demandExact(await ask(ground), false)
        return performance.now() - asked
      }),
    )
    await Bun.sleep(2_000)
    process.kill(victim, 'SIGCONT')
    const quick = (await meanwhile).filter((ms) => ms < 1_500).length
    demandEqual((await Promise.all(open)).filter((end) => !isWhole(end)).length, 0, 'streams that did not finish')
    demand(quick > 0, 'the other worker serves meanwhile')
    return 'every stream went on, exact. Of the requests meanwhile, those that the kernel gave to that worker waited for it; the others were served at once'
  },
)

const primaryKilled = workersFault(
  'primary-killed',
  'kill -9 of the primary with streams open, and a start on the same port',
  async (ground) => {
    const workers = workersOf(ground.service.pid)
    const open = await beginStreams(ground)
    ground.service.signal('SIGKILL')
    demandEqual((await Promise.all(open)).filter((end) => !isWhole(end)).length, 0, 'streams that did not finish')
    await until(() => !workers.some(isAlive), 'the workers end')
    await ground.startAgain()
    return 'its workers finished every stream, exact, and ended; the next start served at once'
  },
)

const crashLoop = workersFault(
  'crash-loop',
  'a worker that is killed again and again, as soon as it is there',
  async (ground) => {
    const [survivor = 0] = workersOf(ground.service.pid)
    const end = performance.now() + 3_500
    let kills = 0
    while (performance.now() < end) {
      for (const pid of workersOf(ground.service.pid).filter((each) => each !== survivor)) {
        process.kill(pid, 'SIGKILL')
        kills += 1
      }
      await Bun.sleep(20)
    }
    await demandOthersServed(ground)
    demand(kills >= 2 && kills <= 4, `it is started after 1 s, 2 s, 4 s …, not ${kills} times in 3.5 s`)
    await allAtWork(ground)
    return `started after 1 s, 2 s, 4 s …: ${kills} times in 3.5 s; the other worker served meanwhile`
  },
)

const brokenRoll = workersFault(
  'roll-broken',
  'a rolling restart (SIGUSR2) while the configuration is broken',
  async (ground) => {
    const before = workersOf(ground.service.pid)
    await ground.service.configure('{"providers": [')
    process.kill(ground.service.pid, 'SIGUSR2')
    await until(
      () => ground.service.output.includes('the rolling restart ends here'),
      'the rolling restart is given up',
    )
    demandEqual(workersOf(ground.service.pid), before, 'the workers')
    await demandServed(ground, 'm', 'a', [false])
    return 'given up with a line in the log; the workers at work stayed'
  },
  true,
)

const changeMeanwhile = workersFault(
  'change-while-stopped',
  'a change of the configuration while a worker stands still',
  async (ground) => {
    const [victim = 0] = workersOf(ground.service.pid),
      b = faultUpstream(good())
    process.kill(victim, 'SIGSTOP')
    const changing = ground.offer(provider('b', b.url, ['m']))
    await Bun.sleep(1_000)
    process.kill(victim, 'SIGCONT')
    await changing
    const servers = await Promise.all(
      Array.from({ length: streams }, async () => servedBy((await ask(ground, { model: 'm' })).answer)),
    )
    demandEqual([...new Set(servers)], ['b'], 'who serves')
    b.stop()
    return 'taken over by both when it went on, by neither before'
  },
)

const killedMidRoll = workersFault(
  'killed-while-rolling',
  'kill -9 of a worker in the middle of a rolling restart',
  async (ground) => {
    const before = workersOf(ground.service.pid)
    process.kill(ground.service.pid, 'SIGUSR2')
    await until(() => workersOf(ground.service.pid).some((pid) => !before.includes(pid)), 'a new worker is there')
    for (const pid of workersOf(ground.service.pid).filter((each) => !before.includes(each)))
      process.kill(pid, 'SIGKILL')
    await allAtWork(ground)
    await demandOthersServed(ground)
    return 'two workers were at work again, and served'
  },
)

/** What happens to one of several processes. */
export const workersFaults: readonly FaultCase[] = [
  killed,
  stopped,
  primaryKilled,
  crashLoop,
  brokenRoll,
  changeMeanwhile,
  killedMidRoll,
]
