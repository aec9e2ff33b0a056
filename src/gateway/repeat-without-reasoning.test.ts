import { describe, expect, test } from 'bun:test'
import type { Ask } from '../formats/ask.ts'
import type { Reply } from '../formats/reply.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { callOf, rejection } from '../service/testing.ts'
import { repeatWithoutReasoning } from './repeat-without-reasoning.ts'
import { requestOf, wholeReply } from './testing.ts'

const refusal = new UpstreamFailure('bad_request', 'no', { status: 400, refusesReasoning: true })
const thoughtful = requestOf({ messages: [{ role: 'assistant', content: 'Hi', reasoning_content: 'Hm.' }] })

/** An upstream with these outcomes, and the bodies that it gets. */
function upstream(...outcomes: readonly (Reply | Error)[]) {
  const left = [...outcomes]
  const bodies: string[] = []
  const answer = repeatWithoutReasoning(async ({ body }: Ask) => {
    bodies.push(new TextDecoder().decode(body))
    const next = left.shift()
    if (next === undefined || next instanceof Error) throw next ?? new Error('asked too often')
    return next
  })
  return { answer, bodies }
}

describe('a request whose reasoning is refused', () => {
  test('is sent once more without it', async () => {
    const reply = wholeReply('Hi')
    const { answer, bodies } = upstream(refusal, reply)
    expect(await answer(thoughtful, callOf())).toBe(reply)
    expect(bodies.map((body) => body.includes('Hm.'))).toEqual([true, false])
  })

  test('is sent once more only once', async () => {
    const again = new UpstreamFailure('bad_request', 'again', { status: 400, refusesReasoning: true })
    const { answer, bodies } = upstream(refusal, again)
    expect(await rejection(answer(thoughtful, callOf()))).toBe(again)
    expect(bodies).toHaveLength(2)
  })

  test('is not repeated without reasoning, for another refusal, or as a probe', async () => {
    const other = new UpstreamFailure('bad_request', 'no', { status: 400 })
    for (const [request, failure, call] of [
      [requestOf({}), refusal, callOf()],
      [thoughtful, other, callOf()],
      [thoughtful, refusal, { ...callOf(), isProbe: true }],
    ] as const) {
      const { answer, bodies } = upstream(failure)
      expect(await rejection(answer(request, call))).toBe(failure)
      expect(bodies).toHaveLength(1)
    }
  })
})
