import { faultUpstream, type FaultUpstream } from '../../test/fakes/fault-upstream.ts'
import { good } from '../../test/fakes/good.ts'
import { provider, quick } from '../../test/harness.ts'
import { ask, demandExact, demandMovesOn, demandOthersServed, demandServed, servedBy } from './ask.ts'
import { lacksDiscipline, lacksFarSide, openFarSide, type FarSide } from './far-side.ts'
import { demand, demandEqual, type FaultCase } from './fault-case.ts'
import { dnsFaults } from './names.ts'
import { until, type Testbed } from './testbed.ts'

const patient = { timeouts: { connect_ms: 3_000, first_token_ms: 10_000, idle_ms: 3_000, attempt_ms: 20_000 } }

interface Ends {
  readonly far: FarSide
  /** The second provider, on this machine. */
  readonly b: FaultUpstream
}

/** Configures provider `a` at the far side of a link and `b` on this machine. */
async function withFarSide(
  testbed: Testbed,
  act: (ends: Ends) => Promise<string>,
  timers: Readonly<Record<string, unknown>> = quick,
  pauseMs = 0,
): Promise<string> {
  await using far = await openFarSide(pauseMs)
  const b = faultUpstream(good())
  await testbed.offer(provider('a', far.url, ['m'], timers), provider('b', b.url, ['m']))
  const words = await act({ far, b })
  b.stop()
  return words
}

const nowhere: FaultCase = {
  id: 'silent-host',
  area: 'link',
  what: 'an unused address: packets are lost',
  needs: lacksFarSide,
  run: (testbed) =>
    withFarSide(testbed, async ({ far, b }) => {
      await testbed.offer(provider('a', far.nowhere, ['m'], quick), provider('b', b.url, ['m']))
      await demandMovesOn(testbed, { hits: [] }, b, { hits: 0 })
      await demandOthersServed(testbed)
      return 'given up after `connect_ms`, the next provider served'
    }),
}

const deadConnection: FaultCase = {
  id: 'cable-pulled',
  area: 'link',
  what: 'the cable to a provider is pulled while a connection is kept; later it is put back',
  needs: lacksFarSide,
  run: (testbed) =>
    withFarSide(testbed, async ({ far, b }) => {
      await demandServed(testbed, 'm', 'a')
      await far.ip('link', 'set', 'far', 'down')
      await demandServed(testbed, 'm', 'b')
      demandEqual([far.hits, b.hits.length], [2, 2], 'requests at a and b')
      await far.ip('link', 'set', 'far', 'up')
      // The kernel has to resolve the neighbour again.
      await until(
        async () => servedBy((await ask(testbed, { model: 'm' })).answer) === 'a',
        'the first provider serves again',
      )
      await demandServed(testbed, 'm', 'a')
      return 'the next provider served after `first_token_ms` (a stream) or `attempt_ms`; later the first served again'
    }),
}

const cutCable: FaultCase = {
  id: 'cable-pulled-mid-stream',
  area: 'link',
  what: 'the cable to a provider is pulled in the middle of a stream',
  needs: lacksFarSide,
  run: (testbed) =>
    withFarSide(
      testbed,
      async ({ far, b }) => {
        const asking = ask(testbed, { model: 'm', stream: true, tokens: 60 })
        await until(() => far.hits === 1, 'the first provider is asked')
        await Bun.sleep(200)
        await far.ip('link', 'set', 'far', 'down')
        demandExact(await asking, true)
        demandEqual(b.hits.length, 1, 'requests at b')
        return 'a cut after `idle_ms`; the next provider resumed the stream, exact'
      },
      quick,
      10,
    ),
}

/** Streams and plain requests at once over a bad link (`tc`): the far provider serves all of them. */
function spoiltLink(
  id: string,
  what: string,
  discipline: readonly [name: string, ...parameters: string[]],
  count: number,
  summarize: (statistics: string) => string,
): FaultCase {
  return {
    id,
    area: 'link',
    what,
    needs: () => lacksDiscipline(...discipline),
    run: (testbed) =>
      withFarSide(
        testbed,
        async ({ far, b }) => {
          await far.tc('qdisc', 'add', 'dev', 'far', 'root', ...discipline)
          const kinds = Array.from({ length: count }, (_, index) => index % 2 === 0)
          const askings = await Promise.all(kinds.map((stream) => ask(testbed, { model: 'm', stream, tokens: 100 })))
          askings.forEach((asking, index) => demandExact(asking, kinds[index] === true))
          demandEqual([...new Set(askings.map(({ answer }) => servedBy(answer)))], ['a'], 'the providers that served')
          demandEqual(b.hits.length, 0, 'requests at b')
          const statistics = await far.tc('-s', 'qdisc', 'show', 'dev', 'far')
          return `${count} answers of 100 tokens at once, all exact, all by the first provider${summarize(statistics)}`
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

/** Faults on the way to a provider, made by the kernel in a network namespace. */
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
