import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { pick } from '../client.ts'
import type { Spoken } from '../fakes/faults/spoken.ts'
import { chatLanguage } from '../fakes/languages/chat.ts'
import {
  answering,
  eventsOf,
  streamed,
  type Language,
  type Piece,
  type ProviderLanguage,
  type Tool,
} from '../fakes/languages/language.ts'
import { messagesLanguage } from '../fakes/languages/messages.ts'
import { responsesLanguage } from '../fakes/languages/responses.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { expectFailed, failedEvents } from './failed-stream.ts'
import { ask, languages, stage } from './stage.ts'

const text = 'Some text 👩‍👩‍👧 of one answer.'
const said: Piece = { kind: 'text', text }
const thought: Piece = { kind: 'thinking', text: 'Let me see about it.', seal: 'sealed' }
const called: Piece = { kind: 'call', call: { id: 'call_7', name: 'weather', input: { city: 'Rome' } } }
const weather: Tool = {
  name: 'weather',
  description: 'Tells the weather.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

/** Events without content that providers send among others. */
const pings: Readonly<Record<Language['name'], string>> = {
  chat: ': ping\n\n',
  gemini: ': ping\n\n',
  messages: 'event: ping\ndata: {"type":"ping"}\n\n',
  responses: 'event: keepalive\ndata: {"type":"keepalive"}\n\n',
}

function partsOf(provider: ProviderLanguage, pieces: readonly Piece[]): readonly string[] {
  // Chat completions number calls, other formats all pieces.
  const first = provider === chatLanguage.provider ? pieces.findIndex(({ kind }) => kind === 'call') : 0
  return pieces.flatMap((piece, index) => provider.piece(piece, Math.max(0, index - Math.max(0, first))))
}

/** Sends a half of the text, and a ping after it, and loses the connection. */
const cutInText: Spoken = ({ name, provider }) =>
  streamed(provider, [...provider.begin(), pings[name], ...provider.half(said, 0), pings[name]], 'close')

/** Repeats the text under another identity, with these pieces behind it. */
function repeating(...more: readonly Piece[]): Spoken {
  return ({ provider }) => {
    const pieces = [said, ...more]
    const events = [...provider.begin(), ...partsOf(provider, pieces), ...provider.end(pieces)]
    return streamed(provider, events.map(renamed))
  }
}

/** An event of another answer: its ids, and the name of its model. */
function renamed(event: string): string {
  return event
    .replace(/"(chatcmpl-|msg_|resp_|r)1"/g, '"$1other"')
    .replaceAll('"item_', '"other_')
    .replaceAll('"upstream-model"', '"other-model"')
    .replaceAll('1700000000', '1800000000')
}

/** Sends the whole text with the events that end it, and loses the connection before the finish. */
const cutBehindText: Spoken = ({ provider }) =>
  streamed(provider, [...provider.begin(), ...provider.piece(said, 0)], 'close')

/** Like {@link repeating}, but lost again, a little later. */
const cutLater: Spoken = ({ provider }) => {
  const events = [...provider.begin(), ...provider.piece(said, 0).slice(0, -3)]
  return streamed(provider, events.map(renamed), 'close')
}

/** Sends these pieces, the last one by half, and loses the connection. */
function cutIn(...pieces: readonly Piece[]): Spoken {
  const last = pieces.length - 1
  return ({ provider }) => {
    const half = provider.half(pieces[last] ?? said, provider === chatLanguage.provider ? 0 : last)
    return streamed(provider, [...provider.begin(), ...partsOf(provider, pieces.slice(0, last)), ...half], 'close')
  }
}

/** Sends a whole call, and loses the connection before the finish. */
const cutBehindCall: Spoken = ({ provider }) =>
  streamed(provider, [...provider.begin(), ...provider.piece(called, 0)], 'close')

/** Begins a call, and claims to be over. Gemini has calls whole. */
const overInCall: Spoken = ({ provider }) =>
  streamed(provider, [...provider.begin(), ...provider.half(called, 0), 'data: [DONE]\n\n'])

interface Lost {
  readonly words: string
  readonly spoken: Spoken
  readonly kind: 'call' | 'reasoning'
}

const lost: readonly Lost[] = [
  { words: 'in a call', spoken: cutIn(called), kind: 'call' },
  { words: 'behind a call', spoken: cutBehindCall, kind: 'call' },
  { words: 'in a call after text', spoken: cutIn(said, called), kind: 'call' },
  { words: 'in a call, though it claims to be over', spoken: overInCall, kind: 'call' },
  { words: 'in reasoning', spoken: cutIn(thought), kind: 'reasoning' },
  { words: 'in text after reasoning', spoken: cutIn(thought, said), kind: 'reasoning' },
]

/** A caller's format before those of the providers of a model. */
interface Route {
  readonly caller: Language
  readonly first: Language
  readonly second: Language
  readonly model: string
}

/** Callers of Gemini get calls at the finish, and reasoning of others only if they ask for it. */
function isUnseen({ caller, first }: Route, { kind }: Lost): boolean {
  return caller.name === 'gemini' && (kind === 'call' || first.name !== 'gemini')
}

type Json = Readonly<Record<string, unknown>>

function distinct(values: readonly unknown[]): readonly unknown[] {
  return [...new Set(values.filter((value) => value !== undefined))]
}

/** What must hold in a caller's format for the events of one answer. */
const audits: Readonly<Record<Language['name'], (events: readonly unknown[], body: string) => void>> = {
  chat(events) {
    const chunks = events.filter((each) => each !== '[DONE]')
    for (const member of ['id', 'created', 'model', 'object'])
      expect(distinct(chunks.map((each) => pick(each, member)))).toHaveLength(1)
    expect(chunks.flatMap((each) => pick(each, 'choices', 0, 'delta', 'role') ?? [])).toEqual(['assistant'])
  },

  messages(events, body) {
    expect(events.filter((each) => pick(each, 'type') === 'message_start')).toHaveLength(1)
    expect(
      pick(
        events.find((each) => pick(each, 'type') === 'message_start'),
        'message',
        'model',
      ),
    ).not.toBe('other-model')
    expect(body).not.toContain('msg_other')
  },

  responses(events) {
    const numbered = events.filter((each) => each !== '[DONE]')
    expect(numbered.map((each) => pick(each, 'sequence_number'))).toEqual(numbered.map((_, number) => number))
    for (const member of ['id', 'created_at', 'model'])
      expect(distinct(numbered.map((each) => pick(each, 'response', member)))).toHaveLength(1)
    expect(pick(numbered.at(-1), 'response', 'model')).not.toBe('other-model')
    checkItems(numbered)
  },

  gemini(events) {
    for (const member of ['responseId', 'modelVersion'])
      expect(distinct(events.map((each) => pick(each, member)))).toHaveLength(1)
    expect(events.map((each) => pick(each, 'candidates', 0, 'index') ?? 0).every((index) => index === 0)).toBe(true)
  },
}

/** Every item begins and ends once, under one id, and its last events have all of its text. */
function checkItems(events: readonly unknown[]): void {
  const output = pick(events.at(-1), 'response', 'output')
  const items: readonly unknown[] = Array.isArray(output) ? output : []
  expect(items.length).toBeGreaterThan(0)
  for (const [index, item] of items.entries()) {
    const id = pick(item, 'id')
    const own = events.filter((each) => pick(each, 'output_index') === index)
    const of = (type: string): readonly Json[] =>
      own.filter((each) => pick(each, 'type') === `response.${type}`).map((each) => ({ ...Object(each) }))
    expect(distinct(own.map((each) => pick(each, 'item_id') ?? pick(each, 'item', 'id')))).toEqual([id])
    expect(of('output_item.added')).toHaveLength(1)
    expect(of('output_item.done').map((each) => each['item'])).toEqual([item])
    const delivered = of('output_text.delta')
      .map((each) => each['delta'])
      .join('')
    if (pick(item, 'type') !== 'message') continue
    expect(distinct(own.map((each) => pick(each, 'content_index')))).toEqual([0])
    expect(of('output_text.done').map((each) => each['text'])).toEqual([delivered])
    expect(of('content_part.added')).toHaveLength(1)
    expect(of('content_part.done').map((each) => pick(each, 'part', 'text'))).toEqual([delivered])
    expect(pick(item, 'content', 0, 'text')).toBe(delivered)
  }
}

interface Judged {
  readonly text: string
  readonly calls: readonly unknown[]
  readonly usage: readonly unknown[]
}

/** What the official library of a caller makes of the stream. It throws for an error, and for a stream out of order. */
const libraries: Readonly<Partial<Record<Language['name'], (url: string, model: string) => Promise<Judged>>>> = {
  async chat(url, model) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0 })
    const body = chatLanguage.caller.body({
      model,
      stream: true,
      turns: [{ role: 'user', text: 'Hello' }],
      tools: [weather],
    })
    const answer = await client.chat.completions.stream(body as never).finalChatCompletion()
    const { content, tool_calls = [] } = answer.choices[0]?.message ?? {}
    return {
      text: content ?? '',
      calls: tool_calls.map((call) => JSON.parse(call.type === 'function' ? call.function.arguments : '')),
      usage: [answer.usage?.prompt_tokens, answer.usage?.completion_tokens],
    }
  },

  async messages(url, model) {
    const client = new Anthropic({ baseURL: url, apiKey: 'any', maxRetries: 0 })
    const body = messagesLanguage.caller.body({
      model,
      stream: true,
      turns: [{ role: 'user', text: 'Hello' }],
      tools: [weather],
    })
    const { content, usage } = await client.messages.stream(body as never).finalMessage()
    return {
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : [])),
      usage: [usage.input_tokens, usage.output_tokens],
    }
  },

  async responses(url, model) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0 })
    const body = responsesLanguage.caller.body({
      model,
      stream: true,
      turns: [{ role: 'user', text: 'Hello' }],
      tools: [weather],
    })
    const answer = await client.responses.stream(body as never).finalResponse()
    return {
      text: answer.output_text,
      calls: answer.output.flatMap((item) => (item.type === 'function_call' ? [JSON.parse(item.arguments)] : [])),
      usage: [answer.usage?.input_tokens, answer.usage?.output_tokens],
    }
  },
}

const upstream = stage()
const routes: readonly Route[] = languages.flatMap((caller) =>
  languages.flatMap((first) =>
    languages.map((second) => ({ caller, first, second, model: `${caller.name}-${first.name}-${second.name}` })),
  ),
)
/** Whether the call was whole: those of Gemini are. Chat completions do not tell before the finish. */
function hasEnd({ caller, first }: Route, { spoken }: Lost): boolean {
  if (first.name === 'gemini') return true
  return spoken === cutBehindCall && (first.name === 'messages' || caller === first)
}

/** Routes of their own for each row of {@link lost}: failures open circuit breakers. */
const lostRoutes = lost.map(({ spoken }, row) =>
  routes
    .filter(({ first, second }) => first === second && (spoken !== overInCall || first.name !== 'gemini'))
    .map((route) => ({ ...route, model: `lost-${row}-${route.model}` })),
)
const customRoutes = routes
  .filter(({ caller, first, second }) => caller === responsesLanguage && first === second && first.name !== 'gemini')
  .map((route) => ({ ...route, model: `custom-${route.model}` }))
/** Routes of their own, as above. */
const behindRoutes = routes
  .filter(({ first, second }) => first === second)
  .map((route) => ({ ...route, model: `behind-${route.model}` }))
/** Routes whose second provider continues an answer. */
const continuedRoutes = routes
  .filter(({ first, second }) => first !== responsesLanguage && second === chatLanguage)
  .map((route) => ({ ...route, model: `continued-${route.model}` }))
/** With the defaults, and without holding calls. */
let service: ServiceUnderTest, passing: ServiceUnderTest

function providersOf(all: readonly Route[]) {
  return all.flatMap(({ first, second, model }) => [
    upstream.add({ id: `a-${model}`, language: first, model, spoken: cutInText }),
    upstream.add({
      id: `b-${model}`,
      language: second,
      model,
      spoken: repeating(),
      entry: model.startsWith('continued-') ? { brand: 'llamacpp' } : {},
    }),
    upstream.add({ id: `c-${model}`, language: first, model, spoken: repeating() }),
  ])
}

beforeAll(async () => {
  service = await startService({ providers: providersOf([...routes, ...behindRoutes, ...continuedRoutes]) })
  passing = await startService({
    providers: providersOf([...lostRoutes.flat(), ...customRoutes]),
    failover: { hold: 'none' },
  })
})

afterAll(async () => {
  upstream.stop()
  await Promise.all([service.stop(), passing.stop()])
})

/** Asks on a route, with the library, too. Each provider answers as given. */
async function asked({ caller, model }: Route, ...spoken: readonly Spoken[]) {
  for (const [index, each] of spoken.entries()) upstream.use(`${'abc'.charAt(index)}-${model}`, each)
  const before = hitsOf(model)
  const { url } = /^(?:lost|custom)-/.test(model) ? passing : service
  const answer = await ask(url, caller, { model, stream: true, tools: [weather] })
  const hits = hitsOf(model).map((count, index) => count - (before[index] ?? 0))
  return { answer, hits, events: eventsOf(answer.body) }
}

/** Expects the whole text in one complete answer, after these requests to the providers. */
function expectResumed(
  { caller, model }: Route,
  { answer, hits, events }: Awaited<ReturnType<typeof asked>>,
  expectedHits: number[],
): void {
  expect([model, answer.text, answer.error, answer.isComplete, hits]).toEqual([
    model,
    text,
    undefined,
    true,
    expectedHits,
  ])
  audits[caller.name](events, answer.body)
}

function hitsOf(model: string): readonly number[] {
  return ['a', 'b', 'c'].map((role) => upstream.hits(`${role}-${model}`).length)
}

const titled = languages.map((caller) => [caller.title, routes.filter((each) => each.caller === caller)] as const)

describe.each(titled)('a cut stream for a caller of %s', (_, own) => {
  test('is resumed at every provider after every other, and looks like one answer', async () => {
    for (const route of own) {
      const { answer, hits, events } = await asked(route, cutInText, repeating())
      expect([route.model, answer.status, answer.text, answer.error, answer.isComplete, answer.usage, hits]).toEqual([
        route.model,
        200,
        text,
        undefined,
        true,
        [3, 5],
        [1, 1, 0],
      ])
      audits[route.caller.name](events, answer.body)
      const judged = await libraries[route.caller.name]?.(service.url, route.model)
      if (judged !== undefined) expect([route.model, judged]).toEqual([route.model, { text, calls: [], usage: [3, 5] }])
    }
  })

  test('is resumed with a call after its text', async () => {
    for (const route of own) {
      const { answer, hits, events } = await asked(route, cutInText, repeating(called))
      const calls = answer.calls.map(({ name, input }) => ({ name, input }))
      expect([route.model, answer.text, answer.error, answer.isComplete, calls, hits]).toEqual([
        route.model,
        text,
        undefined,
        true,
        [{ name: 'weather', input: { city: 'Rome' } }],
        [1, 1, 0],
      ])
      audits[route.caller.name](events, answer.body)
      const judged = await libraries[route.caller.name]?.(service.url, route.model)
      if (judged !== undefined)
        expect([route.model, judged]).toEqual([route.model, { text, calls: [{ city: 'Rome' }], usage: [3, 5] }])
    }
  })

  test('that is lost again is resumed again', async () => {
    for (const route of own) {
      expectResumed(route, await asked(route, cutInText, cutLater, repeating()), [1, 1, 1])
    }
  })
})

describe.each(languages.map((each) => [each.title, each] as const))('a stream for a caller of %s', (_, caller) => {
  test.each(lost.map((row, index) => [row.words, row, lostRoutes[index] ?? []] as const))(
    'lost %s ends with an error',
    async (_words, row, own) => {
      for (const route of own.filter((each) => each.caller === caller)) {
        const seen = await asked(route, row.spoken, repeating(called))
        if (isUnseen(route, row)) {
          expect([route.model, seen.answer.isComplete, seen.hits]).toEqual([route.model, true, [1, 1, 0]])
          continue
        }
        expect([route.model, seen.hits]).toEqual([route.model, [1, 0, 0]])
        expectFailed(route, seen.answer, row.kind === 'call' && hasEnd(route, row))
        const judged = await libraries[caller.name]?.(passing.url, route.model).catch((error: unknown) => error)
        if (judged !== undefined) expect(judged).toBeInstanceOf(Error)
      }
    },
  )
})

test('a stream that is cut behind its text and before its finish is resumed in every format', async () => {
  for (const route of behindRoutes) {
    expectResumed(route, await asked(route, cutBehindText, repeating()), [1, 1, 0])
  }
})

describe('the input of a custom tool for a caller of Responses', () => {
  const patch: Piece = { kind: 'call', call: { id: 'call_7', name: 'patch', input: { input: 'Some text of a patch' } } }
  const named = (data: Json) => `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`
  const item = {
    id: 'ctc_1',
    type: 'custom_tool_call',
    status: 'in_progress',
    call_id: 'call_7',
    name: 'patch',
    input: '',
  }
  const native: Spoken = ({ provider }) =>
    streamed(
      provider,
      [
        ...provider.begin(),
        named({ type: 'response.output_item.added', output_index: 0, item }),
        named({ type: 'response.custom_tool_call_input.delta', item_id: 'ctc_1', output_index: 0, delta: 'Some t' }),
      ],
      'close',
    )

  test.each(customRoutes.map((route) => [route.first.title, route] as const))(
    'that a provider of %s cuts never ends',
    async (_, { model, caller, first }) => {
      upstream.use(`a-${model}`, first === caller ? native : cutIn(patch))
      const question = { model, stream: true, turns: [{ role: 'user', text: 'Hello' }] } as const
      const body = { ...caller.caller.body(question), tools: [{ type: 'custom', name: 'patch' }] }
      const response = await fetch(`${passing.url}/v1/responses`, { method: 'POST', body: JSON.stringify(body) })
      const text = await response.text()
      const seen = [
        'custom_tool_call_input.delta',
        '"delta":"S',
        'input.done',
        'item.done',
        'response.completed',
        '[DONE]',
      ]
      expect(seen.filter((each) => text.includes(each))).toEqual(seen.slice(0, 2))
      expect(eventsOf(text).slice(-2)).toMatchObject([...failedEvents.responses])
    },
  )
})

describe.each(languages.map((each) => [each.title, each] as const))('a cut stream for a caller of %s', (_, caller) => {
  test('is continued by a provider that can, from the text of the caller', async () => {
    for (const route of continuedRoutes.filter((each) => each.caller === caller)) {
      let before = ''
      const rest: Spoken = (language) => (exchange) => {
        const messages = pick(JSON.parse(new TextDecoder().decode(exchange.hit.body)), 'messages')
        const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined
        before = pick(last, 'role') === 'assistant' ? String(pick(last, 'content')) : 'nothing'
        return answering(language, [{ kind: 'text', text: text.slice(before.length) }])(exchange)
      }
      const { answer, hits, events } = await asked(route, cutInText, rest)
      expect([route.model, before.length > 0, text.startsWith(before)]).toEqual([route.model, true, true])
      expectResumed(route, { answer, hits, events }, [1, 1, 0])
    }
  })
})
