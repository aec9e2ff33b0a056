import { isDone } from '../../test/client.ts'
import { faultUpstream } from '../../test/fakes/fault-upstream.ts'
import type { Cut } from '../../test/fakes/faults/cut.ts'
import { kindsOf, startFault, type Fault } from '../../test/fakes/faults/fault.ts'
import { good, goodText } from '../../test/fakes/good.ts'
import { provider, quick } from '../../test/harness.ts'
import { ask, demandMovesOn } from './ask.ts'
import { demandEqual, type Area, type FaultCase } from './fault-case.ts'

/** A fault of test/fakes/faults at the first provider: the second serves, plain and streamed. */
export function providerFault(fault: Fault, area: Area, isShort = false): FaultCase {
  return {
    id: idOf(fault.name),
    area,
    what: `${fault.words} ([row ${fault.row}](../../docs/failover.md#what-each-failure-does))`,
    isShort,
    async run(testbed) {
      const a = startFault(fault),
        b = faultUpstream(good())
      await testbed.offer(provider('a', a.url, ['m'], { ...quick, ...fault.entry }), provider('b', b.url, ['m']))
      await demandMovesOn(testbed, a, b, { kinds: kindsOf(fault), hits: fault.hits ?? 1 })
      a.stop()
      b.stop()
      return `\`${fault.failure}\`; the next provider served`
    },
  }
}

/** A stream that is cut after its first tokens: the second provider has the same text and resumes it. */
export function resumedCut(cut: Cut, area: Area, isShort = false): FaultCase {
  return {
    id: idOf(cut.name),
    area,
    what:
      `${cut.words} after the first tokens of a stream ` +
      `([row ${cut.row}](../../docs/failover.md#what-each-failure-does))`,
    isShort,
    async run(testbed) {
      const a = faultUpstream(cut.script),
        same = { name: 'same', tokens: 8 },
        b = faultUpstream(good(same))
      await testbed.offer(provider('a', a.url, ['m'], quick), provider('b', b.url, ['m']))
      const { answer } = await ask(testbed, { model: 'm', stream: true, ...same })
      demandEqual([answer.status, answer.content, isDone(answer)], [200, goodText(same), true], 'the stream')
      demandEqual([a.hits.length, b.hits.length], [1, 1], 'requests at a and b')
      a.stop()
      b.stop()
      return 'a cut; the next provider resumed the stream, exact'
    },
  }
}

function idOf(name: string): string {
  return name.toLowerCase()
}
