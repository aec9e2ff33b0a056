import type { Exchange, Script } from './fault-upstream.ts'
import { chunk, completion, done, event, framed, lastChunk, reply, streamHead, tokens, usageChunk } from './replies.ts'

export interface GoodOptions {
  /** Name of its tokens: `name-0 name-1 …`. Default `good`. */
  readonly name?: string
  /** Default 3. */
  readonly tokens?: number
  /** Milliseconds between tokens. Default 0: all at once. */
  readonly pauseMs?: number
  /** Replaces or adds fields of the answer and of every chunk. */
  readonly top?: object
}

/** Text of a good upstream, plain or streamed. */
export function goodText(options: GoodOptions = {}): string {
  return tokens(options.tokens ?? 3, options.name ?? 'good').join('')
}

/**
 * Script of a healthy upstream: plain or streamed, with usage in a stream on request. A message that contains
 * `stream=NAME tokens=N` gets the text `NAME-0 … NAME-(N-1)`.
 */
export function good(options: GoodOptions = {}): Script {
  return async function answerWell(exchange) {
    const asked = askedFor(exchange)
    const texts = tokens(asked.tokens ?? options.tokens ?? 3, asked.name ?? options.name ?? 'good')
    if (!asked.isStream)
      return await exchange.write(reply(200, JSON.stringify(completion(texts.join(''), { top: { ...options.top } }))))
    const opening = event(chunk({ role: 'assistant', content: '' }, null, options.top))
    const ending = [
      event(chunk({}, 'stop', options.top)),
      ...(asked.usage ? [event(usageChunk(options.top))] : []),
      done,
    ].join('')
    const pauseMs = options.pauseMs ?? 0
    if (pauseMs === 0) {
      const events = [opening, ...texts.map((text) => event(chunk({ content: text }, null, options.top))), ending]
      return await exchange.write(Buffer.concat([Buffer.from(streamHead), ...events.map(framed), lastChunk]))
    }
    await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(opening)]))
    for (const text of texts) {
      await exchange.write(framed(event(chunk({ content: text }, null, options.top))))
      await exchange.pause(pauseMs)
    }
    await exchange.write(Buffer.concat([framed(ending), lastChunk]))
  }
}

/** Whether a request is for a stream. */
export function isStream(exchange: Exchange): boolean {
  return askedFor(exchange).isStream
}

/** Reads a request by patterns, not as JSON: bodies may be large or invalid. Of a large one only the edges are read. */
function askedFor({ hit }: Exchange): {
  readonly isStream: boolean
  readonly usage: boolean
  readonly name?: string
  readonly tokens?: number
} {
  const text = Buffer.concat([
    hit.body.subarray(0, 4096),
    hit.body.subarray(Math.max(4096, hit.body.length - 4096)),
  ]).toString('latin1')
  const named = /stream=([\w-]+) tokens=(\d+)/.exec(text)
  return {
    isStream: /"stream"\s*:\s*true/.test(text),
    usage: /"include_usage"\s*:\s*true/.test(text),
    ...(named?.[1] === undefined ? {} : { name: named[1], tokens: Number(named[2]) }),
  }
}
