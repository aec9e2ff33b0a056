import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import { status } from '../fakes/faults/status.ts'
import { good } from '../fakes/good.ts'
import { provider } from '../harness.ts'
import { needs } from '../needs.ts'
import { ask, demandExact, demandServed } from './ask.ts'
import { demandEqual } from './fault-case.ts'
import type { FaultCase } from './fault-case.ts'
import { openGround, until } from './ground.ts'

const hours = 3_600

/** The wall clock jumps, while streams run and a provider has asked to be left alone for two seconds. */
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
      return openGround({
        environment: {
          LD_PRELOAD: needs('libfaketime') ?? '',
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_NO_CACHE: '1',
          DONT_FAKE_MONOTONIC: '1',
        },
        cleanUp: () => rmSync(folder, { recursive: true }),
      })
    },
    async run(ground) {
      const a = faultUpstream(status(429, { 'retry-after': '2' })),
        b = faultUpstream(good({ pauseMs: 50 }))
      await ground.offer(provider('a', a.url, ['m']), provider('b', b.url, ['m']))
      await demandServed(ground, 'm', 'b', [false])
      const asked = performance.now()
      const streams = Array.from({ length: 10 }, () => ask(ground, { model: 'm', stream: true, tokens: 30 }))
      await until(() => b.hits.length === 11, 'all are asked for')
      writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s`)
      await demandServed(ground, 'm', 'b', [false])
      for (const asking of await Promise.all(streams)) demandExact(asking, true)
      demandEqual(a.hits.length, 1, 'requests at the provider that wanted to be left alone')
      a.use(good())
      await Bun.sleep(Math.max(0, 2_100 - (performance.now() - asked)))
      await demandServed(ground, 'm', 'a')
      a.stop()
      b.stop()
      return 'streams under way were exact; a provider that had asked for 2 s was left alone for 2 s, no more and no less'
    },
  }
}

/** The time of day is another than it was. Sessions: test/sign-in/clock.test.ts. */
export const clockFaults: readonly FaultCase[] = [
  jump('clock-forwards', 'the clock jumps forwards by 25 hours', 25 * hours),
  jump('clock-backwards', 'the clock jumps back by 25 hours', -25 * hours),
]
