import { isDone } from '../client.ts'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import type { Cut } from '../fakes/faults/cut.ts'
import { kindsOf, startFault } from '../fakes/faults/fault.ts'
import type { Fault } from '../fakes/faults/fault.ts'
import { good, goodText } from '../fakes/good.ts'
import { provider, quick } from '../harness.ts'
import { ask, demandMovesOn } from './ask.ts'
import { demandEqual } from './fault-case.ts'
import type { Area, FaultCase } from './fault-case.ts'

/** A fault of test/fakes/faults at the first provider: the second serves, plain and streamed. */
export function providerFault(fault: Fault, area: Area, isShort = false): FaultCase {
  return {
    id: idOf(fault.name),
    area,
    what: `${fault.words} ([row ${fault.row}](failover.md#what-each-failure-does))`,
    isShort,
    async run(ground) {
      const a = startFault(fault),
        b = faultUpstream(good())
      await ground.offer(provider('a', a.url, ['m'], { ...quick, ...fault.entry }), provider('b', b.url, ['m']))
      await demandMovesOn(ground, a, b, { kinds: kindsOf(fault), hits: fault.hits ?? 1 })
      a.stop()
      b.stop()
      return `\`${fault.failure}\`; the next provider served`
    },
  }
}

/** A stream that is lost after its first tokens: the second provider, which says the same, goes on with it. */
export function resumedCut(cut: Cut, area: Area, isShort = false): FaultCase {
  return {
    id: idOf(cut.name),
    area,
    what: `${cut.words} after the first tokens of a stream ([row ${cut.row}](failover.md#what-each-failure-does))`,
    isShort,
    async run(ground) {
      const a = faultUpstream(cut.script),
        same = { name: 'same', tokens: 8 },
        b = faultUpstream(good(same))
      await ground.offer(provider('a', a.url, ['m'], quick), provider('b', b.url, ['m']))
      const { answer } = await ask(ground, { model: 'm', stream: true, ...same })
      demandEqual([answer.status, answer.content, isDone(answer)], [200, goodText(same), true], 'the stream')
      demandEqual([a.hits.length, b.hits.length], [1, 1], 'requests at a and b')
      a.stop()
      b.stop()
      return 'a cut; the next provider went on with the stream, exact'
    },
  }
}

function idOf(name: string): string {
  return name.toLowerCase()
}
