import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chat, question } from './client.ts'
import type { Script } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { billed, startLedgerRig, until, type LedgerRig } from './ledger-rig.ts'
import { isAlive, workersOf } from './process-tree.ts'

/** Rounds of killing; more by the environment, for a longer run. */
const rounds = Number(process.env['SVC_TEST_KILLS'] ?? 9)
/** Requests of the last 0.25 s before a kill may be lost; twice that, since disks and processors of tests are busy. */
const lossMs = 500

/** Longest time that the provider works. */
const workMs = 600
const answerCost = billed(3, 5)

/** A provider that works for some time, and bills each request that it got. */
function billing(): { readonly arrived: readonly number[]; readonly script: Script } {
  const arrived: number[] = []
  return {
    arrived,
    async script(exchange) {
      arrived.push(performance.now())
      await exchange.pause(Math.random() * workMs)
      await good()(exchange)
    },
  }
}

/** Times at which requests were answered. */
interface Load {
  readonly answered: readonly number[]
  stop(): Promise<void>
}

/** Sends requests, eight at a time, until it is stopped. Failures are expected while processes die. */
function load({ service, key }: LedgerRig): Load {
  const answered: number[] = []
  let isOver = false
  async function ask(index: number): Promise<void> {
    while (!isOver) {
      const body = question({
        max_tokens: 5,
        ...(index % 2 === 0 ? { stream: true, stream_options: { include_usage: true } } : {}),
      })
      try {
        const { status } = await chat(service.url, body, { headers: { authorization: `Bearer ${key}` } })
        if (status === 200) answered.push(performance.now())
      } catch {
        await Bun.sleep(10)
      }
    }
  }
  const all = Array.from({ length: 8 }, (_, index) => ask(index))
  return {
    answered,
    async stop() {
      isOver = true
      await Promise.all(all)
    },
  }
}

test.each([
  ['a worker', ['--workers', '2'], false],
  ['the primary', ['--workers', '2'], true],
  ['the only process', [], true],
] as const)(
  'kill -9 of %s › loses no use but that of the last 0.25 s, and counts nothing twice',
  async (_, flags, isWhole) => {
    const provider = billing()
    await using rig = await startLedgerRig([provider.script], { flags })
    const limits = [
      { for: 'everyone', usd: 1_000, per: 'month' },
      { for: 'each key', usd: 500, per: 'total' },
    ]
    writeFileSync(join(rig.home, 'access.json'), JSON.stringify({ limits }))
    await until(() => rig.service.output.includes('limits reloaded'))
    const isSettled = () => rig.read('SELECT count(*) AS n FROM hold WHERE booked_hour IS NULL')[0]?.['n'] === 0
    /** Requests that reached the provider, without those of the last moments before each kill. */
    let bill = 0
    let counts = 0
    let least = 0
    let most = 0
    for (let round = 0; round < Math.ceil(rounds / 3); round += 1) {
      const { service } = rig
      const before = rig.sum('requests')
      const running = load(rig)
      await until(() => rig.sum('requests') > before)
      await Bun.sleep(300 + Math.random() * 300)
      const workers = workersOf(service.pid)
      const killedAt = performance.now()
      if (isWhole) service.signal('SIGKILL')
      else process.kill(workers[round % workers.length] ?? service.pid, 'SIGKILL')
      await Bun.sleep(50)
      await running.stop()
      bill += provider.arrived.slice(counts).filter((time) => time < killedAt - lossMs || time > killedAt).length
      counts = provider.arrived.length
      least += running.answered.filter((time) => time < killedAt - lossMs).length
      if (isWhole) {
        await until(() => workers.every((pid) => !isAlive(pid)))
        await service.exited
        // Requests that were cut off in the middle may count, too.
        most += running.answered.length + 8
        await rig.restart()
      } else {
        most += running.answered.length + 8
        // Workers that die young are replaced after up to 30 s.
        await until(() => workersOf(service.pid).length === workers.length, 60_000)
      }
    }
    await until(isSettled)
    await rig.service.stop()
    expect(isSettled()).toBe(true)
    const counted = rig.sum('requests - left_early - errors')
    // What was under way costs its estimate, which is more than its bill, and each request costs once.
    const [attempts, left, cost] = ['attempts', 'left_early', 'cost'].map(rig.sum)
    if (process.env['SVC_PRINT'] !== undefined)
      console.info({ arrived: counts, bill, counted, attempts, left, unsettled: rig.sum('unsettled'), answered: least })
    expect(counted + Number(attempts) + Number(left)).toBeGreaterThanOrEqual(bill)
    expect(counted + Number(attempts)).toBeLessThanOrEqual(counts)
    expect(Number(cost)).toBeGreaterThanOrEqual(bill * answerCost)
    expect(counted).toBeGreaterThanOrEqual(least)
    expect(counted).toBeLessThanOrEqual(most)
    expect(rig.sum('cost - cost_estimated')).toBe(counted * answerCost)
    const days = rig.read('SELECT sum(requests) AS requests FROM usage_day')[0]?.['requests']
    expect(days).toBe(rig.sum('requests'))
    const rows = Number(rig.read('SELECT count(*) AS n FROM request', 'requests.db')[0]?.['n'])
    expect(rows).toBeGreaterThanOrEqual(least)
  },
  60_000 + rounds * 12_000,
)
