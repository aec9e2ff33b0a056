import { describe, expect, test } from 'bun:test'
import { Unreachable } from '../api/client.ts'
import type { AssistantMessage, ChatSettings, Conversation, Draft, HistoryStore } from '../history/conversation.ts'
import { memoryHistory } from '../history/memory-history.ts'
import { chatController, type ChatController } from './chat-controller.ts'
import { emptyConversation, lastAnswer, withMessage } from './conversation-changes.ts'
import type { Rescue } from './rescue.ts'
import {
  answerMessage,
  apiError,
  fakeClient,
  fakeFrames,
  settled,
  userMessage,
  type FakeClient,
  type FakeFrames,
} from './testing.ts'

const settings: ChatSettings = { system: '', parameters: {} }
const draft = (text: string): Draft => ({ text, images: [] })

interface Scene {
  readonly chat: ChatController
  readonly client: FakeClient
  readonly history: HistoryStore
  readonly frames: FakeFrames
  /** Lets time pass. */
  pass(ms: number): void
  /** The answer that is shown. */
  answer(): AssistantMessage | undefined
  texts(): readonly string[]
  kept(): Promise<Conversation | undefined>
  keptTexts(): Promise<readonly string[]>
  /** Answers what was asked last. */
  reply(text: string): Promise<void>
  conversation(): Conversation
}

function lastOf(conversation: Conversation | undefined): AssistantMessage | undefined {
  return conversation && lastAnswer(conversation)
}

/** A conversation that begins here, or with messages that are kept. */
async function scene(messages?: Conversation['messages'], history: HistoryStore = memoryHistory()): Promise<Scene> {
  const client = fakeClient()
  const frames = fakeFrames()
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
  const chat = chatController({
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
    conversation?.messages.map(({ text }) => text) ?? []
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
    kept: () => history.get('c'),
    keptTexts: async () => texts(await history.get('c')),
    async reply(text) {
      client.last().stream()
      client.last().say(text)
      client.last().end()
      await settled()
    },
  }
}

describe('chatController › a question', () => {
  test('is shown and kept before it is answered', async () => {
    const { chat, client, answer, kept, conversation } = await scene()
    chat.send(draft('hello'), 'm')
    expect(answer()).toMatchObject({ status: 'streaming', text: '' })
    expect(conversation().title).toBe('hello')
    await settled()
    expect((await kept())?.settings.model).toBe('m')
    expect(client.last().body).toMatchObject({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    })
    expect(client.last().requestId).toMatch(/^[0-9a-f]{32}$/)
  })

  test('is answered piece by piece, drawn once a frame', async () => {
    const { chat, client, answer, frames } = await scene()
    chat.send(draft('hello'), 'm')
    client.last().stream()
    client.last().say('a', 'b')
    await settled()
    expect(answer()?.text).toBe('')
    frames.frame()
    expect(answer()).toMatchObject({ status: 'streaming', text: 'ab' })
    client.last().say('c')
    client.last().end()
    await settled()
    expect(answer()).toMatchObject({ status: 'complete', text: 'abc' })
    expect(frames.due()).toBe(0)
  })

  test('keeps the message as it is drawn: its id stays, and those before it stay the same', async () => {
    const { chat, conversation, reply } = await scene([userMessage('a'), answerMessage()])
    const before = conversation().messages
    chat.send(draft('b'), 'm')
    const { id } = conversation().messages[3] ?? {}
    await reply('c')
    expect(conversation().messages.slice(0, 2)).toEqual([...before])
    expect(conversation().messages[0]).toBe(before[0])
    expect(conversation().messages[3]?.id).toBe(id)
  })

  test('is kept with the first words of its answer, then about once a second', async () => {
    const { chat, client, frames, keptTexts, pass } = await scene()
    chat.send(draft('hello'), 'm')
    client.last().stream()
    client.last().say('a')
    await settled()
    frames.frame()
    await settled()
    expect(await keptTexts()).toEqual(['hello', 'a'])
    client.last().say('b')
    await settled()
    frames.frame()
    await settled()
    expect(await keptTexts()).toEqual(['hello', 'a'])
    pass(1_000)
    client.last().say('c')
    await settled()
    frames.frame()
    await settled()
    expect(await keptTexts()).toEqual(['hello', 'abc'])
  })

  test('is kept with all there is when the page may be going', async () => {
    const { chat, client, keptTexts } = await scene()
    chat.send(draft('hello'), 'm')
    client.last().stream()
    client.last().say('a')
    await settled()
    chat.keepNow()
    await settled()
    expect(await keptTexts()).toEqual(['hello', 'a'])
  })

  test('tells how long the model thought', async () => {
    const { chat, client, answer, pass } = await scene()
    chat.send(draft('hello'), 'm')
    client.last().stream()
    client.last().event({ choices: [{ delta: { reasoning: 'hm' } }] })
    await settled()
    pass(2_000)
    client.last().say('yes')
    client.last().end()
    await settled()
    expect(answer()).toMatchObject({ text: 'yes', reasoning: 'hm', reasoningMs: 2_000 })
  })

  test('is answered where the answer comes whole', async () => {
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

  test('ends the answer before it', async () => {
    const { chat, client, texts, frames, conversation } = await scene()
    chat.send(draft('a'), 'm')
    client.last().stream()
    client.last().say('half')
    await settled()
    chat.send(draft('b'), 'm')
    expect(client.exchanges[0]?.signal.aborted).toBe(true)
    expect(texts()).toEqual(['a', 'half', 'b', ''])
    client.last().stream()
    client.last().say('c')
    await settled()
    frames.frame()
    expect(texts()).toEqual(['a', 'half', 'b', 'c'])
    expect(conversation().messages[1]).toMatchObject({ status: 'stopped' })
  })
})

describe('chatController › an answer', () => {
  test('that is stopped keeps what came', async () => {
    const { chat, client, answer, kept } = await scene()
    chat.send(draft('hello'), 'm')
    client.last().stream()
    client.last().say('half')
    await settled()
    chat.stop()
    await settled()
    expect(client.last().signal.aborted).toBe(true)
    expect(answer()).toMatchObject({ status: 'stopped', text: 'half' })
    expect(lastOf(await kept())).toMatchObject({ status: 'stopped', text: 'half' })
  })

  test('that is stopped before it began is none', async () => {
    const { chat, answer } = await scene()
    chat.send(draft('hello'), 'm')
    chat.stop()
    await settled()
    expect(answer()).toMatchObject({ status: 'stopped', text: '' })
  })

  test.each(['cut', 'break'] as const)('whose stream ends with a %s was interrupted', async (how) => {
    const { chat, client, answer } = await scene()
    chat.send(draft('hello'), 'm')
    client.last().stream()
    client.last().say('half')
    await settled()
    client.last().end(how)
    await settled()
    expect(answer()).toMatchObject({ status: 'interrupted', text: 'half' })
  })

  test('that is refused says why, and who was asked', async () => {
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
    ['asks for what is remembered of it', () => apiError(502, 'provider_error'), 3],
    ['asks for no more when nobody is signed in', () => apiError(401, 'invalid_session'), 0],
    ['asks for no more when the service is not reached', () => new Unreachable('gone'), 0],
  ])('that fails %s', async (_, error, times) => {
    const { chat, client } = await scene()
    chat.send(draft('hello'), 'm')
    client.last().fail(error())
    await settled()
    expect(client.read).toHaveLength(times)
  })

  test('of a service that is not reached says so', async () => {
    const { chat, client, answer } = await scene()
    chat.send(draft('hello'), 'm')
    client.last().fail(new Unreachable('gone'))
    await settled()
    expect(answer()).toMatchObject({ status: 'failed', error: { kind: 'network', message: 'gone' } })
  })

  test('tells where it comes from: first what its headers say, then what the service remembers', async () => {
    const { chat, client, answer, kept } = await scene()
    chat.send(draft('hello'), 'm')
    const { requestId: id } = client.last()
    client.last().stream({ 'x-svc-provider': 'b', 'x-svc-model': 'up' })
    client.last().say('yes')
    await settled()
    client.records.set(id, {
      time: 0,
      id,
      model: 'm',
      stream: true,
      status: 200,
      provider: 'b',
      trail: [{ provider: 'b', ms: 1 }],
      totalMs: 9,
      cost: 0.25,
    })
    client.last().end()
    await settled()
    expect(answer()?.provenance).toMatchObject({
      requestId: id,
      provider: 'b',
      model: 'up',
      trail: [{ provider: 'b', ms: 1 }],
      totalMs: 9,
      cost: 0.25,
    })
    expect(lastOf(await kept())?.provenance).toMatchObject({ cost: 0.25 })
  })
})

describe('chatController › once more', () => {
  const said = [userMessage('a'), answerMessage({ text: 'one' }), userMessage('b'), answerMessage({ text: 'two' })]

  test('a retry asks the same again, and keeps the old answer until the new one begins', async () => {
    const { chat, client, texts, keptTexts, frames } = await scene(said)
    chat.retry('other')
    expect(texts()).toEqual(['a', 'one', 'b', ''])
    await settled()
    expect(client.last().body).toMatchObject({
      model: 'other',
      messages: [{ content: 'a' }, { content: 'one' }, { content: 'b' }],
    })
    expect(await keptTexts()).toEqual(['a', 'one', 'b', 'two'])
    client.last().stream()
    client.last().say('three')
    await settled()
    frames.frame()
    await settled()
    expect(await keptTexts()).toEqual(['a', 'one', 'b', 'three'])
  })

  test('a retry that fails can be undone, and leaves what is kept', async () => {
    const { chat, client, texts, keptTexts } = await scene(said)
    chat.retry('m')
    client.last().fail(new Unreachable('gone'))
    await settled()
    chat.retry('m')
    client.last().fail(new Unreachable('gone'))
    await settled()
    expect(texts()).toEqual(['a', 'one', 'b', ''])
    expect(await keptTexts()).toEqual(['a', 'one', 'b', 'two'])
    chat.undo()
    expect(texts()).toEqual(['a', 'one', 'b', 'two'])
    expect(chat.state.get().replaced).toBeUndefined()
  })

  test('an edit replaces what came after, and can be undone', async () => {
    const { chat, client, texts, reply, keptTexts } = await scene(said)
    chat.edit(said[0]?.id ?? '', draft('A'), 'm')
    expect(client.last().body).toMatchObject({ messages: [{ content: 'A' }] })
    await reply('new')
    expect(texts()).toEqual(['A', 'new'])
    chat.undo()
    await settled()
    expect(texts()).toEqual(['a', 'one', 'b', 'two'])
    expect(await keptTexts()).toEqual(['a', 'one', 'b', 'two'])
  })

  test('a message that follows leaves nothing to undo', async () => {
    const { chat, reply } = await scene(said)
    chat.retry('m')
    await reply('three')
    expect(chat.state.get().replaced).toHaveLength(4)
    chat.send(draft('c'), 'm')
    expect(chat.state.get().replaced).toBeUndefined()
  })

  test('an answer that goes on is sent with what there is, and appended to', async () => {
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

  test('an answer that failed and goes on has failed no more', async () => {
    const failed = answerMessage({ text: 'Once', status: 'failed', error: { kind: 'network', message: 'gone' } })
    const { chat, answer, reply } = await scene([userMessage('a'), failed])
    chat.continueAnswer('m')
    expect(answer()).not.toHaveProperty('error')
    await reply(' more')
    expect(answer()).not.toHaveProperty('error')
  })

  test('what is remembered of a request comes too late for the one after it', async () => {
    const client = fakeClient()
    const waited = Promise.withResolvers<void>()
    const chat = chatController({
      id: 'c',
      begins: settings,
      client,
      history: memoryHistory(),
      frameClock: fakeFrames(),
      wait: () => waited.promise,
    })
    chat.send(draft('a'), 'm')
    const { requestId: id } = client.last()
    client.last().stream()
    client.last().say('Half')
    await settled()
    chat.stop()
    await settled()
    client.records.set(id, { time: 0, id, model: 'm', stream: true, status: 499, trail: [], totalMs: 9, cost: 7 })
    chat.continueAnswer('m')
    client.last().stream()
    client.last().end()
    await settled()
    waited.resolve()
    await settled()
    const provenance = lastAnswer(chat.state.get().conversation)?.provenance
    expect(provenance?.requestId).toBe(client.last().requestId)
    expect(provenance?.cost).toBeUndefined()
  })

  test('an answer that goes on in vain keeps what there was', async () => {
    const { chat, client, answer, kept } = await scene([
      userMessage('a'),
      answerMessage({ text: 'Once', status: 'interrupted' }),
    ])
    chat.continueAnswer('m')
    client.last().fail(new Unreachable('gone'))
    await settled()
    expect(answer()).toMatchObject({ status: 'failed', text: 'Once' })
    expect(lastOf(await kept())).toMatchObject({ status: 'failed', text: 'Once' })
  })

  test('a removed message is gone, and comes back', async () => {
    const { chat, texts, keptTexts } = await scene(said)
    chat.removeMessage(said[1]?.id ?? '')
    await settled()
    expect(await keptTexts()).toEqual(['a', 'b', 'two'])
    chat.undo()
    await settled()
    expect(texts()).toEqual(['a', 'one', 'b', 'two'])
    expect(await keptTexts()).toEqual(['a', 'one', 'b', 'two'])
  })
})

describe('chatController › the history', () => {
  test('has what is shown', async () => {
    const { chat, texts } = await scene([userMessage('a'), answerMessage({ status: 'streaming', text: 'half' })])
    expect(texts()).toEqual(['a', 'half'])
    expect(chat.state.get().phase).toBe('ready')
    expect(lastAnswer(chat.state.get().conversation)?.status).toBe('interrupted')
  })

  test('has what was rescued when the page went', async () => {
    const rescued = new Map<string, AssistantMessage>()
    const rescue: Rescue = {
      put: (id, answer) => void rescued.set(id, answer),
      take: (conversation) => ({
        ...conversation,
        messages: conversation.messages.map((message) => rescued.get(conversation.id) ?? message),
      }),
    }
    const client = fakeClient(),
      history = memoryHistory()
    const chat = chatController({
      id: 'c',
      begins: settings,
      client,
      history,
      frameClock: fakeFrames(),
      rescued: rescue,
    })
    chat.send(draft('a'), 'm')
    client.last().stream()
    client.last().say('Half')
    await settled()
    chat.keepNow()
    expect(rescued.get('c')?.text).toBe('Half')
    await settled()
    const after = chatController({ id: 'c', client, history, frameClock: fakeFrames(), rescued: rescue })
    await settled()
    expect(lastAnswer(after.state.get().conversation)?.text).toBe('Half')
    expect(after.state.get().conversation.messages[0]).toMatchObject({ text: 'Half' })
  })

  test('keeps what was rescued, which is rescued once', async () => {
    const history = memoryHistory(),
      answer = answerMessage({ text: 'Half', status: 'interrupted' })
    await history.put({ ...emptyConversation('c', settings, 0), messages: [userMessage('a'), answer] })
    const rescued: Rescue = { put: () => {}, take: (found) => withMessage(found, { ...answer, text: 'Half of it' }) }
    chatController({ id: 'c', client: fakeClient(), history, frameClock: fakeFrames(), rescued })
    await settled()
    expect((await history.get('c'))?.messages[1]).toMatchObject({ text: 'Half of it', status: 'interrupted' })
  })

  test('may not have it', async () => {
    const chat = chatController({
      id: 'unknown',
      client: fakeClient(),
      history: memoryHistory(),
      frameClock: fakeFrames(),
    })
    expect(chat.state.get().phase).toBe('loading')
    await settled()
    expect(chat.state.get().phase).toBe('missing')
  })

  test('may not be readable', async () => {
    const history: HistoryStore = { ...memoryHistory(), get: () => Promise.reject(new Error('broken')) }
    const chat = chatController({ id: 'c', client: fakeClient(), history, frameClock: fakeFrames() })
    await settled()
    expect(chat.state.get()).toMatchObject({ phase: 'unreadable', failure: new Error('broken') })
  })

  test('that changes elsewhere is shown', async () => {
    const { history, kept, conversation, texts } = await scene([userMessage('a'), answerMessage()])
    const [first] = conversation().messages
    const before = await kept()
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

  test('tells of an answer that is on its way in another tab, for as long as it grows', async () => {
    const history = memoryHistory()
    const waited = Promise.withResolvers<void>()
    const messages = [userMessage('a'), answerMessage({ text: 'b', status: 'streaming' })]
    const before: Conversation = {
      id: 'c',
      title: '',
      isTitled: false,
      isPinned: false,
      created: 0,
      updated: 0,
      settings,
      messages,
    }
    await history.put(before)
    const chat = chatController({
      id: 'c',
      client: fakeClient(),
      history,
      frameClock: fakeFrames(),
      wait: () => waited.promise,
    })
    await settled()
    expect(chat.state.get().isElsewhere).toBe(false)
    await history.put({ ...before, messages: [userMessage('a'), answerMessage({ text: 'bc', status: 'streaming' })] })
    await settled()
    expect(chat.state.get().isElsewhere).toBe(true)
    waited.resolve()
    await settled()
    expect(chat.state.get().isElsewhere).toBe(false)
  })

  test('that gets another title while an answer comes keeps both', async () => {
    const { chat, history, kept, conversation, reply } = await scene([userMessage('a'), answerMessage()])
    chat.send(draft('b'), 'm')
    await settled()
    const before = await kept()
    if (before !== undefined) await history.put({ ...before, title: 'Mine', isTitled: true, isPinned: true })
    await settled()
    await reply('c')
    expect(conversation()).toMatchObject({ title: 'Mine', isTitled: true, isPinned: true })
    expect(await kept()).toMatchObject({
      title: 'Mine',
      isTitled: true,
      isPinned: true,
      messages: [{ text: 'a' }, {}, { text: 'b' }, { text: 'c', status: 'complete' }],
    })
  })

  test('loses it when it is removed, until it is restored', async () => {
    const { chat, client, history, kept, frames, texts } = await scene()
    chat.send(draft('a'), 'm')
    client.last().stream()
    client.last().say('b')
    await settled()
    frames.frame()
    await history.remove('c')
    await settled()
    expect(chat.state.get().phase).toBe('missing')
    expect(client.last().signal.aborted).toBe(true)
    expect(await kept()).toBeUndefined()
    chat.restore()
    await settled()
    expect(chat.state.get().phase).toBe('ready')
    expect(texts()).toEqual(['a', 'b'])
    expect((await kept())?.messages).toHaveLength(2)
  })

  test('that was restored elsewhere is shown again', async () => {
    const { chat, history, kept } = await scene([userMessage('a'), answerMessage()])
    const before = await kept()
    await history.remove('c')
    await settled()
    expect(chat.state.get().phase).toBe('missing')
    if (before !== undefined) await history.restore(before)
    await settled()
    expect(chat.state.get().phase).toBe('ready')
  })

  test('that does not take it says so, and what is shown stays', async () => {
    const history = memoryHistory()
    const full: HistoryStore = { ...history, put: () => Promise.reject(new Error('full')) }
    const { chat, texts } = await scene(undefined, full)
    chat.send(draft('a'), 'm')
    await settled()
    expect(chat.state.get().failure).toEqual(new Error('full'))
    expect(texts()).toEqual(['a', ''])
  })

  test('that does not take it is no reason to forget it: what is shown is nowhere else', async () => {
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

  test('keeps nothing of a conversation in which nothing was said', async () => {
    const { chat, kept } = await scene()
    chat.changeSettings({ ...settings, system: 'x' })
    await settled()
    expect(await kept()).toBeUndefined()
  })
})
