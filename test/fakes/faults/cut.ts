import type { Exchange, Script } from '../fault-upstream.ts'
import { chunk, done, event, framed, lastChunk, streamHead, tokens, unframedStreamHead } from '../replies.ts'

/** A cut of a stream after its first tokens, by the rows of failover.md. */
export interface Cut {
  readonly name: string
  readonly row: number
  readonly words: string
  readonly script: Script
}

/** Number of tokens before a cut. */
export const tokensBeforeCut = 3

const opening = event(chunk({ role: 'assistant', content: '' }))

/**
 * Events of the first tokens of the text `same-0 same-1 …`. A good upstream with the name `same` has the whole text.
 */
export function firstTokens(name = 'same', count: number = tokensBeforeCut): string {
  return (
    opening +
    tokens(count, name)
      .map((text) => event(chunk({ content: text })))
      .join('')
  )
}

/** Makes a cut: the first tokens of `same`, then `ending`. */
function cut(row: number, name: string, words: string, ending: (exchange: Exchange) => Promise<void> | void): Cut {
  return {
    name,
    row,
    words,
    async script(exchange) {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens())]))
      // Without the pause a reset may overtake the first tokens in the kernel.
      await exchange.pause(20)
      await ending(exchange)
    },
  }
}

const malformed = 'data: {"choices": [oops\n\n'

/** Rows 29 and 33 to 38 after the commit: each must be treated as a cut. */
export const cuts: readonly Cut[] = [
  cut(35, 'tokens-then-reset', 'a reset', (exchange) => exchange.reset()),
  cut(35, 'tokens-then-close', 'a close inside the chunked body', (exchange) => exchange.close()),
  cut(35, 'tokens-then-short-chunk', 'a close inside a chunk', async (exchange) => {
    await exchange.write(`64\r\n${event(chunk({ content: 'lost' })).slice(0, 20)}`)
    exchange.close()
  }),
  {
    name: 'tokens-then-end-of-connection',
    row: 36,
    words: 'the end of a connection that framed the body, without finish_reason',
    async script(exchange) {
      await exchange.write(unframedStreamHead + firstTokens())
      await exchange.pause(20)
      exchange.close()
    },
  },
  cut(36, 'tokens-then-clean-end', 'a clean end without finish_reason', (exchange) => exchange.write(lastChunk)),
  cut(33, 'tokens-then-error', 'an error event', (exchange) =>
    exchange.write(
      Buffer.concat([framed(event({ error: { message: 'Overloaded', type: 'overloaded_error' } })), lastChunk]),
    ),
  ),
  cut(33, 'tokens-then-named-error', 'an error event by name', (exchange) =>
    exchange.write(Buffer.concat([framed('event: error\ndata: {"message":"it broke"}\n\n'), lastChunk])),
  ),
  cut(38, 'tokens-then-silence', 'silence', (exchange) => exchange.hang()),
  cut(34, 'tokens-then-malformed', 'a malformed event, and a proper end after it', (exchange) =>
    exchange.write(Buffer.concat([framed(malformed + event(chunk({}, 'stop')) + done), lastChunk])),
  ),
  cut(34, 'tokens-then-malformed-then-end', 'a malformed event, and no finish after it', (exchange) =>
    exchange.write(Buffer.concat([framed(malformed), lastChunk])),
  ),
  cut(29, 'tokens-then-a-1-MiB-event', 'an event above 1 MiB', (exchange) =>
    exchange.write(Buffer.concat([framed(event(chunk({ content: 'a'.repeat(1024 * 1024 + 10) }))), lastChunk])),
  ),
]
