import { describe, expect, test } from 'bun:test'
import type { Remembered, Scope } from '../../observe/recent-requests.ts'
import { requestEvents, type RequestsEvent } from './request-events.ts'

/** Events over an observer whose queries the test answers one by one. */
function subject() {
  const queries: {
    readonly scope: Scope
    readonly after: number
    readonly answer: PromiseWithResolvers<Remembered>
  }[] = []
  let made = 0
  const eventAfter = requestEvents(
    {
      remembered(scope, after) {
        const answer = Promise.withResolvers<Remembered>()
        queries.push({ scope, after, answer })
        return answer.promise
      },
    },
    (found) => {
      made += 1
      return found.mark
    },
  )
  return {
    queries,
    eventAfter,
    made: () => made,
    answer(mark: number) {
      queries.shift()?.answer.resolve({ mark, requests: [], minutes: [] })
    },
  }
}

const textOf = (event: RequestsEvent): string => new TextDecoder().decode(event.bytes())

describe('events for several readers', () => {
  test('are queried and formatted once for owners at the same position', async () => {
    const { eventAfter, queries, answer, made } = subject()
    const position = { scope: 'all users', after: 3, announced: 5 } as const
    const [one, other] = [eventAfter(position), eventAfter(position)]
    expect(queries).toHaveLength(1)
    answer(6)
    const late = eventAfter(position)
    expect(queries).toHaveLength(0)
    expect([textOf(await one), textOf(await other), textOf(await late), made()]).toEqual([
      'data: 6\n\n',
      'data: 6\n\n',
      'data: 6\n\n',
      1,
    ])
    expect((await one).bytes()).toBe((await late).bytes())
  })

  test('are queried again for a reader with a newer notification', async () => {
    const { eventAfter, answer } = subject()
    const before = eventAfter({ scope: 'all users', after: 3, announced: 5 })
    const after = eventAfter({ scope: 'all users', after: 3, announced: 6 })
    answer(5)
    answer(6)
    expect([textOf(await before), textOf(await after)]).toEqual(['data: 5\n\n', 'data: 6\n\n'])
  })

  test('are queried again at another position', () => {
    const { eventAfter, queries } = subject()
    void eventAfter({ scope: 'all users', after: 3, announced: 5 })
    void eventAfter({ scope: 'all users', after: 4, announced: 5 })
    expect(queries.map(({ after }) => after)).toEqual([3, 4])
  })

  test('are queried for each new reader, and formatted once', async () => {
    const { eventAfter, queries, answer, made } = subject()
    const newReader = { scope: 'all users', after: 0, announced: 0 } as const
    const [one, other] = [eventAfter(newReader), eventAfter(newReader)]
    expect(queries).toHaveLength(2)
    answer(2)
    answer(2)
    expect([textOf(await one), textOf(await other), made()]).toEqual(['data: 2\n\n', 'data: 2\n\n', 1])
  })

  test('of one user are not shared', async () => {
    const { eventAfter, queries, answer } = subject()
    const asked = (['all users', { id: 'ada' }, { id: 'bob' }, 'all users'] as const).map((scope) =>
      eventAfter({ scope, after: 3, announced: 5 }),
    )
    expect(queries.map(({ scope }) => scope)).toEqual(['all users', { id: 'ada' }, { id: 'bob' }])
    for (const mark of [10, 11, 12]) answer(mark)
    expect((await Promise.all(asked)).map(textOf)).toEqual([
      'data: 10\n\n',
      'data: 11\n\n',
      'data: 12\n\n',
      'data: 10\n\n',
    ])
  })

  test('are queried again after a failed query', async () => {
    const { eventAfter, queries, answer } = subject()
    const position = { scope: 'all users', after: 3, announced: 5 } as const
    const lost = eventAfter(position)
    queries.shift()?.answer.reject(new Error('gone'))
    expect(await lost.catch((error: unknown) => error)).toEqual(new Error('gone'))
    const found = eventAfter(position)
    answer(5)
    expect(textOf(await found)).toBe('data: 5\n\n')
  })
})
