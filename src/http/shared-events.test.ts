import { describe, expect, test } from 'bun:test'
import type { Remembered, Scope } from '../observe/recent-requests.ts'
import { sharedEvents, type NewsEvent } from './shared-events.ts'

/** Whose questions are answered one by one. */
function subject() {
  const questions: {
    readonly scope: Scope
    readonly after: number
    readonly answer: PromiseWithResolvers<Remembered>
  }[] = []
  let made = 0
  const eventAfter = sharedEvents(
    {
      remembered(scope, after) {
        const answer = Promise.withResolvers<Remembered>()
        questions.push({ scope, after, answer })
        return answer.promise
      },
    },
    (news) => {
      made += 1
      return news.mark
    },
  )
  return {
    questions,
    eventAfter,
    made: () => made,
    answer(mark: number) {
      questions.shift()?.answer.resolve({ mark, requests: [], minutes: [] })
    },
  }
}

const textOf = (event: NewsEvent): string => new TextDecoder().decode(event.bytes())

describe('events for many who follow', () => {
  test('are asked for once and made once for owners at the same place', async () => {
    const { eventAfter, questions, answer, made } = subject()
    const place = { scope: 'everybody', after: 3, told: 5 } as const
    const [one, other] = [eventAfter(place), eventAfter(place)]
    expect(questions).toHaveLength(1)
    answer(6)
    const late = eventAfter(place)
    expect(questions).toHaveLength(0)
    expect([textOf(await one), textOf(await other), textOf(await late), made()]).toEqual([
      'data: 6\n\n',
      'data: 6\n\n',
      'data: 6\n\n',
      1,
    ])
    expect((await one).bytes()).toBe((await late).bytes())
  })

  test('are asked for anew by who was told of more than whoever asked last', async () => {
    const { eventAfter, answer } = subject()
    const before = eventAfter({ scope: 'everybody', after: 3, told: 5 })
    const after = eventAfter({ scope: 'everybody', after: 3, told: 6 })
    answer(5)
    answer(6)
    expect([textOf(await before), textOf(await after)]).toEqual(['data: 5\n\n', 'data: 6\n\n'])
  })

  test('are asked for anew at another place', () => {
    const { eventAfter, questions } = subject()
    void eventAfter({ scope: 'everybody', after: 3, told: 5 })
    void eventAfter({ scope: 'everybody', after: 4, told: 5 })
    expect(questions.map(({ after }) => after)).toEqual([3, 4])
  })

  test('are asked for by each newcomer, as nobody has told them how much there is, and made once', async () => {
    const { eventAfter, questions, answer, made } = subject()
    const newcomer = { scope: 'everybody', after: 0, told: 0 } as const
    const [one, other] = [eventAfter(newcomer), eventAfter(newcomer)]
    expect(questions).toHaveLength(2)
    answer(2)
    answer(2)
    expect([textOf(await one), textOf(await other), made()]).toEqual(['data: 2\n\n', 'data: 2\n\n', 1])
  })

  test('of one user are their own', async () => {
    const { eventAfter, questions, answer } = subject()
    const asked = (['everybody', { user: 'ada' }, { user: 'bob' }, 'everybody'] as const).map((scope) =>
      eventAfter({ scope, after: 3, told: 5 }),
    )
    expect(questions.map(({ scope }) => scope)).toEqual(['everybody', { user: 'ada' }, { user: 'bob' }])
    for (const mark of [10, 11, 12]) answer(mark)
    expect((await Promise.all(asked)).map(textOf)).toEqual([
      'data: 10\n\n',
      'data: 11\n\n',
      'data: 12\n\n',
      'data: 10\n\n',
    ])
  })

  test('are asked for again after a question that nobody answered', async () => {
    const { eventAfter, questions, answer } = subject()
    const place = { scope: 'everybody', after: 3, told: 5 } as const
    const lost = eventAfter(place)
    questions.shift()?.answer.reject(new Error('gone'))
    expect(await lost.catch((error: unknown) => error)).toEqual(new Error('gone'))
    const found = eventAfter(place)
    answer(5)
    expect(textOf(await found)).toBe('data: 5\n\n')
  })
})
