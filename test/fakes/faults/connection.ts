import { makeCertificate, type Certificate } from '../certificates.ts'
import { faultUpstream, type FaultUpstream, type FaultUpstreamOptions } from '../fault-upstream.ts'
import { good } from '../good.ts'
import { head, streamHead, framed, event, chunk, reply, completion } from '../replies.ts'
import type { Fault, Origin } from './fault.ts'

/** Signs the certificates of the TLS faults, so that each has one fault. The services under test trust it. */
export const authority: Certificate = makeCertificate({ host: 'tests authority', isAuthority: true })

/**
 * An origin without a server: the port of tcpmux. A port that was free a moment ago may be taken by another test.
 */
function refusing(): Origin {
  return { url: 'http://127.0.0.1:1/v1', hits: [], stop() {} }
}

/** An upstream whose fault lies before any request, so that no script can repair it. */
function incurable({ url, hits, stop }: FaultUpstream): Origin {
  return { url, hits, stop }
}

function withTls(certificate: Certificate): () => Origin {
  return () => incurable(faultUpstream(good({ name: 'never' }), { tls: certificate }))
}

/** Plain HTTP behind an https address. */
function falseTls(options: FaultUpstreamOptions): () => Origin {
  return () => {
    const upstream = faultUpstream(good({ name: 'never' }), options)
    return { ...incurable(upstream), url: upstream.url.replace('http:', 'https:') }
  }
}

const tlsHandshakeFailure = '\x15\x03\x03\x00\x02\x02\x28'

/** Rows 1 to 8: the connection, and the wait for an answer. */
export const connectionFaults: readonly Fault[] = [
  {
    name: 'no-such-name',
    row: 1,
    words: 'a name that does not exist',
    on: 'both',
    failure: 'dns',
    hits: 0,
    origin: () => ({ url: 'http://no-such-host.invalid/v1', hits: [], stop() {} }),
  },
  { name: 'refused', row: 2, words: 'a port that refuses', on: 'both', failure: 'connect', hits: 0, origin: refusing },
  {
    name: 'tls-expired',
    row: 3,
    words: 'an expired certificate',
    on: 'both',
    failure: 'tls',
    hits: 0,
    origin: withTls(makeCertificate({ host: '127.0.0.1', issuer: authority, validDays: [-20, -1] })),
  },
  {
    name: 'tls-wrong-name',
    row: 3,
    words: 'a certificate for another name',
    on: 'both',
    failure: 'tls',
    hits: 0,
    origin: withTls(makeCertificate({ host: 'elsewhere.example', issuer: authority })),
  },
  {
    name: 'tls-self-signed',
    row: 3,
    words: 'a certificate of an unknown authority',
    on: 'both',
    failure: 'tls',
    hits: 0,
    origin: withTls(makeCertificate({ host: '127.0.0.1' })),
  },
  {
    name: 'tls-hang',
    row: 3,
    words: 'a handshake that hangs',
    on: 'both',
    failure: 'tls',
    hits: 0,
    origin: falseTls({ isDeaf: true }),
  },
  {
    name: 'tls-alert',
    row: 3,
    words: 'a handshake alert',
    on: 'both',
    failure: 'tls',
    hits: 0,
    origin: falseTls({ isDeaf: true, onOpen: (connection) => connection.write(tlsHandshakeFailure) }),
  },
  {
    name: 'tls-plain-text',
    row: 3,
    words: 'plain HTTP where TLS was promised',
    on: 'both',
    failure: 'tls',
    hits: 0,
    origin: falseTls({ isDeaf: true, onOpen: (connection) => connection.write(head(400)) }),
  },
  {
    name: 'reset-on-open',
    row: 4,
    words: 'a reset before the request',
    on: 'both',
    failure: 'reset',
    orElse: 'connect',
    hits: 0,
    origin: () => incurable(faultUpstream(good(), { isDeaf: true, onOpen: (connection) => connection.reset() })),
  },
  {
    name: 'reset',
    row: 4,
    words: 'a reset before a response byte',
    on: 'both',
    failure: 'reset',
    script: (exchange) => exchange.reset(),
  },
  {
    name: 'close',
    row: 4,
    words: 'a close before a response byte',
    on: 'both',
    failure: 'reset',
    script: (exchange) => exchange.close(),
  },
  {
    name: 'silent',
    row: 6,
    words: 'no headers in time',
    on: 'both',
    failure: 'timeout',
    script: (exchange) => exchange.hang(),
  },
  {
    name: 'half-head',
    row: 6,
    words: 'half a head, then nothing',
    on: 'both',
    failure: 'timeout',
    async script(exchange) {
      await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: appl')
      await exchange.hang()
    },
  },
  {
    name: 'body-stalls',
    row: 7,
    words: 'headers, then no body in time',
    on: 'plain',
    failure: 'timeout',
    async script(exchange) {
      await exchange.write(head(200, { 'content-type': 'application/json', 'content-length': '400' }))
      await exchange.hang()
    },
  },
  {
    name: 'body-stalls-midway',
    row: 7,
    words: 'half a body, then nothing',
    on: 'plain',
    failure: 'timeout',
    async script(exchange) {
      const bytes = reply(200, JSON.stringify(completion('never')))
      await exchange.write(bytes.subarray(0, bytes.length - 40))
      await exchange.hang()
    },
  },
  {
    name: 'stream-stalls',
    row: 7,
    words: 'headers, then no first token in time',
    on: 'stream',
    failure: 'timeout',
    async script(exchange) {
      await exchange.write(streamHead)
      await exchange.hang()
    },
  },
  {
    name: 'role-then-stalls',
    row: 7,
    words: 'a role, then no token in time',
    on: 'stream',
    failure: 'timeout',
    async script(exchange) {
      await exchange.write(streamHead)
      await exchange.write(framed(event(chunk({ role: 'assistant', content: '' }))))
      await exchange.hang()
    },
  },
  {
    name: 'comments-forever',
    row: 7,
    words: 'comments without end, which do not reset the timer',
    on: 'stream',
    failure: 'timeout',
    async script(exchange) {
      await exchange.write(streamHead)
      for (;;) {
        await exchange.write(framed(': still here\n\n'))
        await exchange.pause(20)
      }
    },
  },
  {
    name: 'informational-flood',
    row: 8,
    words: 'more than 20 informational responses',
    on: 'both',
    failure: 'informational',
    async script(exchange) {
      await exchange.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(25))
      await good({ name: 'never' })(exchange)
    },
  },
]
