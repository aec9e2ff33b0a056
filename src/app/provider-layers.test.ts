import { expect, test } from 'bun:test'
import { fakeStream, parts, requestOf } from '../gateway/testing.ts'
import { unlimitedAnswerBudget } from '../service/answer-budget.ts'
import { healthBook } from '../service/health/health.ts'
import { callOf } from '../service/testing.ts'
import { providerLayers } from './provider-layers.ts'

test.each([
  { isSilent: false, isLast: false, firstTokenMs: 30_000 },
  { isSilent: true, isLast: false, firstTokenMs: 300_000 },
  { isSilent: false, isLast: true, firstTokenMs: undefined },
  { isSilent: true, isLast: true, firstTokenMs: undefined },
  { isSilent: true, isLast: true, isFirstTokenSet: true, firstTokenMs: 30_000 },
])('the first token of a stream has its time (failover.md, Timers): %j', async (given) => {
  const { isSilent, isLast, isFirstTokenSet = false, firstTokenMs } = given
  const started: number[] = []
  const answer = providerLayers(async () => fakeStream(parts.text('Hi'), parts.finish()), {
    config: {
      ...{ id: 'a', baseUrl: '' },
      retries: 0,
      timeouts: { connectMs: 1, firstTokenMs: 30_000, idleMs: 2, attemptMs: 3, isFirstTokenSet },
    },
    model: 'm',
    isSilent,
    limit: undefined,
    health: healthBook(() => 0).of('a', 'm'),
    answerBudget: unlimitedAnswerBudget,
    timers: {
      start(ms) {
        started.push(ms)
        return { stop: () => undefined }
      },
    },
    now: () => 0,
  })
  await answer(requestOf({ stream: true }), { ...callOf(), isLast })
  expect(started).toEqual(firstTokenMs === undefined ? [] : [firstTokenMs])
})
