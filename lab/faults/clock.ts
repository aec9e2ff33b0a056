import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultUpstream } from '../../test/fakes/fault-upstream.ts'
import { status } from '../../test/fakes/faults/status.ts'
import { good } from '../../test/fakes/good.ts'
import { provider } from '../../test/harness.ts'
import { needs } from '../../test/needs.ts'
import { ask, demandExact, demandServed } from './ask.ts'
import { demandEqual, type FaultCase } from './fault-case.ts'
import { openTestbed, until } from './testbed.ts'

const hours = 3_600

/** The wall clock jumps while streams run and a provider cools down for two seconds (Retry-After). */
function jump(id: string, what: string, seconds: number): FaultCase {
  let file = ''
  return {
    id,
    area: 'process',
    what,
    needs: () => (needs('libfaketime') === undefined ? 'there is no libfaketime on this machine' : undefined),
    own() {
      const folder = mkdtempSync(join(tmpdir(), 'svc-clock-'))
      file = join(folder, 'clock')
      writeFileSync(file, '+0s')
      return openTestbed({
        environment: {
          LD_PRELOAD: needs('libfaketime') ?? '',
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_NO_CACHE: '1',
          DONT_FAKE_MONOTONIC: '1',
        },
        cleanUp: () => rmSync(folder, { recursive: true }),
      })
    },
    async run(testbed) {
      const a = faultUpstream(status(429, { 'retry-after': '2' })),
        b = faultUpstream(good({ pauseMs: 50 }))
      await testbed.offer(provider('a', a.url, ['m']), provider('b', b.url, ['m']))
      await demandServed(testbed, 'm', 'b', [false])
      const asked = performance.now()
      const streams = Array.from({ length: 10 }, () => ask(testbed, { model: 'm', stream: true, tokens: 30 }))
      await until(() => b.hits.length === 11, 'all requests have reached the provider')
      writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s`)
      await demandServed(testbed, 'm', 'b', [false])
      for (const asking of await Promise.all(streams)) demandExact(asking, true)
      demandEqual(a.hits.length, 1, 'requests at the provider that cools down')
      a.use(good())
      await Bun.sleep(Math.max(0, 2_100 - (performance.now() - asked)))
      await demandServed(testbed, 'm', 'a')
      a.stop()
      b.stop()
      return 'open streams were exact; a provider with `Retry-After: 2` cooled down for 2 s, no more and no less'
    },
  }
}

/** Jumps of the wall clock. For sessions see test/sign-in/clock.test.ts. */
export const clockFaults: readonly FaultCase[] = [
  jump('clock-forwards', 'the clock jumps forwards by 25 hours', 25 * hours),
  jump('clock-backwards', 'the clock jumps back by 25 hours', -25 * hours),
]
