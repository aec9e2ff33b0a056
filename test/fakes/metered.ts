import { pick } from '../client.ts'
import { faultUpstream, type FaultUpstream, type Script } from './fault-upstream.ts'
import { chunk, completion, done, event, framed, lastChunk, reply, streamHead, usageChunk } from './replies.ts'

/** USD for a million tokens at a {@link metered} upstream. */
export const price = { input: 1, output: 10 }
const [nanoPerPromptToken, nanoPerAnswerToken] = [1_000, 10_000]

/** What an upstream billed, in nano-USD. */
export interface Bill {
  nano: number
  dearest: number
  requests: number
}

/** An upstream that answers with 1 to `max_tokens` tokens after some milliseconds, and sends a bill. */
export function metered(): { readonly upstream: FaultUpstream; readonly bill: Bill } {
  const bill = { nano: 0, dearest: 0, requests: 0 }
  const script: Script = async (exchange) => {
    const body: unknown = JSON.parse(Buffer.from(exchange.hit.body).toString())
    const most = Number(pick(body, 'max_tokens') ?? 50)
    const usage = { prompt_tokens: 20, completion_tokens: 1 + Math.floor(Math.random() * most) }
    const cost = usage.prompt_tokens * nanoPerPromptToken + usage.completion_tokens * nanoPerAnswerToken
    bill.nano += cost
    bill.dearest = Math.max(bill.dearest, cost)
    bill.requests += 1
    const total = { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens }
    await exchange.pause(Math.random() * 10)
    if (pick(body, 'stream') !== true)
      return await exchange.write(reply(200, JSON.stringify(completion('text', { top: { usage: total } }))))
    const events = [chunk({ role: 'assistant', content: 'text' }), chunk({}, 'stop'), usageChunk({ usage: total })]
    const framedEvents = [...events.map(event), done].map(framed)
    await exchange.write(Buffer.concat([Buffer.from(streamHead), ...framedEvents, lastChunk]))
  }
  return { upstream: faultUpstream(script), bill }
}
