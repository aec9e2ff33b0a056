import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import type { ContentQuestion, KeptContent } from '../../ledger/content/content-question.ts'
import { LedgerUnavailable, type NewEntry } from '../../ledger/ledger.ts'
import { callerOf } from '../../people/caller-of.ts'
import type { Caller } from '../../people/person.ts'
import type { HandlerContext } from '../handler-context.ts'
import { contentApi, type RecordedLook } from './content-api.ts'

const kept: KeptContent = {
  time: 7,
  expires: 9,
  line: 0,
  person: 3,
  personId: 'id-of-ann',
  question: 'Why?',
  answer: 'Because.',
  isQuestionCut: false,
  isAnswerCut: true,
}
const keyAccess = { access: { scopes: ['log:read'] }, key: { line: 4 } } as unknown as Caller

interface Case {
  readonly caller?: Caller
  readonly isOwner?: boolean
  readonly found?: KeptContent
  readonly record?: 'off' | 'away'
  readonly query?: string
}

async function look({ caller = {}, isOwner = false, found = kept, record, query = '' }: Case) {
  const questions: ContentQuestion[] = []
  const entries: NewEntry[] = []
  const looks: RecordedLook[] = []
  const [route] = contentApi({
    use: () => ({
      content: async (question) => {
        questions.push(question)
        const isOwn = question.people === undefined || question.people.includes(found.personId ?? '')
        return isOwn && (question.line === undefined || question.line === found.line) ? found : undefined
      },
    }),
    record: () =>
      record === 'off'
        ? undefined
        : async (entry) => {
            if (record === 'away') throw new LedgerUnavailable('away')
            entries.push(entry)
            return { seq: 1, chain: 'c' }
          },
    onLook: (each) => looks.push(each),
    isOwner: () => isOwner,
    now: () => 5,
  })
  const context = {
    request: new Request(`http://svc/api/requests/r-1/content${query}`),
    path: '/api/requests/r-1/content',
    id: 'x',
    caller,
  } as unknown as HandlerContext
  const answer = async () => {
    try {
      const response = await route?.handle(context)
      return [response?.status, await response?.json()] as const
    } catch (error) {
      if (error instanceof WireError) return [error.status, error.code] as const
      throw error
    }
  }
  const [status, body] = await answer()
  return { status, body, questions, entries, looks }
}

const ann = callerOf({ user: 'ann', userId: 'id-of-ann' })
const bob = callerOf({ user: 'bob', userId: 'id-of-bob' })

describe('GET /api/requests/{id}/content', () => {
  test('shows people their own content, without an entry', async () => {
    const { status, body, questions, entries } = await look({ caller: ann, query: '?time=7' })
    expect([status, body]).toEqual([
      200,
      { time: 7, expires: 9, question: 'Why?', answer: 'Because.', isAnswerCut: true },
    ])
    expect(questions).toEqual([{ id: 'r-1', time: 7, people: ['id-of-ann'] }])
    expect(entries).toEqual([])
    expect((await look({ caller: ann, isOwner: true })).entries).toEqual([])
  })

  test('shows nobody else that it is there', async () => {
    for (const caller of [bob, {}]) {
      const { status, body, entries } = await look({ caller })
      expect([status, body, entries]).toEqual([404, 'content_not_kept', []])
    }
  })

  test('a key sees that of its line only, whatever its other rights', async () => {
    expect(await look({ caller: keyAccess, isOwner: true })).toMatchObject({ status: 404, questions: [{ line: 4 }] })
    const found = { ...kept, line: 4 }
    expect(await look({ caller: keyAccess, isOwner: true, found })).toMatchObject({ status: 200, entries: [] })
  })

  test('a look of an owner at that of others has an entry, without content and names', async () => {
    const { status, entries, looks } = await look({ caller: bob, isOwner: true })
    expect([status, entries]).toEqual([
      200,
      [{ time: 5, actor: 'bob', via: 'page', action: 'content.read', object: 'r-1', after: { time: 7, person: 3 } }],
    ])
    expect(looks).toEqual([{ request: 'r-1', by: 'bob', seq: 1, chain: 'c' }])
    const { personId: _personId, ...ofNobody } = kept
    const open = await look({ isOwner: true, found: { ...ofNobody, line: 2, person: 0 } })
    expect(open.entries).toMatchObject([{ actor: 'without sign-in', after: { time: 7, line: 2 } }])
  })

  test('without its entry there is no look', async () => {
    for (const record of ['off', 'away'] as const) {
      const { status, body, looks } = await look({ caller: bob, isOwner: true, record })
      expect([status, body, looks]).toEqual([503, 'store_unavailable', []])
    }
  })

  test.each(['?time=', '?time=-1', '?time=1e3', `?time=${'9'.repeat(99)}`])('ignores %s', async (query) => {
    expect((await look({ caller: ann, query })).questions).toEqual([{ id: 'r-1', people: ['id-of-ann'] }])
  })
})
