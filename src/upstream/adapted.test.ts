import { describe, expect, test } from 'bun:test'
import type { TargetProfile } from '../profiles/profile.ts'
import { anyTarget, LearnedProfile } from '../profiles/resolve-profile.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { callOf } from '../service/testing.ts'
import { adaptedAfter } from './adapted.ts'

/** A target with these words for each profile that it refuses. */
async function asked(wordsFor: (profile: TargetProfile) => string | undefined, status = 400) {
  const learned = new LearnedProfile(anyTarget)
  const sent: TargetProfile[] = []
  const failure = (words: string) => new UpstreamFailure('bad_request', `status ${status}: ${words}`, { status })
  const outcome = await adaptedAfter(
    failure(wordsFor(anyTarget) ?? ''),
    { learned, profile: anyTarget, call: callOf() },
    {
      async send(profile) {
        sent.push(profile)
        const words = wordsFor(profile)
        if (words !== undefined) throw failure(words)
        return 'taken'
      },
      differs: () => true,
    },
  ).catch((error: unknown) => error)
  return { outcome, sent, learned: learned.current }
}

describe('a refusal that teaches', () => {
  test('is remembered by what the target took at last, without a lesson that did not help', async () => {
    // The upstream quotes words of the caller, which another rule knows.
    const words = "seed is not supported: {'content': 'tool_choice is unsupported'}"
    const { outcome, sent, learned } = await asked(({ sampling }) =>
      sampling['seed'] === undefined ? words : undefined,
    )
    expect(outcome).toBe('taken')
    expect(sent.map(({ forcedTool, sampling }) => [forcedTool, sampling])).toEqual([
      ['auto', {}],
      ['any', { seed: 'refused' }],
    ])
    expect(learned).toMatchObject({ forcedTool: 'any', sampling: { seed: 'refused' } })
  })

  test('has both lessons if the second refusal was another one', async () => {
    const { outcome, learned } = await asked(({ system, sampling }) => {
      if (system === 'any') return 'System message must be at the beginning.'
      return sampling['top_p'] === undefined ? "'top_p' is not supported with this model" : undefined
    })
    expect(outcome).toBe('taken')
    expect(learned).toMatchObject({ system: 'first', sampling: { top_p: 'refused' } })
  })

  test('of a value holds for this request alone', async () => {
    const words = 'Invalid value for seed: must be >= 0'
    const { outcome, sent, learned } = await asked(({ sampling }) =>
      sampling['seed'] === undefined ? words : undefined,
    )
    expect([outcome, sent.length]).toEqual(['taken', 1])
    expect(learned).toBe(anyTarget)
  })

  test('is answered twice at most, and teaches nothing if no form is taken', async () => {
    const { outcome, sent, learned } = await asked(
      () => 'System message; top_p is not supported; stop is not supported; tool_choice is not supported',
    )
    expect(outcome).toBeInstanceOf(UpstreamFailure)
    expect(sent.length).toBe(2)
    expect(learned).toBe(anyTarget)
  })

  test.each([
    [500, 'temperature is not supported', 0],
    [500, 'Jinja Exception: System message must be at the beginning.', 1],
    [404, 'temperature is not supported', 0],
    [404, 'This model is only supported in v1/responses and not in v1/chat/completions.', 1],
    [422, 'temperature is not supported', 1],
    [403, 'temperature is not supported', 0],
  ])('with status %d, "%s" is answered %d times', async (status, words, times) => {
    const { sent } = await asked((profile) => (profile === anyTarget ? words : undefined), status)
    expect(sent.length).toBe(times)
  })
})
