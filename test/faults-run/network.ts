import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import type { FaultUpstream } from '../fakes/fault-upstream.ts'
import { connectionFaults } from '../fakes/faults/connection.ts'
import { cuts } from '../fakes/faults/cut.ts'
import { good } from '../fakes/good.ts'
import { provider, quick } from '../harness.ts'
import { demandExact, demandMovesOn, demandOthersServed, demandServed, ask, servedBy } from './ask.ts'
import { demand, demandEqual } from './fault-case.ts'
import type { FaultCase } from './fault-case.ts'
import type { Ground } from './ground.ts'
import { providerFault, resumedCut } from './provider-fault.ts'
import { shapedLink } from './shaped-link.ts'
import type { LinkShape } from './shaped-link.ts'

const short: ReadonlySet<string> = new Set(['refused', 'reset'])

/** Bytes of a connection that never says anything are no request: a listener whose queue is full answers nobody. */
const silentListener = `
const server = require('node:net').createServer()
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => { console.log(server.address().port); process.kill(process.pid, 'SIGSTOP') })`

/** An address of this machine where connecting neither succeeds nor fails. */
async function silentAddress(): Promise<AsyncDisposable & { readonly url: string }> {
  const child = Bun.spawn(['node', '-e', silentListener], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const { value } = await child.stdout.getReader().read()
  const port = Number(new TextDecoder().decode(value))
  const fillers: Socket[] = []
  // One more than fit into the queue, so that nobody else does.
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
  what: 'an address that answers no connection (a full backlog)',
  async run(ground) {
    await using nobody = await silentAddress()
    const b = faultUpstream(good())
    await ground.offer(provider('a', nobody.url, ['m'], quick), provider('b', b.url, ['m']))
    await demandMovesOn(ground, { hits: [] }, b, { hits: 0 })
    await demandOthersServed(ground)
    b.stop()
    return 'given up after `connect_ms`, the next provider served'
  },
}

/** A link that is odd, but whole: the first provider serves, and the second is not asked. */
function oddLink(id: string, what: string, shape: LinkShape, tokens: number): FaultCase {
  return {
    id,
    area: 'network',
    what,
    isShort: id === 'one-byte-segments',
    async run(ground) {
      const a = faultUpstream(good({ pauseMs: 1 })),
        b = faultUpstream(good())
      const link = await shapedLink(a.port, shape)
      await ground.offer(
        provider('a', link.url, ['m'], {
          timeouts: { connect_ms: 1_000, first_token_ms: 5_000, idle_ms: 1_000, attempt_ms: 10_000 },
        }),
        provider('b', b.url, ['m']),
      )
      for (const stream of [false, true]) demandExact(await ask(ground, { model: 'm', stream, tokens }), stream)
      demandEqual([a.hits.length, b.hits.length], [2, 0], 'requests at a and b')
      link.stop()
      stopAll(a, b)
      return `the first provider served, ${tokens} tokens exact, and nobody else was asked`
    },
  }
}

const stall: FaultCase = {
  id: 'stall',
  area: 'network',
  what: 'a link that stands still for longer than `idle_ms`, in the middle of a stream (a stall, not loss)',
  async run(ground) {
    const a = faultUpstream(good({ pauseMs: 5 })),
      b = faultUpstream(good())
    const link = await shapedLink(a.port, { pieceBytes: 4096, pauseMs: 0, stallAfterBytes: 20_000, stallMs: 1_500 })
    await ground.offer(
      provider('a', link.url, ['m'], { timeouts: { ...quick.timeouts, idle_ms: 300 } }),
      provider('b', b.url, ['m']),
    )
    demandExact(await ask(ground, { model: 'm', stream: true, tokens: 100 }), true)
    demandEqual([a.hits.length, b.hits.length], [1, 1], 'requests at a and b')
    link.stop()
    stopAll(a, b)
    return 'seen as a cut after `idle_ms`; the next provider went on with the stream, exact'
  },
}

const diesOnReuse: FaultCase = {
  id: 'kept-connection-closed',
  area: 'network',
  what: 'a kept connection that the provider closes as the next request comes',
  isShort: true,
  async run(ground) {
    const a = faultUpstream((exchange) => (exchange.hit.nth > 1 ? exchange.reset() : good()(exchange))),
      b = faultUpstream(good())
    await ground.offer(provider('a', a.url, ['m'], quick), provider('b', b.url, ['m']))
    for (let round = 0; round < 5; round++) await demandServed(ground, 'm', 'a')
    demandEqual(b.hits.length, 0, 'requests at b')
    stopAll(a, b)
    return 'asked once more on a fresh connection, which served; nobody else was asked'
  },
}

const bothDown: FaultCase = {
  id: 'two-down',
  area: 'network',
  what: 'the first two providers refuse connections',
  isShort: true,
  async run(ground) {
    const gone = [faultUpstream(), faultUpstream()],
      c = faultUpstream(good())
    stopAll(...gone)
    await ground.offer(
      ...gone.map(({ url }, index) => provider(`gone${index}`, url, ['m'], quick)),
      provider('c', c.url, ['m']),
    )
    const asking = await ask(ground, { model: 'm' })
    demandExact(asking, false)
    demandEqual(
      [servedBy(asking.answer), asking.answer.headers.get('x-svc-attempts'), c.hits.length],
      ['c', '3', 1],
      'who served, attempts, requests at c',
    )
    stopAll(c)
    return 'the third served'
  },
}

const allDown: FaultCase = {
  id: 'all-down',
  area: 'network',
  what: 'every provider refuses connections, then one comes back',
  async run(ground: Ground) {
    const gone = faultUpstream()
    gone.stop()
    await ground.offer(provider('a', gone.url, ['m'], quick))
    for (const stream of [false, true])
      demandEqual((await ask(ground, { model: 'm', stream })).answer.status, 502, 'the status')
    const back = faultUpstream(good(), { port: gone.port })
    await demandServed(ground, 'm', 'a')
    back.stop()
    return '502 that says why at once; served again as soon as the provider was back'
  },
}

function stopAll(...upstreams: readonly FaultUpstream[]): void {
  for (const upstream of upstreams) upstream.stop()
}

/** What goes wrong on the way to a provider, made without the kernel's help. */
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
