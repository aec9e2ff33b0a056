import { accessSync, constants, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerOf, errorOf, question } from '../../test/client.ts'
import { faultUpstream } from '../../test/fakes/fault-upstream.ts'
import { good } from '../../test/fakes/good.ts'
import { provider } from '../../test/harness.ts'
import { demandOthersServed, demandServed } from './ask.ts'
import { demand, demandEqual, type FaultCase } from './fault-case.ts'
import { startScript } from './start-script.ts'
import { openTestbed, type TestbedOptions } from './testbed.ts'

const mebibyte = 1024 * 1024
const memoryMiB = 256
const bodies = 400

/** Folder of control groups of this kind: a tree for the kind (version 1), or the common one (version 2). */
function treeOf(kind: 'memory' | 'cpu'): string | undefined {
  const own = join('/sys/fs/cgroup', kind)
  const tree = existsSync(own) ? own : existsSync('/sys/fs/cgroup/cgroup.controllers') ? '/sys/fs/cgroup' : undefined
  try {
    if (tree !== undefined) accessSync(tree, constants.W_OK)
    return process.getuid?.() === 0 ? tree : undefined
  } catch {
    // Not writable.
    return undefined
  }
}

function lacksLimits(kind: 'memory' | 'cpu'): string | undefined {
  return treeOf(kind) === undefined ? `control groups for ${kind} are not writable` : undefined
}

/** Starts the service in a control group. `settings`: file → value, for version 1 and version 2. */
function within(kind: 'memory' | 'cpu', settings: Readonly<Record<string, string>>): TestbedOptions {
  const group = join(treeOf(kind) ?? '', `svc-faults-${process.pid}`)
  mkdirSync(group)
  for (const [name, value] of Object.entries(settings))
    if (existsSync(join(group, name))) writeFileSync(join(group, name), value)
  const script = startScript((start) => `echo $$ >'${group}/cgroup.procs' && exec ${start}`)
  return {
    ...script,
    async cleanUp() {
      await script.cleanUp()
      rmdirSync(group)
    },
  }
}

const memory: FaultCase = {
  id: 'memory-limit',
  area: 'process',
  what: `${bodies} requests of 1 MB at once with a slow provider, in a control group with ${memoryMiB} MiB of memory`,
  needs: () => lacksLimits('memory'),
  own: () =>
    openTestbed(
      within('memory', {
        'memory.limit_in_bytes': String(memoryMiB * mebibyte),
        'memory.max': String(memoryMiB * mebibyte),
      }),
    ),
  async run(testbed) {
    const a = faultUpstream(async (exchange) => {
      await exchange.pause(1_000)
      await good()(exchange)
    })
    await testbed.offer(provider('a', a.url, ['m']))
    const body = JSON.stringify(question({ x: 'a'.repeat(mebibyte) }))
    const answers = await Promise.all(
      Array.from({ length: bodies }, async () => {
        const response = await fetch(`${testbed.service.url}/v1/chat/completions`, {
          method: 'POST',
          body,
          keepalive: false,
        })
        return answerOf(response, await response.text())
      }),
    )
    const statuses = Map.groupBy(answers, (answer) => `${answer.status} ${String(errorOf(answer)?.code ?? 'served')}`)
    demand(
      [...statuses.keys()].every((each) => each === '200 served' || each === '503 overloaded'),
      `they are served or refused, not ${[...statuses.keys()].join(', ')}`,
    )
    demand(statuses.has('200 served'), 'some are served')
    a.stop()
    return `not killed: ${Array.from(statuses, ([status, { length }]) => `${length} × ${status}`)
      .toSorted()
      .join(', ')}`
  },
}

const processor: FaultCase = {
  id: 'cpu-limit',
  area: 'process',
  what: 'a tenth of a core, while 100 clients ask without pause',
  needs: () => lacksLimits('cpu'),
  own: () =>
    openTestbed(
      within('cpu', { 'cpu.cfs_period_us': '100000', 'cpu.cfs_quota_us': '10000', 'cpu.max': '10000 100000' }),
    ),
  async run(testbed) {
    const a = faultUpstream(good())
    await testbed.offer(provider('a', a.url, ['m']))
    const end = performance.now() + 3_000
    let count = 0
    const load = Promise.all(
      Array.from({ length: 100 }, async () => {
        while (performance.now() < end) {
          await demandServed(testbed, 'm', 'a', [false])
          count += 1
        }
      }),
    )
    let slowest = 0
    while (performance.now() < end) {
      const asked = performance.now()
      demandEqual(
        (await fetch(`${testbed.service.url}/health`, { keepalive: false })).status,
        200,
        'the status of /health',
      )
      slowest = Math.max(slowest, performance.now() - asked)
      await Bun.sleep(100)
    }
    await load
    a.stop()
    demand(slowest < 3_000, `\`/health\` answers within 3 s, not ${slowest.toFixed(0)} ms`)
    await demandOthersServed(testbed)
    return `all ${count} answers exact, \`/health\` within ${Math.ceil(slowest / 1_000)} s`
  },
}

/** Limits of memory and CPU. */
export const limitFaults: readonly FaultCase[] = [memory, processor]
