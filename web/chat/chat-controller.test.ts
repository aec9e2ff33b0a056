import { describe, expect, test } from 'bun:test'
import { Unreachable } from '../api/client.ts'
import type { AssistantMessage, ChatSettings, Conversation, Draft, HistoryStore } from '../history/conversation.ts'
import { memoryHistory } from '../history/memory-history.ts'
import { branchOf, versionsOf, withAdded } from '../history/tree.ts'
import type { AnswerBackup } from './answer-backup.ts'
import { ChatController } from './chat-controller.ts'
import { emptyConversation, lastAnswer, withMessage } from './conversation-changes.ts'
import { forkOf } from './fork.ts'
import {
  answerMessage,
  apiError,
  fakeClient,
  fakeScheduler,
  settled,
  userMessage,
  type FakeClient,
  type FakeScheduler,
} from './testing.ts'

const settings: ChatSettings = { system: '', parameters: {} }
const draft = (text: string): Draft => ({ text, images: [] })

interface Scene {
  readonly chat: ChatController
  readonly client: FakeClient
  readonly history: HistoryStore
  readonly frames: FakeScheduler
  /** Advances the clock. */
  pass(ms: number): void
  /** The last answer shown. */
  answer(): AssistantMessage | undefined
  texts(): readonly string[]
  stored(): Promise<Conversation | undefined>
  storedTexts(): Promise<readonly string[]>
  /** Answers the last request. */
  reply(text: string): Promise<void>
  conversation(): Conversation
}

function lastOf(conversation: Conversation | undefined): AssistantMessage | undefined {
  return conversation && lastAnswer(conversation)
}

/** A controller of a new conversation, or of a stored one with these messages. */
async function scene(messages?: Conversation['messages'], history: HistoryStore = memoryHistory()): Promise<Scene> {
  const client = fakeClient()
  const frames = fakeScheduler()
  let time = 1_000
  if (messages !== undefined)
    await history.put({
      id: 'c',
      title: 'T',
      isTitled: false,
      isPinned: false,
      created: 0,
      updated: 0,
      settings: { ...settings, model: 'old' },
      messages,
    })
  const chat = new ChatController({
    id: 'c',
    begins: messages === undefined ? settings : undefined,
    client,
    history,
    frameClock: frames,
    now: () => time,
    wait: async () => undefined,
  })
  await settled()
  const texts = (conversation: Conversation | undefined): readonly string[] =>
    conversation === undefined ? [] : branchOf(conversation).map(({ text }) => text)
  return {
    chat,
    client,
    history,
    frames,
    pass: (ms) => {
      time += ms
    },
    conversation: () => chat.state.get().conversation,
    answer: () => lastAnswer(chat.state.get().conversation),
    texts: () => texts(chat.state.get().conversation),
    stored: () => history.get('c'),
    storedTexts: async () => texts(await history.get('c')),
    async reply(text) {
      client.last().stream()
      client.last().say(text)
      await client.last().ends()
    },
  }
}

describe('ChatController › a question', () => {
  test('is shown and saved before it is answered', async () => {
    const { chat, client, answer, stored, conversation } = await scene()
    chat.send(draft('hello'), 'm')
    expect(answer()).toMatchObject({ status: 'streaming', text: '' })
    expect(conversation().title).toBe('hello')
    await settled()
    expect((await stored())?.settings.model).toBe('m')
    expect(client.last().body).toMatchObject({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    })
    expect(client.last().answerId).toMatch(/^[0-9a-f]{32}$/)
    expect(client.last().requestId).toBe(client.last().answerId.slice(0, 16))
  })

  test('is answered piece by piece, rendered once per frame', async () => {
    const { chat, client, answer, frames } = await scene()
    chat.send(draft('hello'), 'm')
    await client.last().begins('a', 'b')
    expect(answer()?.text).toBe('')
    frames.frame()
    expect(answer()).toMatchObject({ status: 'streaming', text: 'ab' })
    client.last().say('c')
    await client.last().ends()
    expect(answer()).toMatchObject({ status: 'complete', text: 'abc' })
    expect(frames.due()).toBe(0)
  })

  test('keeps the id of the answer and the identity of the messages before it', async () => {
    const { chat, conversation, reply } = await scene([userMessage('a'), answerMessage()])
    const before = conversation().messages
    chat.send(draft('b'), 'm')
    const { id } = conversation().messages[3] ?? {}
    await reply('c')
    expect(conversation().messages.slice(0, 2)).toEqual([...before])
    expect(conversation().messages[0]).toBe(before[0])
    expect(conversation().messages[3]?.id).toBe(id)
  })

  test('is saved with the first words of its answer, then about once a second', async () => {
    const { chat, client, frames, storedTexts, pass } = await scene()
    chat.send(draft('hello'), 'm')
    await client.last().begins('a')
    frames.frame()
    await settled()
    expect(await storedTexts()).toEqual(['hello', 'a'])
    await client.last().says('b')
    frames.frame()
    await settled()
    expect(await storedTexts()).toEqual(['hello', 'a'])
    pass(1_000)
    await client.last().says('c')
    frames.frame()
    await settled()
    expect(await storedTexts()).toEqual(['hello', 'abc'])
  })

  test('is saved completely when the page may be unloaded', async () => {
    const { chat, client, storedTexts } = await scene()
    chat.send(draft('hello'), 'm')
    await client.last().begins('a')
    chat.saveNow()
    await settled()
    expect(await storedTexts()).toEqual(['hello', 'a'])
  })

  test('measures the duration of reasoning', async () => {
    const { chat, client, answer, pass } = await scene()
    chat.send(draft('hello'), 'm')
    client.last().stream()
    client.last().event({ choices: [{ delta: { reasoning: 'hm' } }] })
    await settled()
    pass(2_000)
    client.last().say('yes')
    await client.last().ends()
    expect(answer()).toMatchObject({ text: 'yes', reasoning: 'hm', reasoningMs: 2_000 })
  })

  test('is answered by a response that is not streamed', async () => {
    const { chat, client, answer } = await scene()
    chat.changeSettings({ ...settings, parameters: { stream: false, temperature: 1 } })
    chat.send(draft('hello'), 'm')
    expect(client.last().body).toMatchObject({ stream: false, temperature: 1 })
    client.last().answer(Response.json({ choices: [{ message: { content: 'yes' }, finish_reason: 'stop' }] }))
    await settled()
    expect(answer()).toMatchObject({ status: 'complete', text: 'yes', finishReason: 'stop' })
    expect(answer()?.provenance).toHaveProperty('totalMs')
    expect(answer()?.provenance).not.toHaveProperty('firstTokenMs')
  })

  test('stops the running answer', async () => {
    const { chat, client, texts, frames, conversation } = await scene()
    chat.send(draft('a'), 'm')
    await client.last().begins('half')
    chat.send(draft('b'), 'm')
    expect(client.exchanges[0]?.signal.aborted).toBe(true)
    expect(texts()).toEqual(['a', 'half', 'b', ''])
    await client.last().begins('c')
    frames.frame()
    expect(texts()).toEqual(['a', 'half', 'b', 'c'])
    expect(conversation().messages[1]).toMatchObject({ status: 'stopped' })
  })
})

describe('ChatController › an answer', () => {
  test('that is stopped keeps its text', async () => {
    const { chat, client, answer, stored } = await scene()
    chat.send(draft('hello'), 'm')
    await client.last().begins('half')
    chat.stop()
    await settled()
    expect(client.last().signal.aborted).toBe(true)
    expect(answer()).toMatchObject({ status: 'stopped', text: 'half' })
    expect(lastOf(await stored())).toMatchObject({ status: 'stopped', text: 'half' })
  })

  test('that is stopped before its first text stays empty', async () => {
    const { chat, answer } = await scene()
    chat.send(draft('hello'), 'm')
    chat.stop()
    await settled()
    expect(answer()).toMatchObject({ status: 'stopped', text: '' })
  })

  test.each(['cut', 'break'] as const)('whose stream ends with a %s was interrupted', async (how) => {
    const { chat, client, answer } = await scene()
    chat.send(draft('hello'), 'm')
    await client.last().begins('half')
    await client.last().ends(how)
    expect(answer()).toMatchObject({ status: 'interrupted', text: 'half' })
  })

  test('that is refused has the reason and the attempts', async () => {
    const { chat, client, answer } = await scene()
    chat.send(draft('hello'), 'm')
    client
      .last()
      .fail(
        apiError(429, 'provider_error', { 'retry-after': '7', 'x-svc-trail': 'a;status=429;class=rate_limit;ms=2' }),
      )
    await settled()
    expect(answer()).toMatchObject({
      status: 'failed',
      error: { kind: 'wire', status: 429, code: 'provider_error', retryAfter: 7, message: 'No.' },
      provenance: { trail: [{ provider: 'a', status: 429, failure: 'rate_limit', ms: 2 }] },
    })
  })

  test.each([
    ['requests its record', () => apiError(502, 'provider_error'), 3],
    ['requests no record after 401', () => apiError(401, 'invalid_session'), 0],
    ['requests no record if the service is not reached', () => new Unreachable('gone'), 0],
  ])('that fails %s', async (_, error, times) => {
    const { chat, client } = await scene()
    chat.send(draft('hello'), 'm')
    await client.last().fails(error())
    expect(client.read).toHaveLength(times)
  })

  test('of an unreachable service has a network error', async () => {
    const { chat, client, answer } = await scene()
    chat.send(draft('hello'), 'm')
    await client.last().fails(new Unreachable('gone'))
    expect(answer()).toMatchObject({ status: 'failed', error: { kind: 'network', message: 'gone' } })
  })

  test('has its provenance from the headers first, then from the record of the service', async () => {
    const { chat, client, answer, stored } = await scene()
    chat.send(draft('hello'), 'm')
    const { requestId: id } = client.last()
    client.last().stream({ 'x-svc-provider': 'b', 'x-svc-model': 'up' })
    await client.last().says('yes')
    client.records.set(id, {
      time: 0,
      id,
      model: 'm',
      api: 'chat',
      stream: true,
      status: 200,
      provider: 'b',
      trail: [{ provider: 'b', ms: 1 }],
      totalMs: 9,
      cost: 0.25,
    })
    await client.last().ends()
    expect(answer()?.provenance).toMatchObject({
      requestId: id,
      provider: 'b',
      model: 'up',
      trail: [{ provider: 'b', ms: 1 }],
      totalMs: 9,
      cost: 0.25,
    })
    expect(lastOf(await stored())?.provenance).toMatchObject({ cost: 0.25 })
  })
})

describe('ChatController › retry, edit, fork, continue', () => {
  const said = [userMessage('a'), answerMessage({ text: 'one' }), userMessage('b'), answerMessage({ text: 'two' })]

  /** The texts of all versions of the last shown message. */
  const versions = (conversation: Conversation | undefined): readonly string[] =>
    conversation === undefined
      ? []
      : versionsOf(conversation, branchOf(conversation).at(-1)?.id ?? '').map(({ text }) => text)

  test('a retry sends the same request, and adds a version to the answer', async () => {
    const { chat, client, texts, storedTexts, stored, frames, conversation } = await scene(said)
    chat.retry('other')
    expect(texts()).toEqual(['a', 'one', 'b', ''])
    await settled()
    expect(client.last().body).toMatchObject({
      model: 'other',
      messages: [{ content: 'a' }, { content: 'one' }, { content: 'b' }],
    })
    await client.last().begins('three')
    frames.frame()
    await settled()
    expect(await storedTexts()).toEqual(['a', 'one', 'b', 'three'])
    expect(versions(await stored())).toEqual(['two', 'three'])
    chat.showVersion(said[3]?.id ?? '')
    expect(texts()).toEqual(['a', 'one', 'b', 'two'])
    client.last().say(' and more')
    await client.last().ends()
    expect([texts(), await storedTexts()]).toEqual([
      ['a', 'one', 'b', 'two'],
      ['a', 'one', 'b', 'two'],
    ])
    expect(versions(conversation())).toEqual(['two', 'three and more'])
  })

  test('a retry of an answer without content takes its place', async () => {
    const { chat, client, texts, conversation } = await scene(said)
    for (const _ of [1, 2]) {
      chat.retry('m')
      await client.last().fails(new Unreachable('gone'))
    }
    expect(texts()).toEqual(['a', 'one', 'b', ''])
    expect(versions(conversation())).toEqual(['two', ''])
    chat.showVersion(said[3]?.id ?? '')
    expect(texts()).toEqual(['a', 'one', 'b', 'two'])
  })

  test('a retry of an earlier answer keeps what followed it in its version', async () => {
    const { chat, client, texts, reply } = await scene(said)
    chat.retry('m', said[1]?.id)
    expect(client.last().body).toMatchObject({ messages: [{ content: 'a' }] })
    await reply('other')
    expect(texts()).toEqual(['a', 'other'])
    chat.showVersion(said[1]?.id ?? '')
    expect(texts()).toEqual(['a', 'one', 'b', 'two'])
  })

  test('a retry of a question without an answer requests one', async () => {
    const { chat, client, texts, reply } = await scene(said.slice(0, 3))
    chat.retry('m')
    expect(client.last().body).toMatchObject({ messages: [{ content: 'a' }, { content: 'one' }, { content: 'b' }] })
    await reply('two')
    expect(texts()).toEqual(['a', 'one', 'b', 'two'])
  })

  test('an edit adds a version to the question, and keeps what followed it', async () => {
    const { chat, client, texts, reply, storedTexts, conversation } = await scene(said)
    chat.edit(said[0]?.id ?? '', draft('A'), 'm')
    expect(client.last().body).toMatchObject({ messages: [{ content: 'A' }] })
    await reply('new')
    expect([texts(), conversation().title]).toEqual([['A', 'new'], 'A'])
    const { updated } = conversation()
    chat.showVersion(said[0]?.id ?? '')
    await settled()
    expect([texts(), conversation().title, conversation().updated]).toEqual([['a', 'one', 'b', 'two'], 'a', updated])
    expect(await storedTexts()).toEqual(['a', 'one', 'b', 'two'])
    chat.send(draft('c'), 'm')
    expect(texts()).toEqual(['a', 'one', 'b', 'two', 'c', ''])
  })

  test('a message of another version is revealed', async () => {
    const { chat, texts, reply } = await scene(said)
    chat.edit(said[0]?.id ?? '', draft('A'), 'm')
    await reply('new')
    chat.revealMessage('unknown')
    expect(texts()).toEqual(['A', 'new'])
    chat.revealMessage(said[1]?.id ?? '')
    expect(texts()).toEqual(['a', 'one', 'b', 'two'])
    chat.revealMessage(said[1]?.id ?? '')
    expect(texts()).toEqual(['a', 'one', 'b', 'two'])
  })

  test('a fork is a new conversation, which the other one does not change', async () => {
    const { chat, history, texts, reply } = await scene(said)
    const id = 'forked'
    await history.put(forkOf(chat.state.get().conversation, said[1]?.id ?? '', id, 9))
    expect(await history.get(id)).toMatchObject({ title: 'T (fork)', messages: [{ text: 'a' }, { text: 'one' }] })
    chat.send(draft('c'), 'm')
    await reply('d')
    expect((await history.get(id))?.messages).toHaveLength(2)
    expect(texts()).toHaveLength(6)
  })

  test('a continued answer is sent with its text, and appended to', async () => {
    const half = answerMessage({
      text: 'Once upon ',
      status: 'interrupted',
      provenance: { requestId: 'old', trail: [] },
    })
    const { chat, client, answer, reply, texts } = await scene([userMessage('a'), half])
    chat.continueAnswer('m')
    expect(answer()).toMatchObject({ id: half.id, status: 'streaming', text: half.text })
    expect(client.last().body).toMatchObject({
      messages: [{ content: 'a' }, { role: 'assistant', content: 'Once upon' }],
    })
    await reply(' a time')
    expect(texts()).toEqual(['a', 'Once upon a time'])
    expect(answer()).toMatchObject({
      id: half.id,
      status: 'complete',
      provenance: { requestId: client.last().requestId },
    })
  })

  test('a continued answer loses its previous error', async () => {
    const failed = answerMessage({ text: 'Once', status: 'failed', error: { kind: 'network', message: 'gone' } })
    const { chat, answer, reply } = await scene([userMessage('a'), failed])
    chat.continueAnswer('m')
    expect(answer()).not.toHaveProperty('error')
    await reply(' more')
    expect(answer()).not.toHaveProperty('error')
  })

  test('the record of a replaced answer is ignored', async () => {
    const client = fakeClient()
    const waited = Promise.withResolvers<void>()
    const chat = new ChatController({
      id: 'c',
      begins: settings,
      client,
      history: memoryHistory(),
      frameClock: fakeScheduler(),
      wait: () => waited.promise,
    })
    chat.send(draft('a'), 'm')
    const { requestId: id } = client.last()
    await client.last().begins('Half')
    chat.stop()
    await settled()
    client.records.set(id, {
      time: 0,
      id,
      model: 'm',
      api: 'chat',
      stream: true,
      status: 499,
      trail: [],
      totalMs: 9,
      cost: 7,
    })
    chat.continueAnswer('m')
    client.last().stream()
    await client.last().ends()
    waited.resolve()
    await settled()
    const provenance = lastAnswer(chat.state.get().conversation)?.provenance
    expect(provenance?.requestId).toBe(client.last().requestId)
    expect(provenance?.cost).toBeUndefined()
  })

  test('a continuation that fails keeps the text before it', async () => {
    const { chat, client, answer, stored } = await scene([
      userMessage('a'),
      answerMessage({ text: 'Once', status: 'interrupted' }),
    ])
    chat.continueAnswer('m')
    await client.last().fails(new Unreachable('gone'))
    expect(answer()).toMatchObject({ status: 'failed', text: 'Once' })
    expect(lastOf(await stored())).toMatchObject({ status: 'failed', text: 'Once' })
  })

  test('a removed message is gone, and undo restores it', async () => {
    const { chat, texts, storedTexts } = await scene(said)
    chat.removeMessage(said[1]?.id ?? '')
    await settled()
    expect(await storedTexts()).toEqual(['a', 'b', 'two'])
    chat.undo()
    await settled()
    expect(texts()).toEqual(['a', 'one', 'b', 'two'])
    expect(await storedTexts()).toEqual(['a', 'one', 'b', 'two'])
    expect(chat.state.get().undeleted).toBeUndefined()
  })

  test('a deletion cannot be undone after a new message, which undo would remove', async () => {
    const { chat, texts } = await scene(said)
    chat.removeMessage(said[1]?.id ?? '')
    chat.send(draft('c'), 'm')
    chat.undo()
    expect(texts()).toEqual(['a', 'b', 'two', 'c', ''])
  })
})

describe('ChatController › an answer that goes on in the service', () => {
  const live = { id: 'request-1', text: 0, reasoning: 0 }
  const running = (more: Partial<AssistantMessage> = {}): AssistantMessage =>
    answerMessage({ text: 'Once upon', status: 'streaming', live, ...more })

  /** A controller of a conversation that was stored while it was answered. */
  async function opened(answer: AssistantMessage, act: (client: FakeClient) => void = () => {}) {
    const history = memoryHistory()
    await history.put({ ...emptyConversation('c', settings, 0), messages: [userMessage('a'), answer] })
    const client = fakeClient()
    client.keepsAnswers = true
    act(client)
    let time = 0
    const frames = fakeScheduler()
    const chat = new ChatController({
      id: 'c',
      client,
      history,
      frameClock: frames,
      now: () => time,
      wait: async (ms) => {
        time += ms
      },
    })
    await settled()
    return { chat, client, history, frames, answer: () => lastAnswer(chat.state.get().conversation) }
  }

  test('is stored with the id of its request before it is sent, until it ends', async () => {
    const { chat, client, stored, reply } = await scene()
    chat.send(draft('a'), 'm')
    await settled()
    expect(client.last().path).toBe('/api/chat')
    expect((await stored())?.messages[1]).toMatchObject({
      status: 'interrupted',
      live: { id: client.last().answerId, text: 0, reasoning: 0 },
    })
    await reply('b')
    expect(lastOf(await stored())?.live).toBeUndefined()
  })

  test('is read again from its beginning, and never gets shorter or doubled', async () => {
    const { client, answer, frames, history } = await opened(running())
    expect(client.last().path).toBe('/api/answers/request-1')
    client.last().stream({ 'x-svc-provider': 'a' })
    await client.last().says('Once', ' up')
    frames.frame()
    expect(answer()).toMatchObject({ status: 'streaming', text: 'Once upon' })
    await client.last().says('on', ' a time')
    frames.frame()
    expect(answer()?.text).toBe('Once upon a time')
    await client.last().ends()
    expect(answer()).toMatchObject({ status: 'complete', text: 'Once upon a time', provenance: { provider: 'a' } })
    expect(answer()?.provenance).not.toHaveProperty('totalMs')
    expect(lastOf(await history.get('c'))).toMatchObject({ status: 'complete', text: 'Once upon a time' })
  })

  test('keeps the duration of its reasoning, which is not measured again', async () => {
    for (const reasoningMs of [undefined, 7_000]) {
      const { client, answer } = await opened(running({ text: '', ...(reasoningMs && { reasoningMs }) }))
      client.last().stream()
      client.last().event({ choices: [{ delta: { reasoning: 'hm' } }] })
      client.last().say('yes')
      await client.last().ends()
      expect(answer()).toMatchObject({ text: 'yes', reasoning: 'hm' })
      expect(answer()?.reasoningMs).toBe(reasoningMs)
    }
  })

  test('that continues another one keeps the text before it', async () => {
    const { client, answer } = await opened(running({ live: { ...live, text: 5, reasoning: 0 } }))
    client.last().stream()
    client.last().say('upon a time')
    await client.last().ends()
    expect(answer()?.text).toBe('Once upon a time')
  })

  test('that the service does not have any more is interrupted', async () => {
    const { answer, chat } = await opened(running(), (client) => {
      client.keepsAnswers = false
    })
    expect(answer()).toMatchObject({ status: 'interrupted', text: 'Once upon', live: undefined })
    expect([chat.state.get().isAnsweredElsewhere, chat.isIdle()]).toEqual([false, true])
  })

  test('that failed there shows why', async () => {
    const { client, answer } = await opened(running({ text: '' }))
    await client.last().fails(apiError(502, 'provider_error'))
    expect(answer()).toMatchObject({ status: 'failed', error: { code: 'provider_error' } })
  })

  test('that another tab stopped is stopped here', async () => {
    const { client, answer } = await opened(running())
    client.last().stream()
    client.last().say('Once upon')
    client.last().stopped()
    await settled()
    expect(answer()).toMatchObject({ status: 'stopped', text: 'Once upon', live: undefined })
  })

  test('is stopped there, not only left', async () => {
    const { chat, client } = await opened(running())
    client.last().stream()
    chat.stop()
    expect(client.stopped).toEqual(['/api/answers/request-1'])
    chat.send(draft('b'), 'm')
    const { answerId } = client.last()
    chat.retry('m')
    expect(client.stopped.at(-1)).toBe(`/api/answers/${answerId}`)
  })

  test('is read on where its connection broke', async () => {
    const { chat, client, answer } = await scene()
    client.keepsAnswers = true
    chat.send(draft('a'), 'm')
    const { answerId } = client.last()
    await client.last().begins('Once')
    await client.last().ends('break')
    const from = Buffer.byteLength(`data: ${JSON.stringify({ choices: [{ delta: { content: 'Once' } }] })}\n\n`)
    expect(client.last().path).toBe(`/api/answers/${answerId}?from=${from}`)
    client.last().stream()
    client.last().say(' upon')
    await client.last().ends()
    expect(answer()).toMatchObject({ status: 'complete', text: 'Once upon' })
  })

  test('is tried for a minute while the service is not reached, then interrupted for good', async () => {
    let attempts = 0
    const { chat, client, answer } = await opened(running(), (fake) => {
      fake.fetch = () => {
        attempts++
        return Promise.reject(new Unreachable('gone'))
      }
    })
    for (let turns = 0; turns < 30; turns++) await settled()
    expect(answer()).toMatchObject({ status: 'interrupted', text: 'Once upon', live })
    expect([chat.state.get().isAnsweredElsewhere, chat.isIdle(), client.exchanges.length]).toEqual([false, true, 0])
    expect(attempts).toBeWithin(20, 23)
  })
})

describe('ChatController › the history', () => {
  test('has the shown state', async () => {
    const { chat, texts } = await scene([userMessage('a'), answerMessage({ status: 'streaming', text: 'half' })])
    expect(texts()).toEqual(['a', 'half'])
    expect(chat.state.get().phase).toBe('ready')
    expect(lastAnswer(chat.state.get().conversation)?.status).toBe('interrupted')
  })

  test('is completed from the backup made when the page was unloaded', async () => {
    const backup = new Map<string, AssistantMessage>()
    const answerBackup: AnswerBackup = {
      put: (id, answer) => void backup.set(id, answer),
      take: (conversation) => ({
        ...conversation,
        messages: conversation.messages.map((message) => backup.get(conversation.id) ?? message),
      }),
    }
    const client = fakeClient(),
      history = memoryHistory()
    const chat = new ChatController({
      id: 'c',
      begins: settings,
      client,
      history,
      frameClock: fakeScheduler(),
      backup: answerBackup,
    })
    chat.send(draft('a'), 'm')
    await client.last().begins('Half')
    chat.saveNow()
    expect(backup.get('c')?.text).toBe('Half')
    await settled()
    const after = new ChatController({ id: 'c', client, history, frameClock: fakeScheduler(), backup: answerBackup })
    await settled()
    expect(lastAnswer(after.state.get().conversation)?.text).toBe('Half')
    expect(after.state.get().conversation.messages[0]).toMatchObject({ text: 'Half' })
  })

  test('saves the backup, and uses it once', async () => {
    const history = memoryHistory(),
      answer = answerMessage({ text: 'Half', status: 'interrupted' })
    await history.put({ ...emptyConversation('c', settings, 0), messages: [userMessage('a'), answer] })
    const backup: AnswerBackup = {
      put: () => {},
      take: (found) => withMessage(found, { ...answer, text: 'Half of it' }),
    }
    const chat = new ChatController({ id: 'c', client: fakeClient(), history, frameClock: fakeScheduler(), backup })
    await settled()
    expect(chat.isIdle()).toBe(true)
    expect((await history.get('c'))?.messages[1]).toMatchObject({ text: 'Half of it', status: 'interrupted' })
  })

  test('may lack the conversation', async () => {
    const chat = new ChatController({
      id: 'unknown',
      client: fakeClient(),
      history: memoryHistory(),
      frameClock: fakeScheduler(),
    })
    expect(chat.state.get().phase).toBe('loading')
    await settled()
    expect(chat.state.get().phase).toBe('missing')
  })

  test('may be unreadable', async () => {
    const history: HistoryStore = { ...memoryHistory(), get: () => Promise.reject(new Error('broken')) }
    const chat = new ChatController({ id: 'c', client: fakeClient(), history, frameClock: fakeScheduler() })
    await settled()
    expect(chat.state.get()).toMatchObject({ phase: 'unreadable', failure: new Error('broken') })
  })

  test('that changes in another tab is shown', async () => {
    const { history, stored, conversation, texts } = await scene([userMessage('a'), answerMessage()])
    const [first] = conversation().messages
    const before = await stored()
    if (before !== undefined)
      await history.put({
        ...before,
        title: 'Other',
        isTitled: true,
        messages: [...structuredClone(before.messages), userMessage('b')],
      })
    await settled()
    expect(conversation()).toMatchObject({ title: 'Other', isTitled: true })
    expect(texts()).toEqual(['a', 'answer', 'b'])
    expect(conversation().messages[0]).toBe(first)
  })

  describe('with an interrupted last answer', () => {
    /**
     * Opens a conversation whose last answer is interrupted. The test decides when waits end and whether other tabs
     * reply.
     */
    async function openUnfinished(): Promise<{
      readonly chat: ChatController
      readonly history: HistoryStore
      readonly tabs: { reply: boolean; asked: number }
      readonly pass: () => Promise<void>
    }> {
      const history = memoryHistory()
      await history.put(unfinished('b'))
      const tabs = { reply: true, asked: 0 }
      let waited = Promise.withResolvers<void>()
      const chat: ChatController = new ChatController({
        id: 'c',
        client: fakeClient(),
        history,
        frameClock: fakeScheduler(),
        wait: () => waited.promise,
        askTabs() {
          tabs.asked++
          if (tabs.reply) chat.noteAnsweredElsewhere()
        },
      })
      await settled()
      return {
        chat,
        history,
        tabs,
        async pass() {
          waited.resolve()
          waited = Promise.withResolvers()
          await settled()
        },
      }
    }

    const unfinished = (text: string): Conversation => ({
      id: 'c',
      title: '',
      isTitled: false,
      isPinned: false,
      created: 0,
      updated: 0,
      settings,
      messages: [userMessage('a'), answerMessage({ text, status: 'streaming' })],
    })

    test('reports that another tab is receiving it, while that tab replies', async () => {
      const { chat, tabs, pass } = await openUnfinished()
      expect([chat.state.get().isAnsweredElsewhere, tabs.asked]).toEqual([true, 1])
      await pass()
      await pass()
      expect([chat.state.get().isAnsweredElsewhere, tabs.asked]).toEqual([true, 2])
      tabs.reply = false
      await pass()
      await pass()
      await pass()
      expect([chat.state.get().isAnsweredElsewhere, tabs.asked]).toEqual([false, 3])
    })

    test('reports that no tab is receiving it if none replies in time, until a late reply', async () => {
      const { chat, tabs, pass, history } = await openUnfinished()
      tabs.reply = false
      await pass()
      await pass()
      await pass()
      expect(chat.state.get().isAnsweredElsewhere).toBe(false)
      chat.noteAnsweredElsewhere()
      expect(chat.state.get().isAnsweredElsewhere).toBe(true)
      await pass()
      await pass()
      await pass()
      tabs.reply = true
      await history.put(unfinished('bc'))
      await settled()
      expect(chat.state.get().isAnsweredElsewhere).toBe(true)
    })

    test('stops asking when the answer is complete, or running here', async () => {
      const { chat, tabs, pass, history } = await openUnfinished()
      await history.put({ ...unfinished('b'), messages: [userMessage('a'), answerMessage({ text: 'bc' })] })
      await settled()
      for (let waits = 0; waits < 4; waits++) await pass()
      expect(tabs.asked).toBe(1)
      chat.retry('m')
      chat.noteAnsweredElsewhere()
      expect([chat.state.get().isAnsweredElsewhere, tabs.asked]).toEqual([false, 1])
    })
  })

  test('that gets messages in another tab during an answer keeps both', async () => {
    const { chat, history, stored, conversation, reply } = await scene([userMessage('a'), answerMessage()])
    chat.send(draft('b'), 'm')
    await settled()
    const before = await stored()
    const [, answer] = before?.messages ?? []
    if (before === undefined || answer === undefined) throw new Error('nothing was stored')
    const other = userMessage('elsewhere')
    await history.put({ ...before, ...withAdded(before, answer.id, [other]), updated: 2_000 })
    await settled()
    await reply('c')
    expect(branchOf(conversation()).map(({ text }) => text)).toEqual(['a', 'answer', 'b', 'c'])
    const after = await stored()
    expect(after && versionsOf(after, other.id).map(({ text }) => text)).toEqual(['b', 'elsewhere'])
  })

  test('that gets another title during an answer keeps both', async () => {
    const { chat, history, stored, conversation, reply } = await scene([userMessage('a'), answerMessage()])
    chat.send(draft('b'), 'm')
    await settled()
    const before = await stored()
    if (before !== undefined) await history.put({ ...before, title: 'Mine', isTitled: true, isPinned: true })
    await settled()
    await reply('c')
    expect(conversation()).toMatchObject({ title: 'Mine', isTitled: true, isPinned: true })
    expect(await stored()).toMatchObject({
      title: 'Mine',
      isTitled: true,
      isPinned: true,
      messages: [{ text: 'a' }, {}, { text: 'b' }, { text: 'c', status: 'complete' }],
    })
  })

  test('loses a removed conversation until it is restored', async () => {
    const { chat, client, history, stored, frames, texts } = await scene()
    chat.send(draft('a'), 'm')
    await client.last().begins('b')
    frames.frame()
    await history.remove('c')
    await settled()
    expect(chat.state.get().phase).toBe('missing')
    expect(client.last().signal.aborted).toBe(true)
    expect(await stored()).toBeUndefined()
    chat.restore()
    await settled()
    expect(chat.state.get().phase).toBe('ready')
    expect(texts()).toEqual(['a', 'b'])
    expect((await stored())?.messages).toHaveLength(2)
  })

  test('that another tab restored is shown again', async () => {
    const { chat, history, stored } = await scene([userMessage('a'), answerMessage()])
    const before = await stored()
    await history.remove('c')
    await settled()
    expect(chat.state.get().phase).toBe('missing')
    if (before !== undefined) await history.restore(before)
    await settled()
    expect(chat.state.get().phase).toBe('ready')
  })

  test('that cannot be written reports it, and the shown state stays', async () => {
    const history = memoryHistory()
    const full: HistoryStore = { ...history, put: () => Promise.reject(new Error('full')) }
    const { chat, texts } = await scene(undefined, full)
    chat.send(draft('a'), 'm')
    await settled()
    expect(chat.state.get().failure).toEqual(new Error('full'))
    expect(texts()).toEqual(['a', ''])
  })

  test('that cannot be written keeps the controller open: its state is nowhere else', async () => {
    const history = memoryHistory()
    let isFull = true
    const small: HistoryStore = {
      ...history,
      put: (conversation) => (isFull ? Promise.reject(new Error('full')) : history.put(conversation)),
    }
    const { chat, reply } = await scene(undefined, small)
    chat.send(draft('a'), 'm')
    await reply('b')
    expect(chat.isIdle()).toBe(false)
    isFull = false
    chat.changeSettings({ ...settings, system: 'x' })
    await settled()
    expect(chat.isIdle()).toBe(true)
  })

  test('stores no conversation without messages', async () => {
    const { chat, stored } = await scene()
    chat.changeSettings({ ...settings, system: 'x' })
    await settled()
    expect(await stored()).toBeUndefined()
  })
})
