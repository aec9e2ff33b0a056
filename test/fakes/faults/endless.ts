import type { Script } from '../fault-upstream.ts'
import { chunk, event, framed, streamHead } from '../replies.ts'

/** Sends `first` once, then `again` repeatedly, as fast as the socket takes it, until the peer leaves. */
function endless(first: string, again: string): Script {
  const beginning = Buffer.concat([
    Buffer.from(streamHead),
    framed(event(chunk({ content: 'begun' }))),
    Buffer.from(first),
  ])
  const block = Buffer.from(again.repeat(Math.ceil((256 * 1024) / again.length)))
  return async (exchange) => {
    await exchange.write(beginning)
    for (;;) await exchange.write(block)
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}

/** Streams without end, in the framings that make the most work. */
export const endlessStreams: Readonly<Record<string, Script>> = {
  'endless-events': endless('', text(framed(event(chunk({ content: 'hello ' }))))),
  'endless-tiny-events': endless('', text(framed('data: {"choices":[]}\n\n'.repeat(200)))),
  'endless-bytes': endless(text(framed('data: {"choices":[{"delta":{"content":"')), text(framed('x'))),
}
