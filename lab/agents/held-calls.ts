import { stage } from '../../test/failover/stage.ts'
import type { Script } from '../../test/fakes/fault-upstream.ts'
import { eventsWith, answering, type Language, type Piece } from '../../test/fakes/languages/language.ts'
import { messagesLanguage } from '../../test/fakes/languages/messages.ts'
import { responsesLanguage } from '../../test/fakes/languages/responses.ts'
import { framed, lastChunk, streamHead } from '../../test/fakes/replies.ts'
import { startService } from '../../test/harness.ts'
import type { Findings, Target } from '../load/load-report.ts'

/*
 * How much later the first byte of a call reaches the client than its provider sent it, at 60 tokens/s: with another
 * provider left, which holds the call to its end, and without one.
 */

const callCount = 40
const tokensPerSecond = 60
/** A held call is late by its own length. */
const goalMs = 1_000 * (160 / tokensPerSecond)

const tools = [{ name: 'Write', description: 'd', schema: { type: 'object' } }]

/** A call of so many events; the fakes write three characters in each. */
function callOf(tokens: number): Piece {
  return { kind: 'call', call: { id: 'c', name: 'Write', input: { text: 'x'.repeat(3 * tokens) } } }
}

/** Delays of calls with 5 to 160 tokens, in milliseconds, sorted. */
async function delays(language: Language, providers: 1 | 2): Promise<readonly number[]> {
  const sentMs = new Map<number, number>()
  const paced =
    (tokens: number): Script =>
    async (exchange) => {
      await exchange.write(streamHead)
      const { provider } = language
      const events = eventsWith(provider, [callOf(tokens)])
      for (const each of provider.numbered?.(events) ?? events) {
        if (!sentMs.has(tokens) && each.includes('Write')) sentMs.set(tokens, performance.now())
        await exchange.write(framed(each))
        await exchange.pause(1_000 / tokensPerSecond)
      }
      await exchange.write(lastChunk)
    }
  const upstream = stage()
  const lengths = Array.from({ length: callCount }, (_, index) => Math.round(5 + (155 * index) / (callCount - 1)))
  const service = await startService({
    providers: lengths.flatMap((tokens) =>
      Array.from({ length: providers }, (_, index) =>
        upstream.add({
          id: `p${tokens}-${index}`,
          language,
          model: `m${tokens}`,
          spoken: index === 0 ? () => paced(tokens) : () => answering(language, [callOf(tokens)]),
        }),
      ),
    ),
  })
  async function delayOf(tokens: number): Promise<number> {
    const question = { model: `m${tokens}`, stream: true, tools, turns: [{ role: 'user', text: 'Go' }] } as const
    const response = await fetch(`${service.url}${language.caller.path(question)}`, {
      method: 'POST',
      body: JSON.stringify(language.caller.body(question)),
    })
    let text = ''
    let seenMs = Infinity
    for await (const bytes of response.body ?? []) {
      text += new TextDecoder().decode(bytes)
      if (seenMs === Infinity && text.includes('Write')) seenMs = performance.now()
    }
    return seenMs - (sentMs.get(tokens) ?? 0)
  }

  // The first request is slower, and not counted.
  await delayOf(lengths[0] ?? 0)
  sentMs.clear()
  const found = await Promise.all(lengths.map(delayOf))
  upstream.stop()
  await service.stop()
  return found.toSorted((one, other) => one - other)
}

async function targetsOf(language: Language): Promise<readonly Target[]> {
  const held = await delays(language, 2)
  const free = await delays(language, 1)
  const p95 = (all: readonly number[]) => all[Math.ceil(0.95 * all.length) - 1] ?? Infinity
  return [
    {
      name: `${language.title}: the first byte of a held call is as late as the call is long, p50 and p95`,
      found: `${Math.round(held[Math.floor(held.length / 2)] ?? 0)} and ${Math.round(p95(held))} ms`,
      isMet: p95(held) < goalMs + 500,
    },
    {
      name: `${language.title}: without another provider in 250 ms, p95`,
      found: `${Math.round(p95(free))} ms`,
      isMet: p95(free) < 250,
    },
  ]
}

/** Measures calls of two formats. */
export async function heldCalls(): Promise<Findings> {
  return {
    rows: [['calls that are held', `${callCount} of 5 to 160 tokens at ${tokensPerSecond} tokens/s`]],
    targets: [...(await targetsOf(messagesLanguage)), ...(await targetsOf(responsesLanguage))],
    complaints: [],
  }
}
