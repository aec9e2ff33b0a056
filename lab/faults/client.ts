import { readFileSync } from 'node:fs'
import { question, rawChat, rawRequest } from '../../test/client.ts'
import { faultUpstream } from '../../test/fakes/fault-upstream.ts'
import { good } from '../../test/fakes/good.ts'
import { provider } from '../../test/harness.ts'
import { ask, demandExact, demandOthersServed } from './ask.ts'
import { clients, crowd } from './crowd.ts'
import { departureFaults } from './departures.ts'
import { demand, demandEqual, type FaultCase } from './fault-case.ts'
import { smuggling } from './smuggling.ts'

const valid = JSON.stringify(question({ model: 'well' }))

const slowHeads: FaultCase = {
  id: 'slow-heads',
  area: 'client',
  what: '300 clients that send their heads byte by byte',
  async run(testbed) {
    const started = performance.now()
    const slow = crowd(testbed, 300, 'POST /v1/chat/completions HTTP/1.1\r\nho')
    const drip = setInterval(() => {
      for (const { socket } of slow) socket.write('s')
    }, 100)
    await Bun.sleep(500)
    await demandOthersServed(testbed)
    const answers = await Promise.all(slow.map(({ response }) => response))
    clearInterval(drip)
    demandEqual([...new Set(answers)], [''], 'the answers')
    demand(performance.now() - started < 18_000, 'their connections are closed within 18 s')
    return 'others were served meanwhile; their connections were closed after 12 s'
  },
}

const slowBodies: FaultCase = {
  id: 'slow-bodies',
  area: 'client',
  what: '100 clients that announce a body and stop sending',
  isShort: true,
  async run(testbed) {
    const hits = testbed.sound.hits.length
    const answers = crowd(testbed, 100, rawChat('{"model"', { 'content-length': '500' }))
    await demandOthersServed(testbed)
    const statuses = await Promise.all(answers.map(async ({ response }) => (await response).slice(9, 12)))
    demandEqual([...new Set(statuses)], ['408'], 'the statuses')
    demandEqual(testbed.sound.hits.length - hits, 2, 'requests at the provider')
    return '408 after `SVC_BODY_IDLE_MS`, no provider was asked, others were served meanwhile'
  },
}

const halfClose: FaultCase = {
  id: 'half-close',
  area: 'client',
  what: 'clients that close their sending half after the request, and wait',
  async run(testbed) {
    const here = crowd(testbed, clients, rawChat(valid, { connection: 'close' }), 3_000)
    for (const { socket } of here) socket.on('connect', () => socket.end())
    const answers = await Promise.all(here.map(({ response }) => response))
    const served = answers.filter((answer) => answer.startsWith('HTTP/1.1 200') && answer.includes('good-2')).length
    demand(
      answers.every((answer) => answer === '' || answer.startsWith('HTTP/1.1 200')),
      'they get the whole answer, or none',
    )
    return served === clients
      ? 'served'
      : served === 0
        ? 'treated as clients that have left: they get no answer'
        : 'served, or treated as clients that have left'
  },
}

const pipelining: FaultCase = {
  id: 'pipelining',
  area: 'client',
  what: 'two requests at once on one connection',
  isShort: true,
  async run(testbed) {
    const ask = (name: string, headers = {}) =>
      rawChat(
        JSON.stringify(question({ model: 'well', messages: [{ role: 'user', content: `stream=${name} tokens=2` }] })),
        headers,
      )
    const response = await rawRequest(testbed.service.port, ask('first') + ask('second', { connection: 'close' }))
    const first = response.indexOf('first-1'),
      second = response.indexOf('second-1')
    demand(response === '' || (first > 0 && second > first), 'they are answered in order, or not at all')
    return response === '' ? 'the connection is closed, neither is answered' : 'both answered, in order'
  },
}

/** Checks the limit of descriptors. `undefined`: this process and the service may each open `count` connections. */
function lacksDescriptors(count: number): string | undefined {
  const limit = Number(/^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
  return limit < count + 1_000 ? `the limit of descriptors is ${limit}` : undefined
}

const idle: FaultCase = {
  id: 'idle-10-000',
  area: 'client',
  what: '10,000 connections that send nothing',
  needs: () => lacksDescriptors(10_000),
  async run(testbed) {
    const connections: Bun.Socket[] = []
    while (connections.length < 10_000) {
      connections.push(
        ...(await Promise.all(
          Array.from({ length: 500 }, () =>
            Bun.connect({ hostname: '127.0.0.1', port: testbed.service.port, data: undefined, socket: { data() {} } }),
          ),
        )),
      )
    }
    await demandOthersServed(testbed)
    for (const connection of connections) connection.terminate()
    return 'others were served meanwhile'
  },
}

const storm: FaultCase = {
  id: 'connection-storm',
  area: 'client',
  what: '2,000 connections that are opened and reset at once',
  async run(testbed) {
    for (let round = 0; round < 10; round++)
      for (const { socket } of crowd(testbed, 200, 'POST /v1')) socket.on('connect', () => socket.resetAndDestroy())
    await demandOthersServed(testbed)
    return 'others were served meanwhile'
  },
}

const nonsense: readonly (readonly [id: string, what: string, bytes: () => string | Uint8Array])[] = [
  [
    'random-request',
    '64 KB of random bytes instead of a request',
    () => crypto.getRandomValues(new Uint8Array(65_536)),
  ],
  ['tls-hello', 'a TLS handshake at a plain HTTP port', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['http-2-preface', 'an HTTP/2 preface', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  [
    'head-of-16-mb',
    '16 MB of headers',
    () => `GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\n${`x-a: ${'b'.repeat(8_000)}\r\n`.repeat(2_000)}\r\n`,
  ],
  [
    'nested-a-million-deep',
    'a body nested a million deep',
    () => rawChat(`{"model":"well","messages":${'['.repeat(1_000_000)}`, { connection: 'close' }),
  ],
  [
    'gzip-body',
    'a compressed body, which may be a bomb',
    () => rawChat(valid, { 'content-encoding': 'gzip', connection: 'close' }),
  ],
]

/** Malformed requests are refused or dropped, and reach no provider. */
function refused([id, what, bytes]: (typeof nonsense)[number]): FaultCase {
  return {
    id,
    area: 'client',
    what,
    isShort: true,
    async run(testbed) {
      const hits = testbed.sound.hits.length
      const answers = await Promise.all(crowd(testbed, clients, bytes(), 1_000).map(({ response }) => response))
      const statuses = [...new Set(answers.map((answer) => (answer === '' ? 'no answer' : answer.slice(9, 12))))]
      demand(
        statuses.every((status) => status === 'no answer' || /^[45]\d\d$/.test(status)),
        `it is refused, not answered with ${statuses.join(', ')}`,
      )
      demandEqual(testbed.sound.hits.length, hits, 'requests at the provider')
      return `${statuses.toSorted().join(' or ')}; no provider was asked`
    },
  }
}

const smuggled: FaultCase = {
  id: 'smuggling',
  area: 'client',
  what: `${smuggling.length} ways to hide a second request in a first (RFC 9112 section 11.2)`,
  isShort: true,
  async run(testbed) {
    const hits = testbed.sound.hits.length
    await Promise.all(
      smuggling.map(async ([what, bytes]) => {
        const [, ...answers] = (await rawRequest(testbed.service.port, bytes, 400)).split('HTTP/1.1 ')
        demand(
          answers.every((status) => /^[45]/.test(status)),
          `${what} is refused, not answered with ${answers.map((status) => status.slice(0, 3)).join(', ')}`,
        )
      }),
    )
    demand(
      testbed.sound.hits.every(({ body }) => !Buffer.from(body).includes('smuggled')),
      'no hidden request reaches a provider',
    )
    demandEqual(testbed.sound.hits.length, hits, 'requests at the provider')
    return 'each refused or dropped, no provider was asked'
  },
}

const manyGood: FaultCase = {
  id: 'one-of-a-thousand',
  area: 'client',
  what: 'a thousand good streams at once',
  async run(testbed) {
    const a = faultUpstream(good({ pauseMs: 5 }))
    await testbed.offer(provider('a', a.url, ['m']))
    const asked = await Promise.all(
      Array.from({ length: 1_000 }, () => ask(testbed, { model: 'm', stream: true, tokens: 20 })),
    )
    for (const asking of asked) demandExact(asking, true)
    a.stop()
    return 'each exact'
  },
}

/** Faults of clients. */
export const clientFaults: readonly FaultCase[] = [
  slowHeads,
  slowBodies,
  ...departureFaults,
  halfClose,
  pipelining,
  idle,
  storm,
  ...nonsense.map(refused),
  smuggled,
  manyGood,
]
