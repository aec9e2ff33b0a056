import { connect, type Socket } from 'node:net'
import { faultUpstream, type FaultUpstream } from '../../test/fakes/fault-upstream.ts'
import { connectionFaults } from '../../test/fakes/faults/connection.ts'
import { cuts } from '../../test/fakes/faults/cut.ts'
import { good } from '../../test/fakes/good.ts'
import { provider, quick } from '../../test/harness.ts'
import { demandExact, demandMovesOn, demandOthersServed, demandServed, ask, servedBy } from './ask.ts'
import { demand, demandEqual, type FaultCase } from './fault-case.ts'
import { providerFault, resumedCut } from './provider-fault.ts'
import { shapedLink, type LinkShape } from './shaped-link.ts'
import type { Testbed } from './testbed.ts'

const short: ReadonlySet<string> = new Set(['refused', 'reset'])

/** Script of a listener that accepts nothing: once its backlog is full, connecting hangs. */
const silentListener = `
const server = require('node:net').createServer()
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  console.log(server.address().port)
  process.kill(process.pid, 'SIGSTOP')
})`

/** Starts {@link silentListener} and fills its backlog: connecting neither succeeds nor fails. */
async function silentAddress(): Promise<AsyncDisposable & { readonly url: string }> {
  const child = Bun.spawn(['node', '-e', silentListener], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const { value } = await child.stdout.getReader().read()
  const port = Number(new TextDecoder().decode(value))
  const fillers: Socket[] = []
  // One more than fits into the backlog, so that no further connection does.
  while (await isTaken(port, fillers))
    demand(fillers.length < 64, 'the queue of a listener with a backlog of 1 becomes full')
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      for (const filler of fillers) filler.destroy()
      process.removeListener('exit', kill)
      kill()
      await child.exited
    },
  }
}

function isTaken(port: number, fillers: Socket[]): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      clearTimeout(timer)
      resolve(true)
    })
    const timer = setTimeout(() => resolve(false), 300)
    socket.on('error', () => {})
    fillers.push(socket)
  })
}

const silent: FaultCase = {
  id: 'silent-address',
  area: 'network',
  what: 'an address that accepts no connection (a full backlog)',
  async run(testbed) {
    await using address = await silentAddress()
    const b = faultUpstream(good())
    await testbed.offer(provider('a', address.url, ['m'], quick), provider('b', b.url, ['m']))
    await demandMovesOn(testbed, { hits: [] }, b, { hits: 0 })
    await demandOthersServed(testbed)
    b.stop()
    return 'given up after `connect_ms`, the next provider served'
  },
}

/** A slow or fragmenting link without loss: the first provider serves, and the second is not asked. */
function oddLink(id: string, what: string, shape: LinkShape, tokens: number): FaultCase {
  return {
    id,
    area: 'network',
    what,
    isShort: id === 'one-byte-segments',
    async run(testbed) {
      const a = faultUpstream(good({ pauseMs: 1 })),
        b = faultUpstream(good())
      const link = await shapedLink(a.port, shape)
      await testbed.offer(
        provider('a', link.url, ['m'], {
          timeouts: { connect_ms: 1_000, first_token_ms: 5_000, idle_ms: 1_000, attempt_ms: 10_000 },
        }),
        provider('b', b.url, ['m']),
      )
      for (const stream of [false, true]) demandExact(await ask(testbed, { model: 'm', stream, tokens }), stream)
      demandEqual([a.hits.length, b.hits.length], [2, 0], 'requests at a and b')
      link.stop()
      stopAll(a, b)
      return `the first provider served, ${tokens} tokens exact, and no other was asked`
    },
  }
}

const stall: FaultCase = {
  id: 'stall',
  area: 'network',
  what: 'a link that stalls for longer than `idle_ms` in the middle of a stream, without loss',
  async run(testbed) {
    const a = faultUpstream(good({ pauseMs: 5 })),
      b = faultUpstream(good())
    const link = await shapedLink(a.port, { pieceBytes: 4096, pauseMs: 0, stallAfterBytes: 20_000, stallMs: 1_500 })
    await testbed.offer(
      provider('a', link.url, ['m'], { timeouts: { ...quick.timeouts, idle_ms: 300 } }),
      provider('b', b.url, ['m']),
    )
    demandExact(await ask(testbed, { model: 'm', stream: true, tokens: 100 }), true)
    demandEqual([a.hits.length, b.hits.length], [1, 1], 'requests at a and b')
    link.stop()
    stopAll(a, b)
    return 'treated as a cut after `idle_ms`; the next provider resumed the stream, exact'
  },
}

const diesOnReuse: FaultCase = {
  id: 'kept-connection-closed',
  area: 'network',
  what: 'a kept connection that the provider closes as the next request comes',
  isShort: true,
  async run(testbed) {
    const a = faultUpstream((exchange) => (exchange.hit.nth > 1 ? exchange.reset() : good()(exchange))),
      b = faultUpstream(good())
    await testbed.offer(provider('a', a.url, ['m'], quick), provider('b', b.url, ['m']))
    for (let round = 0; round < 5; round++) await demandServed(testbed, 'm', 'a')
    demandEqual(b.hits.length, 0, 'requests at b')
    stopAll(a, b)
    return 'the request was sent again on a new connection and served; no other provider was asked'
  },
}

const bothDown: FaultCase = {
  id: 'two-down',
  area: 'network',
  what: 'the first two providers refuse connections',
  isShort: true,
  async run(testbed) {
    const gone = [faultUpstream(), faultUpstream()],
      c = faultUpstream(good())
    stopAll(...gone)
    await testbed.offer(
      ...gone.map(({ url }, index) => provider(`gone${index}`, url, ['m'], quick)),
      provider('c', c.url, ['m']),
    )
    const asking = await ask(testbed, { model: 'm' })
    demandExact(asking, false)
    demandEqual(
      [servedBy(asking.answer), asking.answer.headers.get('x-svc-attempts'), c.hits.length],
      ['c', '3', 1],
      'provider, attempts, requests at c',
    )
    stopAll(c)
    return 'the third served'
  },
}

const allDown: FaultCase = {
  id: 'all-down',
  area: 'network',
  what: 'every provider refuses connections, then one comes back',
  async run(testbed: Testbed) {
    const gone = faultUpstream()
    gone.stop()
    await testbed.offer(provider('a', gone.url, ['m'], quick))
    for (const stream of [false, true])
      demandEqual((await ask(testbed, { model: 'm', stream })).answer.status, 502, 'the status')
    const back = faultUpstream(good(), { port: gone.port })
    await demandServed(testbed, 'm', 'a')
    back.stop()
    return '502 with the reasons, at once; served again as soon as the provider was back'
  },
}

function stopAll(...upstreams: readonly FaultUpstream[]): void {
  for (const upstream of upstreams) upstream.stop()
}

/** Faults on the way to a provider that need no help from the kernel. */
export const networkFaults: readonly FaultCase[] = [
  ...connectionFaults
    .filter(({ row }) => row !== 3 && row <= 4)
    .map((fault) => providerFault(fault, 'network', short.has(fault.name))),
  silent,
  ...cuts.filter(({ row }) => row === 35).map((cut) => resumedCut(cut, 'network', cut.name === 'tokens-then-reset')),
  oddLink('one-byte-segments', 'a link that carries one byte at a time', { pieceBytes: 1, pauseMs: 0 }, 20),
  oddLink('slow-link', 'a link of 20 KB a second', { pieceBytes: 400, pauseMs: 20 }, 100),
  stall,
  diesOnReuse,
  bothDown,
  allDown,
]
