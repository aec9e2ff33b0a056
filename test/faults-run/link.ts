import { faultUpstream } from '../fakes/fault-upstream.ts'
import type { FaultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { provider, quick } from '../harness.ts'
import { ask, demandExact, demandMovesOn, demandOthersServed, demandServed, servedBy } from './ask.ts'
import { lacksDiscipline, lacksFarSide, openFarSide } from './far-side.ts'
import type { FarSide } from './far-side.ts'
import { demand, demandEqual } from './fault-case.ts'
import type { FaultCase } from './fault-case.ts'
import { until } from './ground.ts'
import type { Ground } from './ground.ts'
import { dnsFaults } from './names.ts'

const patient = { timeouts: { connect_ms: 3_000, first_token_ms: 10_000, idle_ms: 3_000, attempt_ms: 20_000 } }

interface Ends {
  readonly far: FarSide
  /** The next provider, on this machine. */
  readonly b: FaultUpstream
}

/** Provider `a` is at the far side of a link, `b` is here. */
async function withFarSide(
  ground: Ground,
  act: (ends: Ends) => Promise<string>,
  timers: Readonly<Record<string, unknown>> = quick,
  pauseMs = 0,
): Promise<string> {
  await using far = await openFarSide(pauseMs)
  const b = faultUpstream(good())
  await ground.offer(provider('a', far.url, ['m'], timers), provider('b', b.url, ['m']))
  const words = await act({ far, b })
  b.stop()
  return words
}

const nowhere: FaultCase = {
  id: 'silent-host',
  area: 'link',
  what: 'an address that belongs to nobody: packets are lost',
  needs: lacksFarSide,
  run: (ground) =>
    withFarSide(ground, async ({ far, b }) => {
      await ground.offer(provider('a', far.nowhere, ['m'], quick), provider('b', b.url, ['m']))
      await demandMovesOn(ground, { hits: [] }, b, { hits: 0 })
      await demandOthersServed(ground)
      return 'given up after `connect_ms`, the next provider served'
    }),
}

const deadConnection: FaultCase = {
  id: 'cable-pulled',
  area: 'link',
  what: 'the cable to a provider is pulled while a connection is kept; later it is put back',
  needs: lacksFarSide,
  run: (ground) =>
    withFarSide(ground, async ({ far, b }) => {
      await demandServed(ground, 'm', 'a')
      await far.ip('link', 'set', 'far', 'down')
      await demandServed(ground, 'm', 'b')
      demandEqual([far.hits, b.hits.length], [2, 2], 'requests at a and b')
      await far.ip('link', 'set', 'far', 'up')
      // The kernel has to find the neighbour again.
      await until(
        async () => servedBy((await ask(ground, { model: 'm' })).answer) === 'a',
        'the first provider serves again',
      )
      await demandServed(ground, 'm', 'a')
      return 'the next provider served after `first_token_ms` (a stream) or `attempt_ms`; put back, the first served again'
    }),
}

const cutCable: FaultCase = {
  id: 'cable-pulled-mid-stream',
  area: 'link',
  what: 'the cable to a provider is pulled in the middle of a stream',
  needs: lacksFarSide,
  run: (ground) =>
    withFarSide(
      ground,
      async ({ far, b }) => {
        const asking = ask(ground, { model: 'm', stream: true, tokens: 60 })
        await until(() => far.hits === 1, 'the first provider is asked')
        await Bun.sleep(200)
        await far.ip('link', 'set', 'far', 'down')
        demandExact(await asking, true)
        demandEqual(b.hits.length, 1, 'requests at b')
        return 'a cut after `idle_ms`; the next provider went on with the stream, exact'
      },
      quick,
      10,
    ),
}

/** Streams and plain requests at once over a link spoilt by `tc`: the far provider serves them all. */
function spoiltLink(
  id: string,
  what: string,
  discipline: readonly [name: string, ...parameters: string[]],
  count: number,
  told: (statistics: string) => string,
): FaultCase {
  return {
    id,
    area: 'link',
    what,
    needs: () => lacksDiscipline(...discipline),
    run: (ground) =>
      withFarSide(
        ground,
        async ({ far, b }) => {
          await far.tc('qdisc', 'add', 'dev', 'far', 'root', ...discipline)
          const kinds = Array.from({ length: count }, (_, index) => index % 2 === 0)
          const askings = await Promise.all(kinds.map((stream) => ask(ground, { model: 'm', stream, tokens: 100 })))
          askings.forEach((asking, index) => demandExact(asking, kinds[index] === true))
          demandEqual([...new Set(askings.map(({ answer }) => servedBy(answer)))], ['a'], 'who served')
          demandEqual(b.hits.length, 0, 'requests at b')
          return `${count} answers of 100 tokens at once, all exact, all by the first provider${told(await far.tc('-s', 'qdisc', 'show', 'dev', 'far'))}`
        },
        patient,
        1,
      ),
  }
}

function packetsDropped(statistics: string): string {
  const dropped = Number(/ pkt \(dropped (\d+)/.exec(statistics)?.[1] ?? 0)
  demand(dropped > 0, 'packets are lost')
  return `; ${dropped} packets were lost on the way`
}

/** What goes wrong on the way to a provider, made by the kernel in a network of its own. */
export const linkFaults: readonly FaultCase[] = [
  nowhere,
  deadConnection,
  cutCable,
  spoiltLink(
    'slow-cable',
    'a link of 1 Mbit/s',
    ['tbf', 'rate', '1mbit', 'burst', '10kb', 'latency', '2s'],
    8,
    () => '',
  ),
  spoiltLink(
    'loss-by-overflow',
    'a link whose queue overflows: packets are lost in bursts',
    ['tbf', 'rate', '4mbit', 'burst', '4kb', 'limit', '6kb'],
    16,
    packetsDropped,
  ),
  spoiltLink(
    'loss-at-random',
    'a link that loses every tenth packet at random',
    ['netem', 'loss', '10%'],
    16,
    packetsDropped,
  ),
  ...dnsFaults,
]
