import { faultUpstream, type Exchange, type Script } from '../../test/fakes/fault-upstream.ts'
import { cuts } from '../../test/fakes/faults/cut.ts'
import { good } from '../../test/fakes/good.ts'
import { faults } from '../../test/fakes/modes.ts'
import { chunk, completion, event, framed, head, reply, streamHead } from '../../test/fakes/replies.ts'
import { provider, quick } from '../../test/harness.ts'
import { ask, demandExact, demandMovesOn, servedBy } from './ask.ts'
import { demand, demandEqual, type FaultCase } from './fault-case.ts'
import { providerFault, resumedCut } from './provider-fault.ts'

const short: ReadonlySet<string> = new Set([
  'tls-expired',
  'status-429',
  'status-500',
  'truncated-JSON',
  'an-HTML-page',
  'a-malformed-first-event',
  'tokens-then-malformed',
])

const whole = JSON.stringify(completion('never'))
const lengths = `content-length: ${whole.length}\r\n`

/** Malformed or hostile answers, sent byte by byte as written. */
const oddAnswers: readonly (readonly [id: string, what: string, script: Script])[] = [
  [
    'header-of-1-mb',
    'a header of 1 MB',
    (exchange) => exchange.write(reply(200, whole, { 'x-long': 'a'.repeat(1_000_000) })),
  ],
  [
    'headers-10-000',
    '10,000 headers',
    (exchange) => exchange.write(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(10_000)}${lengths}\r\n${whole}`),
  ],
  ['head-without-end', 'a head that never ends', endlessly('HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'.repeat(1_000))],
  [
    'header-with-nul',
    'a header with a NUL in it',
    (exchange) => exchange.write(`HTTP/1.1 200 OK\r\nx-a: b\0c\r\n${lengths}\r\n${whole}`),
  ],
  [
    'two-lengths',
    'two lengths that differ',
    (exchange) => exchange.write(`HTTP/1.1 200 OK\r\n${lengths}content-length: 3\r\n\r\n${whole}`),
  ],
  [
    'length-negative',
    'a negative length',
    (exchange) => exchange.write(`HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n${whole}`),
  ],
  [
    'length-too-large',
    'a length beyond all numbers',
    (exchange) => exchange.write(`HTTP/1.1 200 OK\r\ncontent-length: ${'9'.repeat(30)}\r\n\r\n${whole}`),
  ],
  ['http-2-unasked', 'an HTTP/2 answer to HTTP/1.1', (exchange) => exchange.write('HTTP/2 200 OK\r\n\r\n')],
  [
    'switching-protocols',
    'a switch of protocols',
    (exchange) => exchange.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ],
  [
    'random-bytes',
    '64 KB of random bytes',
    (exchange) => exchange.write(crypto.getRandomValues(new Uint8Array(64 * 1024))),
  ],
  [
    'chunk-size-too-large',
    'a chunk of 16 hexadecimal digits',
    (exchange) => exchange.write(`${head(200, { 'transfer-encoding': 'chunked' })}ffffffffffffffff\r\n${whole}`),
  ],
  [
    'chunk-extension-without-end',
    'a chunk extension that never ends',
    endlessly(`${head(200, { 'transfer-encoding': 'chunked' })}5;`, 'a'.repeat(8_000)),
  ],
  [
    'comments-without-end',
    'megabytes of comments instead of events',
    endlessly(streamHead, Buffer.from(framed(`: ${'a'.repeat(8_000)}\n\n`)).toString('latin1')),
  ],
  [
    'event-without-end',
    'an event that never ends',
    endlessly(streamHead, Buffer.from(framed('a'.repeat(8_000))).toString('latin1')),
  ],
  [
    'random-events',
    'events of random bytes',
    async (exchange) => {
      await exchange.write(
        Buffer.concat([
          Buffer.from(streamHead),
          ...Array.from({ length: 20 }, () =>
            framed(
              Buffer.concat([Buffer.from('data: '), crypto.getRandomValues(new Uint8Array(200)), Buffer.from('\n\n')]),
            ),
          ),
        ]),
      )
      exchange.close()
    },
  ],
]

function endlessly(opening: string, piece: string): Script {
  return async (exchange) => {
    await exchange.write(opening)
    for (;;) {
      await exchange.write(piece)
      await exchange.pause(0)
    }
  }
}

function oddAnswer([id, what, script]: (typeof oddAnswers)[number]): FaultCase {
  return {
    id,
    area: 'protocol',
    what,
    isShort: id === 'two-lengths',
    async run(testbed) {
      const a = faultUpstream(script),
        b = faultUpstream(good())
      await testbed.offer(provider('a', a.url, ['m'], quick), provider('b', b.url, ['m']))
      await demandMovesOn(testbed, a, b)
      demand(a.bytesWritten < 64 * 1024 * 1024, 'an endless answer is ended')
      a.stop()
      b.stop()
      return 'ended, and the next provider served'
    },
  }
}

/** A stream that uses every notation of events that the format allows (WHATWG, server-sent events). */
const oddEvents: FaultCase = {
  id: 'events-every-way',
  area: 'protocol',
  what: 'events ended by CR, LF or both, with names, ids, comments and byte order mark, cut inside characters',
  isShort: true,
  async run(testbed) {
    const a = faultUpstream(awkward),
      b = faultUpstream(good())
    await testbed.offer(provider('a', a.url, ['m'], quick), provider('b', b.url, ['m']))
    const { answer } = await ask(testbed, { model: 'm', stream: true })
    demandEqual([answer.status, answer.content, b.hits.length], [200, 'héllo wörld 👋', 0], 'the stream')
    a.stop()
    b.stop()
    return 'parsed exactly, and no other provider was asked'
  },
}

async function awkward(exchange: Exchange): Promise<void> {
  const one = JSON.stringify(chunk({ content: 'héllo ' })),
    two = JSON.stringify(chunk({ content: 'wörld 👋' }))
  const bytes = Buffer.from(
    `\ufeff: hi\r\nevent: message\r\nid: 1\r\nretry: 5\r\ndata: ${one}\r\n\r\n:\r\rdata:${two}\r\r` +
      `${event(chunk({}, 'stop'))}data: [DONE]\n\n`,
  )
  await exchange.write(streamHead)
  for (let at = 0; at < bytes.length; at += 7) await exchange.write(framed(bytes.subarray(at, at + 7)))
  await exchange.write('0\r\n\r\n')
}

/** A provider answers before it has read the whole body: the answer counts, not the failed upload. */
const earlyRefusal: FaultCase = {
  id: 'refusal-during-upload',
  area: 'protocol',
  what: 'a refusal and a close while 8 MB are still being sent',
  async run(testbed) {
    const refusing = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          socket.write(
            reply(413, '{"error":{"message":"too large","type":"invalid_request_error","code":null}}', {
              connection: 'close',
            }),
          )
          socket.end()
        },
      },
    })
    const b = faultUpstream(good())
    await testbed.offer(
      provider('a', `http://127.0.0.1:${refusing.port}/v1`, ['m'], quick),
      provider('b', b.url, ['m']),
    )
    const body = JSON.stringify({
      model: 'm',
      messages: [{ role: 'user', content: 'stream=large tokens=8' }],
      x: 'a'.repeat(8_000_000),
    })
    const response = await fetch(`${testbed.service.url}/v1/chat/completions`, {
      method: 'POST',
      body,
      keepalive: false,
    })
    await response.text()
    demandEqual([response.status, servedBy(response), b.hits.length], [200, 'b', 1], 'status, provider, requests at b')
    refusing.stop(true)
    b.stop()
    return 'the next provider served'
  },
}

/** Headers by which a provider could address the caller's browser, or pose as the service. */
const foreignHeaders: FaultCase = {
  id: 'foreign-headers',
  area: 'protocol',
  what: 'cookies, CORS, `location` and `x-svc-…` headers from a provider',
  isShort: true,
  async run(testbed) {
    const sent = {
      'set-cookie': 'a=b',
      'access-control-allow-origin': 'https://evil.example',
      location: '/evil',
      'x-svc-provider': 'evil',
      'x-svc-trail': 'evil',
      'x-request-id': 'evil',
    }
    const a = faultUpstream((exchange) => exchange.write(reply(200, JSON.stringify(completion('never mind')), sent)))
    await testbed.offer(provider('a', a.url, ['m']))
    const { answer } = await ask(testbed, { model: 'm' })
    demandEqual(
      [answer.status, [...answer.headers].filter(([, value]) => /evil|a=b/.test(value))],
      [200, []],
      'status, and headers of the provider',
    )
    a.stop()
    return 'none of them reached the client'
  },
}

const hundredAtOnce: FaultCase = {
  id: 'every-fault-at-once',
  area: 'protocol',
  what: 'streams and plain requests at once, each at a provider with another of all these faults',
  async run(testbed) {
    const scripts = faults.flatMap(({ name, script, on }) =>
      script === undefined || on === 'plain' || /2-GB|33-MiB/.test(name) ? [] : [script],
    )
    const upstreams = scripts.map((script) => faultUpstream(script)),
      b = faultUpstream(good())
    await testbed.offer(
      ...upstreams.map(({ url }, index) => provider(`a${index}`, url, [`m${index}`], quick)),
      provider(
        'b',
        b.url,
        upstreams.map((_, index) => `m${index}`),
      ),
    )
    const kinds = upstreams.flatMap((_, index) => [false, true].map((stream) => ({ model: `m${index}`, stream })))
    const exact = await Promise.all(
      kinds.map(async (asked) => {
        const asking = await ask(testbed, asked)
        // Some of these scripts are valid answers to a plain request; the first provider may serve it.
        if (asked.stream || servedBy(asking.answer) === 'b') demandExact(asking, asked.stream)
        return 1
      }),
    )
    for (const upstream of [...upstreams, b]) upstream.stop()
    return `${exact.length} requests at ${scripts.length} faulty providers: all served, exact`
  },
}

/** Faults of providers' answers. */
export const protocolFaults: readonly FaultCase[] = [
  ...faults
    .filter(({ row }) => row === 3 || row > 4)
    .map((fault) => providerFault(fault, 'protocol', short.has(fault.name))),
  ...cuts.filter(({ row }) => row !== 35).map((cut) => resumedCut(cut, 'protocol', short.has(cut.name))),
  ...oddAnswers.map(oddAnswer),
  oddEvents,
  earlyRefusal,
  foreignHeaders,
  hundredAtOnce,
]
