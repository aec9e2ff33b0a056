import { describe, expect, test } from 'bun:test'
import { serverSentEvents } from '../bytes/framing.ts'
import type { Part } from '../formats/part.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { streamReply } from '../upstream/stream-reply.ts'
import { anthropic } from './anthropic.ts'
import { chatOf, chatRequest, endpointAt, deltas, fixtureEvents } from './fixtures/load.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'
import type { Protocol } from './protocol.ts'
import { chunkJson, event, fakeBody } from './testing.ts'

const request = chatRequest({ stream: true })
const endpoint = endpointAt('https://upstream.test/v1')

const called = { index: 0, id: 'a', type: 'function', function: { name: 'find', arguments: '' } }
const chat = [
  chunkJson({ role: 'assistant', content: '' }),
  chunkJson({ content: 'Let me 🌅' }),
  chunkJson({ tool_calls: [called] }),
  chunkJson({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
  chunkJson({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
  chunkJson({}, 'tool_calls'),
].map((part) => JSON.stringify(part))

const streams: readonly (readonly [string, Protocol, readonly string[]])[] = [
  ['anthropic text', anthropic, fixtureEvents('anthropic-text.jsonl')],
  ['anthropic tools', anthropic, fixtureEvents('anthropic-tools.jsonl')],
  ['gemini text', gemini, fixtureEvents('gemini-text.jsonl')],
  ['gemini calls', gemini, fixtureEvents('gemini-calls.jsonl')],
  ['chat completions', openai, chat],
]

async function readCut(protocol: Protocol, bytes: Uint8Array) {
  const hidden = (error: unknown) => error
  const decoder = chatOf(protocol).stream(request, endpoint)
  const reply = streamReply(fakeBody([bytes]), decoder, { framing: serverSentEvents, idleMs: 60_000, hidden })
  const parts: Part[] = []
  try {
    for (let read = await reply.read(); read !== undefined; read = await reply.read()) parts.push(...read)
  } catch (error) {
    return { parts, error }
  }
  return { parts, error: undefined }
}

/** The deltas, without the ids that are generated anew by each reader. */
function said(parts: readonly Part[]): readonly string[] {
  return deltas(parts).map((delta) => JSON.stringify(delta).replaceAll(/call_[0-9a-f]{32}/g, 'call'))
}

/** Bytes between two cuts: a prime, so that all parts of events are hit. */
const step = 7

describe('a stream cut anywhere', () => {
  test.each(streams)(
    'of %s is an error unless its finish came, and never more than its beginning',
    async (_, protocol, events) => {
      const bytes = new TextEncoder().encode(events.map(event).join(''))
      const whole = await readCut(protocol, bytes)
      expect(whole.error).toBeUndefined()
      let finished = 0
      for (let end = 0; end < bytes.length; end += step) {
        const { parts, error } = await readCut(protocol, bytes.subarray(0, end))
        const isFinished = parts.some(({ finishReason }) => finishReason !== undefined)
        if (isFinished) finished++
        if (isFinished) expect(error).toBeUndefined()
        else expect(error).toBeInstanceOf(UpstreamFailure)
        expect(said(parts)).toEqual(said(whole.parts).slice(0, parts.length))
      }
      // Nothing is finished before the event that has the finish.
      expect(finished).toBeLessThan(bytes.length / 4)
    },
  )
})
