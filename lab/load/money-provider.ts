import { pick } from '../../test/client.ts'
import { faultUpstream, type Script } from '../../test/fakes/fault-upstream.ts'
import {
  chunk,
  completion,
  done,
  errorReply,
  event,
  framed,
  lastChunk,
  reply,
  streamHead,
  usageChunk,
} from '../../test/fakes/replies.ts'

/** USD for a million tokens. The second provider is dearer. */
export const prices = { cheap: { input: 1, output: 10 }, dear: { input: 3, output: 30 } } as const
/** Most tokens of an answer without `max_tokens`. */
export const maxOutput = 200
/** Most tokens that svc estimates for a prompt: the body has at most 420 bytes, and a token at least 1.4. */
const promptEstimateMax = 300
/** The dearest estimate of a request, at the dear provider. nano-USD. */
export const dearestEstimate = (promptEstimateMax * prices.dear.input + maxOutput * prices.dear.output) * 1_000

/** A whole answer that a provider billed. */
export interface Bill {
  /** `user` of the request. */
  readonly request: string
  readonly nano: number
}

/** A provider with a bill. */
export interface MoneyProvider {
  readonly url: string
  stop(): void
}

/**
 * A provider that bills 1 to `max_tokens` tokens and a token for each word of the prompt. A share of the requests fails
 * before an answer: refused with 503, or reset. As many streams of requests with tools are reset inside a call.
 */
export function moneyProvider(
  { input, output }: { readonly input: number; readonly output: number },
  failures: number,
  onBill: (bill: Bill) => void,
): MoneyProvider {
  const script: Script = async (exchange) => {
    exchangesForgotten()
    const body: unknown = JSON.parse(Buffer.from(exchange.hit.body).toString())
    const luck = Math.random()
    if (luck < failures / 2) return await exchange.write(errorReply(503, { message: 'overloaded' }))
    if (luck < failures) return exchange.reset()
    const prompt = String(pick(body, 'messages', 0, 'content')).split(' ').length
    const count = 1 + Math.floor(Math.random() * Number(pick(body, 'max_tokens') ?? maxOutput))
    const usage = { prompt_tokens: prompt, completion_tokens: count, total_tokens: prompt + count }
    const bill = { request: String(pick(body, 'user')), nano: (prompt * input + count * output) * 1_000 }
    const text = 'word '.repeat(count)
    await exchange.pause(Math.random() * 30)
    if (pick(body, 'stream') !== true) {
      onBill(bill)
      return await exchange.write(reply(200, JSON.stringify(completion(text, { top: { usage } }))))
    }
    const half = text.slice(0, text.length >> 1)
    const send = (...events: readonly string[]) =>
      exchange.write(Buffer.concat(events.map((each) => Buffer.from(framed(each)))))
    await exchange.write(streamHead)
    if (pick(body, 'tools') !== undefined && Math.random() < failures) {
      const called = { index: 0, id: 'call_0', type: 'function', function: { name: 'f', arguments: '{"a' } }
      await send(event(chunk({ role: 'assistant', tool_calls: [called] })))
      await exchange.pause(Math.random() * 30)
      return exchange.reset()
    }
    await send(event(chunk({ role: 'assistant', content: half })))
    await exchange.pause(Math.random() * 30)
    onBill(bill)
    await send(
      event(chunk({ content: text.slice(half.length) })),
      event(chunk({}, 'stop')),
      event(usageChunk({ usage })),
    )
    await exchange.write(Buffer.concat([Buffer.from(framed(done)), Buffer.from(lastChunk)]))
  }
  const upstream = faultUpstream(script)
  // Long runs have many requests.
  const exchangesForgotten = (): void => {
    if (upstream.hits.length > 1_000) upstream.forget()
  }
  return { url: upstream.url, stop: () => upstream.stop() }
}
