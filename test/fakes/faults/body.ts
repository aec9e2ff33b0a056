import { gzipSync } from 'node:zlib'
import type { FailureClass } from '../../../src/service/failure.ts'
import type { Script } from '../fault-upstream.ts'
import { isStream } from '../good.ts'
import { completion, errorReply, event, chunk, framed, head, lastChunk, reply, streamHead } from '../replies.ts'
import type { Fault } from './fault.ts'

function body(
  row: number,
  name: string,
  text: string | Uint8Array,
  failure: FailureClass,
  headers: Readonly<Record<string, string>> = {},
): Fault {
  return {
    name,
    row,
    words: `200 with ${name.replaceAll('-', ' ')}`,
    on: 'both',
    failure,
    status: 200,
    script: (exchange) => exchange.write(reply(200, text, headers)),
  }
}

function errorBody(name: string, error: object | string, failure: FailureClass): Fault {
  return {
    name,
    row: 22,
    words: `200 with ${name.replaceAll('-', ' ')}`,
    on: 'both',
    failure,
    script: (exchange) => exchange.write(errorReply(200, error)),
  }
}

const whole = JSON.stringify(completion('never'))

const emptyChoices: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['an-array', []],
  ['a-string', 'hello'],
  ['an-empty-object', {}],
  ['no-choices', { ...completion(''), choices: [] }],
  ['a-null-choice', { ...completion(''), choices: [null] }],
  ['choices-that-are-an-object', { ...completion(''), choices: {} }],
  ['a-null-message', completion('', { choice: { message: null } })],
  ['content-42', completion(42)],
]

/** Sends a JSON string of `total` bytes in pieces, as fast as the socket takes them. */
function endless(total: number): Script {
  return async (exchange) => {
    const piece = Buffer.alloc(256 * 1024, 0x61)
    const isForStream = isStream(exchange)
    await exchange.write(
      head(200, {
        'content-type': isForStream ? 'text/event-stream' : 'application/json',
        'content-length': String(total),
      }),
    )
    await exchange.write(
      isForStream
        ? 'data: {"choices":[{"index":0,"delta":{"content":"'
        : '{"choices":[{"index":0,"message":{"role":"assistant","content":"',
    )
    for (let sent = 0; sent < total; sent += piece.length) await exchange.write(piece)
    exchange.close()
  }
}

/**
 * Inflates some 1,000 times, to much less than the limit of an answer: only the ratio is wrong. It is small, because
 * providers have 300 ms.
 */
function bomb(): Uint8Array {
  return gzipSync(JSON.stringify(completion('a'.repeat(1024 * 1024))))
}

/** Rows 22 to 31: a 200 with an invalid body. */
export const bodyFaults: readonly Fault[] = [
  errorBody('an-error-object', { message: 'it broke', type: 'server_error', code: null }, 'server_error'),
  errorBody('an-error-string', 'it broke', 'server_error'),
  errorBody('a-quota-error', { message: 'no more', type: 'insufficient_quota', code: 'insufficient_quota' }, 'quota'),
  errorBody(
    'a-rate-limit-error',
    { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    'rate_limit',
  ),
  errorBody('an-error-with-a-numeric-code', { message: 'slow down', code: 429 }, 'rate_limit'),
  body(23, 'malformed-JSON', '{"choices": oops}', 'malformed'),
  body(23, 'truncated-JSON', whole.slice(0, -30), 'malformed'),
  body(
    23,
    'bad-UTF-8',
    Buffer.concat([
      Buffer.from(whole.slice(0, whole.indexOf('never'))),
      Uint8Array.of(0xff, 0xfe),
      Buffer.from(whole.slice(whole.indexOf('never'))),
    ]),
    'malformed',
  ),
  {
    name: 'short-body',
    row: 23,
    words: '200 with a body shorter than its Content-Length',
    on: 'both',
    failure: 'malformed',
    status: 200,
    async script(exchange) {
      await exchange.write(
        head(200, { 'content-type': 'application/json', 'content-length': String(whole.length + 100) }),
      )
      await exchange.write(whole)
      exchange.close()
    },
  },
  {
    name: 'chunked-body-without-its-end',
    row: 23,
    words: '200 with a chunked body that lacks its end',
    on: 'both',
    failure: 'malformed',
    status: 200,
    async script(exchange) {
      await exchange.write(head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }))
      await exchange.write(framed(whole))
      exchange.close()
    },
  },
  {
    name: 'bad-chunk-size',
    row: 23,
    words: '200 with a chunk size that is no number',
    on: 'both',
    failure: 'malformed',
    status: 200,
    async script(exchange) {
      await exchange.write(head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }))
      await exchange.write('zz\r\n')
      await exchange.hang()
    },
  },
  {
    name: 'not-http',
    row: 23,
    words: 'bytes that are not HTTP',
    on: 'both',
    failure: 'malformed',
    script: (exchange) => exchange.write('SSH-2.0-OpenSSH_9.6\r\n\r\n'),
  },
  body(24, 'an-HTML-page', '<!doctype html><title>Sign in to the network</title>', 'malformed', {
    'content-type': 'text/html',
  }),
  body(24, 'plain-text', 'OK', 'malformed', { 'content-type': 'text/plain' }),
  body(25, 'an-empty-body', '', 'empty'),
  body(25, 'only-white-space', ' \n ', 'empty'),
  {
    name: 'status-204',
    row: 25,
    words: '204',
    on: 'both',
    failure: 'empty',
    status: 204,
    script: (exchange) => exchange.write(head(204)),
  },
  ...emptyChoices.map(([name, value]) => body(26, name, JSON.stringify(value), 'malformed')),
  body(27, 'an-empty-answer', JSON.stringify(completion('')), 'empty'),
  body(27, 'content-null', JSON.stringify(completion(null)), 'empty'),
  {
    name: 'an-empty-streamed-answer',
    row: 27,
    words: 'a stream that stops without content',
    on: 'stream',
    failure: 'empty',
    status: 200,
    script: (exchange) =>
      exchange.write(
        Buffer.concat([
          Buffer.from(streamHead),
          framed(event(chunk({ role: 'assistant', content: '' })) + event(chunk({}, 'stop')) + 'data: [DONE]\n\n'),
          lastChunk,
        ]),
      ),
  },
  {
    name: 'a-33-MiB-body',
    row: 29,
    words: '200 with 33 MiB announced',
    on: 'both',
    failure: 'too_large',
    script: endless(33 * 1024 * 1024 + 200),
  },
  {
    name: 'a-2-GB-body',
    row: 29,
    words: '200 with 2 GB announced',
    on: 'both',
    failure: 'too_large',
    script: endless(2_000_000_000),
  },
  {
    name: 'a-gzip-bomb',
    row: 29,
    words: 'a body that inflates over 100 times',
    on: 'plain',
    failure: 'too_large',
    status: 200,
    script: (exchange) => exchange.write(reply(200, bomb(), { 'content-encoding': 'gzip' })),
  },
  {
    name: 'a-stream-for-a-plain-request-that-breaks',
    row: 31,
    words: 'a stream to a plain request that ends early',
    on: 'plain',
    failure: 'cut',
    status: 200,
    script: (exchange) =>
      exchange.write(Buffer.concat([Buffer.from(streamHead), framed(event(chunk({ content: 'never' }))), lastChunk])),
  },
  {
    name: 'a-stream-for-a-plain-request-that-stalls',
    row: 31,
    words: 'a stream to a plain request that stalls',
    on: 'plain',
    failure: 'timeout',
    async script(exchange) {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(event(chunk({ content: 'never' })))]))
      await exchange.hang()
    },
  },
]
