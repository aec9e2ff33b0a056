import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AssistantMessage, Conversation, HistoryStore, SearchHit, UserMessage } from './conversation.ts'
import { ConversationRemoved, InvalidConversation } from './history-error.ts'

/** A typical conversation. For tests. */
export function conversationOf(changes: Partial<Conversation> = {}): Conversation {
  return {
    id: 'c1',
    title: 'Monads',
    isTitled: false,
    isPinned: false,
    created: 1_000,
    updated: 2_000,
    settings: { model: 'gpt', system: 'Be brief', parameters: { temperature: 0.5, stop: ['.'] } },
    messages: [
      {
        role: 'user',
        id: 'm1',
        time: 1_000,
        text: 'What is a monad?',
        images: [{ id: 'i1', name: 'a.png', dataUrl: 'data:image/png;base64,AAAA', width: 2, height: 3 }],
      },
      {
        role: 'assistant',
        id: 'm2',
        time: 2_000,
        text: 'A burrito.',
        reasoning: 'Hm',
        status: 'complete',
        finishReason: 'stop',
        logprobs: [{ token: 'A', logprob: -0.1, top: [{ token: 'The', logprob: -2 }] }],
        provenance: {
          requestId: 'r1',
          provider: 'openai',
          model: 'gpt-1',
          trail: [
            { provider: 'groq', status: 429, failure: 'rate_limit', ms: 12 },
            { provider: 'openai', status: 200, ms: 340 },
          ],
          firstTokenMs: 100,
          totalMs: 400,
          promptTokens: 5,
          completionTokens: 3,
          cost: 0.001,
        },
      },
    ],
    ...changes,
  }
}

/** A question with images of these ids. For tests. */
export function questionOf(id: string, text: string, imageIds: readonly string[] = []): UserMessage {
  return {
    role: 'user',
    id,
    time: 1_000,
    text,
    images: imageIds.map((imageId) => ({
      id: imageId,
      name: `${imageId}.png`,
      dataUrl: `data:image/png;base64,${btoa(imageId)}`,
      width: 1,
      height: 1,
    })),
  }
}

/** An answer with this status. For tests. */
export function answerOf(status: AssistantMessage['status']): AssistantMessage {
  return { role: 'assistant', id: 'answer', time: 2_000, text: 'Well', reasoning: '', status }
}

/**
 * Returns the rejection of a promise. (`expect(…).rejects` does not let timers run, which the fake databases need.) For
 * tests.
 */
export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** Tests that every history must pass. @param open creates a separate history, closed after the test */
export function historyContract(kind: string, open: () => Promise<HistoryStore>): void {
  async function within(examine: (history: HistoryStore) => Promise<void>): Promise<void> {
    const history = await open()
    try {
      await examine(history)
    } finally {
      history.close()
    }
  }

  const namesOf = async (history: HistoryStore): Promise<string> =>
    (await history.heads()).map(({ id }) => id).join(' ')

  describe(`${kind}: a conversation`, () => {
    test('is returned as written, with its head', () =>
      within(async (history) => {
        await history.put(conversationOf())
        expect(await history.get('c1')).toEqual(conversationOf())
        const head = { id: 'c1', title: 'Monads', isPinned: false, created: 1_000, updated: 2_000, messageCount: 2 }
        expect([await history.head('c1'), await history.heads()]).toEqual([head, [head]])
        expect(await history.all()).toEqual([conversationOf()])
        expect([await history.get('c2'), await history.head('c2')]).toEqual([undefined, undefined])
        expect(history.fault).toBeUndefined()
      }))

    test('is replaced by a later write', () =>
      within(async (history) => {
        await history.put(conversationOf())
        await history.put(conversationOf({ title: 'Second', messages: [] }))
        await history.put(conversationOf({ title: 'Third' }))
        expect(await history.all()).toEqual([conversationOf({ title: 'Third' })])
      }))

    test('with a running answer is returned with an interrupted one', () =>
      within(async (history) => {
        await history.put(conversationOf({ messages: [answerOf('streaming'), { ...answerOf('complete'), id: 'm2' }] }))
        for (const found of [await history.get('c1'), ...(await history.all())]) {
          expect(found?.messages.map((message) => (message.role === 'assistant' ? message.status : ''))).toEqual([
            'interrupted',
            'complete',
          ])
        }
      }))

    test('has the images of the last write', () =>
      within(async (history) => {
        for (const ids of [['i1'], ['i1', 'i2'], ['i2'], [], ['i1']]) {
          const conversation = conversationOf({ messages: [questionOf('m1', 'Look', ids)] })
          await history.put(conversation)
          expect(await history.get('c1')).toEqual(conversation)
        }
      }))

    test('that could not be parsed again is refused', () =>
      within(async (history) => {
        for (const keep of [history.put, history.restore]) {
          expect(await failureOf(keep(conversationOf({ id: 'not an id' })))).toEqual(
            new InvalidConversation('id: is not an id'),
          )
          expect(await failureOf(keep(conversationOf({ updated: Number.NaN })))).toBeInstanceOf(InvalidConversation)
        }
        expect(await history.heads()).toEqual([])
      }))

    test('is removed, and returns only when restored', () =>
      within(async (history) => {
        await history.put(conversationOf())
        await history.remove('c1')
        await history.remove('c2')
        expect([
          await history.get('c1'),
          await history.head('c1'),
          await history.heads(),
          await history.search('monad'),
        ]).toEqual([undefined, undefined, [], []])
        expect(await failureOf(history.put(conversationOf()))).toBeInstanceOf(ConversationRemoved)
        expect(await history.all()).toEqual([])
        await history.restore(conversationOf())
        await history.put(conversationOf({ title: 'Later' }))
        expect(await history.all()).toEqual([conversationOf({ title: 'Later' })])
      }))

    test('can be renamed and pinned during writes, without changing its time', () =>
      within(async (history) => {
        await history.put(conversationOf({ id: 'c2', updated: 3_000 }))
        await history.put(conversationOf())
        await history.amend('c1', { title: 'Burritos', isTitled: true })
        expect((await history.heads()).map(({ title }) => title)).toEqual(['Monads', 'Burritos'])
        await history.amend('c1', { isPinned: true })
        await history.amend('c3', { isPinned: true })
        expect([await history.get('c1'), (await history.heads())[0]?.id]).toEqual([
          conversationOf({ title: 'Burritos', isTitled: true, isPinned: true }),
          'c1',
        ])
        expect((await history.search('burritos')).map(({ head, excerpt }) => [head.id, excerpt])).toEqual([
          ['c1', undefined],
        ])
        expect(await failureOf(history.amend('c1', { title: 'x'.repeat(1_001) }))).toBeInstanceOf(InvalidConversation)
      }))

    test('moves into folders and out again, without changing its time', () =>
      within(async (history) => {
        await history.put(conversationOf())
        await history.put(conversationOf({ id: 'c2', folder: 'Cooking' }))
        await history.amend('c1', { folder: 'Physics' })
        expect([await history.get('c1'), (await history.head('c1'))?.folder]).toEqual([
          conversationOf({ folder: 'Physics' }),
          'Physics',
        ])
        await history.amend('c1', { folder: undefined })
        await history.amend('c2', { isPinned: true })
        const heads = await history.heads()
        expect(heads.map(({ id, folder }) => [id, folder])).toEqual([
          ['c2', 'Cooking'],
          ['c1', undefined],
        ])
        expect([await history.get('c1'), (await history.all()).map(({ folder }) => folder)]).toEqual([
          conversationOf(),
          expect.arrayContaining(['Cooking', undefined]),
        ])
        for (const folder of ['', 'x'.repeat(101)])
          expect(await failureOf(history.amend('c1', { folder }))).toBeInstanceOf(InvalidConversation)
        expect(await failureOf(history.put(conversationOf({ folder: '' })))).toBeInstanceOf(InvalidConversation)
      }))

    test('that is removed during a write stays removed', () =>
      within(async (history) => {
        const outcomes = await Promise.allSettled([
          history.put(conversationOf()),
          history.remove('c1'),
          history.put(conversationOf()),
        ])
        expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
        expect(await history.all()).toEqual([])
      }))

    test('is removed when everything is cleared', () =>
      within(async (history) => {
        await history.put(conversationOf())
        await history.putDraft('new', { text: 'x', images: [] })
        await history.clear()
        expect([await history.heads(), await history.all(), await history.draft('new')]).toEqual([[], [], undefined])
        expect(await failureOf(history.put(conversationOf()))).toBeInstanceOf(ConversationRemoved)
      }))

    test('of any content is returned as written', () =>
      within(async (history) => {
        await fc.assert(
          fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), async (title, text) => {
            const conversation = conversationOf({ title, messages: [questionOf('m1', text)] })
            await history.put(conversation)
            expect(await history.get('c1')).toEqual(conversation)
          }),
          { numRuns: 30 },
        )
      }))
  })

  describe(`${kind}: the list`, () => {
    test('has pinned ones first, then the newest', () =>
      within(async (history) => {
        await history.put(conversationOf({ id: 'old', updated: 1 }))
        await history.put(conversationOf({ id: 'pinned-old', updated: 2, isPinned: true }))
        await history.put(conversationOf({ id: 'late', updated: 4 }))
        await history.put(conversationOf({ id: 'pinned-late', updated: 3, isPinned: true }))
        expect(await namesOf(history)).toBe('pinned-late pinned-old late old')
        await history.put(conversationOf({ id: 'old', updated: 5 }))
        expect(await namesOf(history)).toBe('pinned-late pinned-old old late')
      }))
  })

  describe(`${kind}: a search`, () => {
    const excerptOf = (hit: SearchHit | undefined): string | undefined => {
      if (hit?.excerpt === undefined) return undefined
      const { messageId, text, start, end } = hit.excerpt
      return `${messageId}: ${text.slice(0, start)}[${text.slice(start, end)}]${text.slice(end)}`
    }

    test('finds words in titles and texts, ignoring case and accents', () =>
      within(async (history) => {
        await history.put(
          conversationOf({
            id: 'a',
            title: 'Crème brûlée',
            messages: [
              questionOf('m1', 'How long?'),
              { ...answerOf('complete'), text: 'Bis es auf der STRASSE\nduftet.' },
            ],
          }),
        )
        for (const query of [
          'creme',
          'CRÈME',
          'brule',
          'brûlée',
          'straße',
          'Strasse DUFT',
          'long creme',
          '  how\tlong ',
        ]) {
          expect((await history.search(query)).map(({ head }) => head.id)).toEqual(['a'])
        }
        for (const query of ['cremes', 'creme tea', 'longduft', '', '  '])
          expect(await history.search(query)).toEqual([])
      }))

    test('ignores reasoning, image names, and replaced texts', () =>
      within(async (history) => {
        await history.put(conversationOf({ messages: [questionOf('m1', 'first words')] }))
        await history.put(conversationOf())
        for (const query of ['Hm', 'brief', 'png', 'gpt', 'first']) expect(await history.search(query)).toEqual([])
      }))

    test('shows the match in a message, unless it is in the title', () =>
      within(async (history) => {
        await history.put(
          conversationOf({
            messages: [
              questionOf('m1', `${'Once upon a time. '.repeat(9)}there was a\n*Ståle*, who ${'slept and '.repeat(30)}`),
            ],
          }),
        )
        expect((await history.search('monads'))[0]?.excerpt).toBeUndefined()
        expect(excerptOf((await history.search('monads stale'))[0])).toBe(
          `m1: …a time. Once upon a time. there was a *[Ståle]*, who ${'slept and '.repeat(11).trimEnd()}…`,
        )
        expect(excerptOf((await history.search('once'))[0])).toMatch(/^m1: \[Once\] upon a time\. .*…$/)
      }))

    test('has the newest first, up to the limit', () =>
      within(async (history) => {
        for (let index = 0; index < 130; index++)
          await history.put(conversationOf({ id: `c${index}`, updated: (index * 7) % 130, isPinned: index === 3 }))
        const found = await history.search('burrito')
        expect(found.map(({ head }) => head.updated)).toEqual(Array.from({ length: 50 }, (_, index) => 129 - index))
        expect((await history.search('burrito', 130)).length).toBe(130)
        expect((await history.search('burrito', 1))[0]?.head.updated).toBe(129)
      }))
  })

  describe(`${kind}: a draft`, () => {
    test('stays until it is deleted, and is removed with its conversation', () =>
      within(async (history) => {
        const draft = { text: 'Half a quest', images: questionOf('m', '', ['i1', 'i2']).images }
        await history.putDraft('new', { text: 'other', images: [] })
        await history.putDraft('c1', draft)
        expect([await history.draft('c1'), await history.draft('new'), await history.draft('c2')]).toEqual([
          draft,
          { text: 'other', images: [] },
          undefined,
        ])
        await history.putDraft('c1', undefined)
        expect(await history.draft('c1')).toBeUndefined()
        await history.putDraft('c1', draft)
        await history.remove('c1')
        expect([await history.draft('c1'), await history.draft('new')]).toEqual([
          undefined,
          { text: 'other', images: [] },
        ])
      }))
  })

  describe(`${kind}: a change`, () => {
    test('is published until unsubscribed', () =>
      within(async (history) => {
        const changedIds: string[] = []
        const stop = history.subscribe((id) => changedIds.push(id))
        await history.put(conversationOf())
        await history.remove('c1')
        await history.restore(conversationOf())
        await history.amend('c1', { isPinned: true })
        await history.clear()
        expect(changedIds).toEqual(['c1', 'c1', 'c1', 'c1', ''])
        stop()
        await history.put(conversationOf({ id: 'c2' }))
        expect(changedIds.length).toBe(5)
      }))

    test('that was refused is not published', () =>
      within(async (history) => {
        const changedIds: string[] = []
        history.subscribe((id) => changedIds.push(id))
        await history.put(conversationOf({ id: '' })).catch(() => undefined)
        expect(changedIds).toEqual([])
      }))
  })
}
