import { describe, expect, test } from 'bun:test'
import { openChats } from '../chat/chats.ts'
import { fakeClient, fakeScheduler, settled, type FakeClient } from '../chat/testing.ts'
import type { HistoryStore } from '../history/conversation.ts'
import { memoryHistory } from '../history/memory-history.ts'
import { parseConversation } from '../history/parse-conversation.ts'
import { branchOf } from '../history/tree.ts'
import { continued, conversationOf, lastQuestionOf, openComparison, type Comparison } from './comparison.ts'
import { firstModels } from './first-models.ts'

interface Scene {
  readonly comparison: Comparison
  readonly client: FakeClient
  readonly history: HistoryStore
  /** The messages of each column. */
  texts(): readonly (readonly string[])[]
  models(): readonly (string | undefined)[]
  /** Answers the last requests, as many as there are columns. */
  answerAll(...texts: readonly string[]): Promise<void>
}

async function scene(history = memoryHistory(), models: readonly (string | undefined)[] = ['one', 'two']) {
  const client = fakeClient()
  const page = { addEventListener: () => undefined } as unknown as Pick<Window, 'addEventListener'>
  const comparison = await openComparison({
    history,
    chats: openChats({ client, history, frameClock: fakeScheduler(), page }),
    models,
  })
  await settled()
  const all = () => comparison.columns.get().map(conversationOf)
  const found: Scene = {
    comparison,
    client,
    history,
    texts: () => all().map((each) => branchOf(each).map(({ text }) => text)),
    models: () => all().map(({ settings }) => settings.model),
    async answerAll(...texts) {
      for (const [index, request] of client.exchanges.slice(-texts.length).entries()) {
        request.stream()
        request.say(texts[index] ?? '')
        request.end()
      }
      await settled()
    },
  }
  return found
}

const ask = (text: string) => ({ text, images: [] })

describe('a comparison', () => {
  test('sends each question to every model, with the messages of its own column', async () => {
    const { comparison, client, texts, answerAll } = await scene()
    comparison.send(ask('Hello'))
    await answerAll('A', 'B')
    comparison.send(ask('And now?'))
    await answerAll('C', 'D')
    expect(texts()).toEqual([
      ['Hello', 'A', 'And now?', 'C'],
      ['Hello', 'B', 'And now?', 'D'],
    ])
    expect(client.exchanges.slice(2).map(({ body }) => body)).toMatchObject([
      { model: 'one', messages: [{ content: 'Hello' }, { content: 'A' }, { content: 'And now?' }] },
      { model: 'two', messages: [{ content: 'Hello' }, { content: 'B' }, { content: 'And now?' }] },
    ])
  })

  test('leaves out a column without a model, and asks the others', async () => {
    const { comparison, client } = await scene(memoryHistory(), ['one', undefined])
    comparison.send(ask('Hello'))
    expect(client.exchanges.length).toBe(1)
  })

  test('stops one answer, or all', async () => {
    const { comparison, client } = await scene(memoryHistory(), ['one', 'two', 'three'])
    comparison.send(ask('Hello'))
    comparison.columns.get()[1]?.stop()
    expect(client.exchanges.map(({ signal }) => signal.aborted)).toEqual([false, true, false])
    comparison.stop()
    expect(client.exchanges.map(({ signal }) => signal.aborted)).toEqual([true, true, true])
  })

  test('has at most four columns; a new one gets the settings of the others, and may catch up', async () => {
    const { comparison, client, models, answerAll } = await scene()
    comparison.changeSettings({ system: 'Be brief.', parameters: { temperature: 0.5 } })
    comparison.send(ask('Hello'))
    await answerAll('A', 'B')
    for (const name of ['three', 'four', 'five']) comparison.add(name)
    expect(models()).toEqual(['one', 'two', 'three', 'four'])
    const question = lastQuestionOf(comparison.columns.get())
    expect(question?.text).toBe('Hello')
    if (question !== undefined) comparison.columns.get()[2]?.send(question, 'three')
    expect(client.last().body).toMatchObject({
      model: 'three',
      temperature: 0.5,
      messages: [{ role: 'system', content: 'Be brief.' }, { content: 'Hello' }],
    })
  })

  test('is opened again with its columns in order, except removed ones', async () => {
    const first = await scene(memoryHistory(), ['one', 'two', 'three'])
    first.comparison.send(ask('Hello'))
    await first.answerAll('A', 'B', 'C')
    const second = first.comparison.columns.get()[1]
    if (second !== undefined) first.comparison.remove(second)
    await settled()
    const again = await scene(first.history, ['other'])
    expect(again.texts()).toEqual([
      ['Hello', 'A'],
      ['Hello', 'C'],
    ])
    expect(again.models()).toEqual(['one', 'three'])
  })

  test('begins anew with the same models and settings, and without the stored messages', async () => {
    const { comparison, client, history, texts, models } = await scene()
    comparison.changeSettings({ system: 'Be brief.', parameters: {} })
    comparison.send(ask('Hello'))
    client.last().stream()
    client.last().say('half')
    comparison.restart()
    await settled()
    expect([texts(), models(), await history.heads()]).toEqual([[[], []], ['one', 'two'], []])
    expect(client.exchanges.every(({ signal }) => signal.aborted)).toBe(true)
    comparison.send(ask('Again'))
    expect(client.last().body).toMatchObject({ messages: [{ content: 'Be brief.' }, { content: 'Again' }] })
  })

  test('begins where the stored one cannot be read', async () => {
    const broken: HistoryStore = { ...memoryHistory(), heads: () => Promise.reject(new Error('damaged')) }
    expect((await scene(broken)).models()).toEqual(['one', 'two'])
  })

  test('makes a conversation of a column, which the history accepts', async () => {
    const { comparison, answerAll } = await scene(memoryHistory(), ['one'])
    comparison.send(ask('Hello '.repeat(200)))
    await answerAll('A')
    const [column] = comparison.columns.get()
    if (column === undefined) throw new Error('there is no column')
    const found = continued(conversationOf(column), 5_000)
    expect(parseConversation(found).kind).toBe('ok')
    expect(found).toMatchObject({ created: 5_000, updated: 5_000, isTitled: true, settings: { model: 'one' } })
    expect(found.title).toEndWith('… (one)')
    expect(found.id).not.toBe(column.id)
  })
})

describe('the models of a new comparison', () => {
  const entry = (name: string) => ({ name, offers: [] })
  const answer = {
    models: [{ ...entry('embedding'), isHidden: true as const }, entry('one'), entry('two'), entry('three')],
    firstModel: 'two',
    isEchoOnly: false,
  }
  test.each([
    ['are those used last', ['three', 'one'], ['three', 'one']],
    ['are filled with the first ones of the list', ['three'], ['three', 'two']],
    ['are no gone ones', ['gone', 'away'], ['two', 'one']],
  ])('%s', (_, recent, expected) => {
    expect(firstModels({ kind: 'ready', answer }, recent)).toEqual([expected[0], expected[1]])
  })

  test('may be fewer than two', () => {
    expect(firstModels({ kind: 'ready', answer: { models: [], isEchoOnly: false } }, [])).toEqual([
      undefined,
      undefined,
    ])
    expect(firstModels({ kind: 'failed', error: new Error('x') }, ['a'])).toEqual(['a', undefined])
  })
})
