import type { FailureClass } from '../../../src/service/failure.ts'
import type { Script } from '../fault-upstream.ts'
import { chunk, done, event, framed, lastChunk, streamHead } from '../replies.ts'
import type { Fault } from './fault.ts'

/** A well-framed stream of these bytes, each piece one HTTP chunk. */
export function streamOf(...pieces: readonly (string | Uint8Array)[]): Script {
  return (exchange) =>
    exchange.write(
      Buffer.concat([Buffer.from(streamHead), ...pieces.filter((piece) => piece.length > 0).map(framed), lastChunk]),
    )
}

function badStart(row: number, name: string, text: string | Uint8Array, failure: FailureClass): Fault {
  return {
    name,
    row,
    words: `a stream with ${name.replaceAll('-', ' ')}`,
    on: 'stream',
    failure,
    script: streamOf(text),
  }
}

const role = event(chunk({ role: 'assistant', content: '' }))
const overloaded = event({ error: { message: 'Overloaded', type: 'overloaded_error', code: 'overloaded' } })

/** Rows 29 and 32 to 34: a stream that fails before its first token. */
export const streamFaults: readonly Fault[] = [
  {
    name: 'a-1-MiB-event',
    row: 29,
    words: 'a first event above 1 MiB',
    on: 'stream',
    failure: 'too_large',
    status: 200,
    script: streamOf(event(chunk({ content: 'a'.repeat(1024 * 1024 + 10) }))),
  },
  badStart(32, 'nothing-in-it', '', 'empty'),
  badStart(32, 'only-comments', ': one\n\n: two\n\n', 'empty'),
  badStart(32, 'only-DONE', done, 'empty'),
  badStart(32, 'only-a-role', role, 'empty'),
  badStart(32, 'a-role-and-DONE', role + done, 'empty'),
  badStart(33, 'an-error-first', overloaded, 'overloaded'),
  badStart(33, 'an-error-event-by-name', 'event: error\ndata: {"message":"it broke"}\n\n', 'server_error'),
  badStart(33, 'a-role-then-an-error', role + overloaded, 'overloaded'),
  badStart(33, 'a-rate-limit-error-event', event({ error: { message: 'slow down', code: 429 } }), 'rate_limit'),
  badStart(
    34,
    'a-malformed-first-event',
    'data: {"choices": [oops\n\n' + event(chunk({ content: 'never' })),
    'malformed',
  ),
  badStart(34, 'a-first-event-that-is-no-object', 'data: 42\n\n', 'malformed'),
  badStart(
    34,
    'bad-UTF-8-in-its-first-event',
    Buffer.concat([
      Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"'),
      Uint8Array.of(0xff, 0xc0),
      Buffer.from('"}}]}\n\n'),
    ]),
    'malformed',
  ),
]
