import { readFileSync } from 'node:fs'
import { question, rawChat, rawConnection, rawRequest } from '../client.ts'
import { firstTokens } from '../fakes/faults/cut.ts'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { residentMb } from '../fakes/memory.ts'
import { framed, head, streamHead } from '../fakes/replies.ts'
import { provider } from '../harness.ts'
import { ask, demandExact, demandOthersServed } from './ask.ts'
import { demand, demandEqual } from './fault-case.ts'
import { until } from './ground.ts'
import { smuggling } from './smuggling.ts'
import type { Script } from '../fakes/fault-upstream.ts'
import type { RawConnection } from '../client.ts'
import type { FaultCase } from './fault-case.ts'
import type { Ground } from './ground.ts'

const clients = 20
/** The promise is 50 ms at the median (docs/failover.md, rule 7); a machine may be busy with other things. */
const lettingGoMsMax = 1_000

/** A client's and a provider's share of sockets hold some 10 MB before anybody is stuck; that much has come through by then, and its pages are not all free again. */
const neverReadsMiB = 16

const valid = JSON.stringify(question({ model: 'well' }))

/** Opens `count` connections that send these bytes and then nothing more of their own. */
function crowd({ service }: Ground, count: number, bytes: string | Uint8Array, waitMs = 20_000): readonly RawConnection[] {
  return Array.from({ length: count }, () => rawConnection(service.port, bytes, waitMs))
}

function disperse(connections: readonly RawConnection[]): void {
  for (const { socket } of connections) socket.destroy()
}

const slowHeads: FaultCase = {
  id: 'slow-heads', area: 'client', what: '300 clients that send their heads byte by byte',
  async run(ground) {
    const slow = crowd(ground, 300, 'POST /v1/chat/completions HTTP/1.1\r\nho')
    const drip = setInterval(() => { for (const { socket } of slow) socket.write('s') }, 100)
    await Bun.sleep(500)
    await demandOthersServed(ground)
    clearInterval(drip)
    disperse(slow)
    return 'others were served meanwhile. Such connections are not closed: each holds a descriptor until its client leaves'
  },
}

const slowBodies: FaultCase = {
  id: 'slow-bodies', area: 'client', what: '100 clients that announce a body and stop sending', isShort: true,
  async run(ground) {
    const hits = ground.sound.hits.length
    const answers = crowd(ground, 100, rawChat('{"model"', { 'content-length': '500' }))
    await demandOthersServed(ground)
    const statuses = await Promise.all(answers.map(async ({ response }) => (await response).slice(9, 12)))
    demandEqual([...new Set(statuses)], ['408'], 'the statuses')
    demandEqual(ground.sound.hits.length - hits, 2, 'requests at the provider')
    return '408 after `SVC_BODY_IDLE_MS`, no provider was asked, others were served meanwhile'
  },
}

/** Sends tokens as fast as they are taken. */
const torrent: Script = async (exchange) => {
  await exchange.write(streamHead)
  for (;;) {
    await exchange.write(framed(firstTokens('more', 200)))
    await exchange.pause(0)
  }
}

const neverReads: FaultCase = {
  id: 'never-reads', area: 'client', what: `${clients} clients that ask for a stream without end and read nothing`,
  async run(ground) {
    const a = faultUpstream(torrent)
    await ground.offer(provider('a', a.url, ['m']))
    const before = residentMb(ground.service.pid)
    const deaf = crowd(ground, clients, '')
    for (const { socket } of deaf) {
      socket.pause()
      socket.write(rawChat(JSON.stringify(question({ stream: true }))))
    }
    await until(() => a.hits.length === clients, 'all are asked for')
    await demandOthersServed(ground)
    let most = 0
    await until(() => {
      most = Math.max(most, residentMb(ground.service.pid) - before)
      return a.open === 0
    }, 'the provider is let go')
    disperse(deaf)
    a.stop()
    demand(most < clients * neverReadsMiB, `they cost less than ${neverReadsMiB} MiB each, not ${(most / clients).toFixed(1)}`)
    return `dropped after \`SVC_STALL_MS\`, the provider let go; never more than ${Math.ceil(most / clients)} MiB of memory each, others were served meanwhile`
  },
}

/** A client leaves: the provider is let go, and nobody else is asked. */
function leaves(id: string, what: string, script: Script, stream: boolean, sign?: string): FaultCase {
  return { id, area: 'client', what: `${clients} clients that leave ${what}`, isShort: true, async run(ground) {
    const a = faultUpstream(script), b = faultUpstream()
    await ground.offer(provider('a', a.url, ['m']), provider('b', b.url, ['m']))
    const here = crowd(ground, clients, rawChat(JSON.stringify(question(stream ? { stream } : {}))))
    await until(() => a.hits.length === clients, 'all are asked for')
    if (sign !== undefined) await Promise.all(here.map((client) => client.until(sign)))
    const started = performance.now()
    here.forEach(({ socket }, index) => void (index % 2 === 0 ? socket.destroy() : socket.resetAndDestroy()))
    const left = await Promise.all(a.hits.map((hit) => hit.left))
    const ms = Math.max(...left) - started
    demand(ms < lettingGoMsMax, `the provider is let go within ${lettingGoMsMax} ms, not ${ms.toFixed(0)}`)
    demandEqual(b.hits.length, 0, 'requests at the next provider')
    a.stop()
    b.stop()
    return `the provider was let go of all within ${ms < 50 ? '50 ms' : '1 s'}, nobody else was asked`
  } }
}

const leavesUploading: FaultCase = {
  id: 'leaves-uploading', area: 'client', what: `${clients} clients that leave while they send 2 MB`, isShort: true,
  async run(ground) {
    const hits = ground.sound.hits.length
    const here = crowd(ground, clients, rawChat('{"model":"well","x":"', { 'content-length': '2000000' }))
    for (const { socket } of here) socket.write('a'.repeat(1_000_000))
    await Bun.sleep(100)
    disperse(here)
    demandEqual(ground.sound.hits.length, hits, 'requests at the provider')
    return 'no provider was asked'
  },
}

const silent: Script = (exchange) => exchange.hang()

const insideBody: Script = async (exchange) => {
  await exchange.write(`${head(200, { 'content-type': 'application/json', 'content-length': '500' })}{"id":`)
  await exchange.hang()
}

const beforeFirstToken: Script = async (exchange) => {
  await exchange.write(streamHead)
  await exchange.hang()
}

const inMidStream: Script = async (exchange) => {
  await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens())]))
  await exchange.hang()
}

const halfClose: FaultCase = {
  id: 'half-close', area: 'client', what: 'clients that close their sending half after the request, and wait',
  async run(ground) {
    const here = crowd(ground, clients, rawChat(valid, { connection: 'close' }), 3_000)
    for (const { socket } of here) socket.on('connect', () => socket.end())
    const answers = await Promise.all(here.map(({ response }) => response))
    const served = answers.filter((answer) => answer.startsWith('HTTP/1.1 200') && answer.includes('good-2')).length
    demand(answers.every((answer) => answer === '' || answer.startsWith('HTTP/1.1 200')), 'they get the whole answer, or none')
    return served === clients ? 'served' : served === 0 ? 'taken for clients that have left: they get no answer' : 'served, or taken for clients that have left'
  },
}

const pipelining: FaultCase = {
  id: 'pipelining', area: 'client', what: 'two requests at once on one connection', isShort: true,
  async run(ground) {
    const ask = (name: string, headers = {}) => rawChat(JSON.stringify(question({ model: 'well', messages: [{ role: 'user', content: `stream=${name} tokens=2` }] })), headers)
    const response = await rawRequest(ground.service.port, ask('first') + ask('second', { connection: 'close' }))
    const first = response.indexOf('first-1'), second = response.indexOf('second-1')
    demand(response === '' || (first > 0 && second > first), 'they are answered in order, or not at all')
    return response === '' ? 'the connection is closed, neither is answered' : 'both answered, in order'
  },
}

/** `undefined`: this process and the service may have that many connections. */
function lacksDescriptors(count: number): string | undefined {
  const limit = Number(/^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
  return limit < count + 1_000 ? `the limit of descriptors is ${limit}` : undefined
}

const idle: FaultCase = {
  id: 'idle-10-000', area: 'client', what: '10,000 connections that say nothing', needs: () => lacksDescriptors(10_000),
  async run(ground) {
    const connections: Bun.Socket<undefined>[] = []
    while (connections.length < 10_000) {
      connections.push(...await Promise.all(Array.from({ length: 500 }, () => Bun.connect({ hostname: '127.0.0.1', port: ground.service.port, data: undefined, socket: { data() {} } }))))
    }
    await demandOthersServed(ground)
    for (const connection of connections) connection.terminate()
    return 'others were served meanwhile'
  },
}

const storm: FaultCase = {
  id: 'connection-storm', area: 'client', what: '2,000 connections that are opened and reset at once',
  async run(ground) {
    for (let round = 0; round < 10; round++) for (const { socket } of crowd(ground, 200, 'POST /v1')) socket.on('connect', () => socket.resetAndDestroy())
    await demandOthersServed(ground)
    return 'others were served meanwhile'
  },
}

const departures: FaultCase = {
  id: 'departures-at-random', area: 'client', what: '200 streams whose clients leave at any moment',
  async run(ground) {
    const a = faultUpstream((exchange) => torrent(exchange))
    await ground.offer(provider('a', a.url, ['m']))
    await Promise.all(crowd(ground, 200, rawChat(JSON.stringify(question({ stream: true })))).map(async ({ socket }) => {
      await Bun.sleep(Math.random() * 1_000)
      socket.destroy()
    }))
    await until(() => a.open === 0, 'the provider is let go')
    a.stop()
    return 'the provider was let go of each'
  },
}

const nonsense: readonly (readonly [id: string, what: string, bytes: () => string | Uint8Array])[] = [
  ['random-request', '64 KB of random bytes instead of a request', () => crypto.getRandomValues(new Uint8Array(65_536))],
  ['tls-hello', 'a TLS handshake at a port that speaks none', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['http-2-preface', 'an HTTP/2 preface', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['head-of-16-mb', '16 MB of headers', () => `GET /v1/models HTTP/1.1\r\nhost: x\r\n${`x-a: ${'b'.repeat(8_000)}\r\n`.repeat(2_000)}\r\n`],
  ['nested-a-million-deep', 'a body nested a million deep', () => rawChat(`{"model":"well","messages":${'['.repeat(1_000_000)}`, { connection: 'close' })],
  ['gzip-body', 'a compressed body, which may be a bomb', () => rawChat(valid, { 'content-encoding': 'gzip', connection: 'close' })],
]

/** What is no request is refused or dropped, and asks nobody. */
function refused([id, what, bytes]: (typeof nonsense)[number]): FaultCase {
  return { id, area: 'client', what, isShort: true, async run(ground) {
    const hits = ground.sound.hits.length
    const answers = await Promise.all(crowd(ground, clients, bytes(), 1_000).map(({ response }) => response))
    const statuses = [...new Set(answers.map((answer) => (answer === '' ? 'no answer' : answer.slice(9, 12))))]
    demand(statuses.every((status) => status === 'no answer' || /^[45]\d\d$/.test(status)), `it is refused, not answered with ${statuses.join(', ')}`)
    demandEqual(ground.sound.hits.length, hits, 'requests at the provider')
    return `${statuses.toSorted().join(' or ')}; no provider was asked`
  } }
}

const smuggled: FaultCase = {
  id: 'smuggling', area: 'client', what: `${smuggling.length} ways to hide a second request in a first (RFC 9112 section 11.2)`, isShort: true,
  async run(ground) {
    const hits = ground.sound.hits.length
    await Promise.all(smuggling.map(async ([what, bytes]) => {
      const [, ...answers] = (await rawRequest(ground.service.port, bytes, 400)).split('HTTP/1.1 ')
      demand(answers.every((status) => /^[45]/.test(status)), `${what} is refused, not answered with ${answers.map((status) => status.slice(0, 3)).join(', ')}`)
    }))
    demand(ground.sound.hits.every(({ body }) => !Buffer.from(body).includes('smuggled')), 'what was hidden asks nobody')
    demandEqual(ground.sound.hits.length, hits, 'requests at the provider')
    return 'each refused or dropped, no provider was asked'
  },
}

const manyGood: FaultCase = {
  id: 'one-of-a-thousand', area: 'client', what: 'a thousand good streams at once',
  async run(ground) {
    const a = faultUpstream(good({ pauseMs: 5 }))
    await ground.offer(provider('a', a.url, ['m']))
    const asked = await Promise.all(Array.from({ length: 1_000 }, () => ask(ground, { model: 'm', stream: true, tokens: 20 })))
    for (const asking of asked) demandExact(asking, true)
    a.stop()
    return 'each exact'
  },
}

/** What clients do that they should not. */
export const clientFaults: readonly FaultCase[] = [
  slowHeads, slowBodies, neverReads, leavesUploading,
  leaves('leaves-before-head', 'before an answer has begun', silent, false),
  leaves('leaves-in-body', 'in the middle of a plain answer', insideBody, false),
  leaves('leaves-before-token', 'before the first token of a stream', beforeFirstToken, true),
  leaves('leaves-mid-stream', 'in the middle of a stream', inMidStream, true, 'same-2'),
  departures, halfClose, pipelining, idle, storm, ...nonsense.map(refused), smuggled, manyGood,
]

