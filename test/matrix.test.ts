import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { withSection } from '../scripts/write-section.ts'
import { profileAt } from '../src/profiles/resolve-profile.ts'
import { refusedBy } from '../src/profiles/strict-target-testing.ts'
import { faultUpstream, type FaultUpstream, type Script } from './fakes/fault-upstream.ts'
import { status } from './fakes/faults/status.ts'
import { chatLanguage } from './fakes/languages/chat.ts'
import { geminiLanguage } from './fakes/languages/gemini.ts'
import {
  answering,
  breaking,
  type Answer,
  type Language,
  type Piece,
  type Question,
  type Tool,
} from './fakes/languages/language.ts'
import { messagesLanguage } from './fakes/languages/messages.ts'
import { responsesLanguage } from './fakes/languages/responses.ts'
import { errorReply } from './fakes/replies.ts'
import { startService, type ServiceUnderTest } from './harness.ts'

/**
 * Runs each feature for callers of each format at providers of each format, and compares the outcomes with the matrix
 * of docs/protocols.md. `UPDATE_DOCS=1` writes the table instead of comparing it.
 */

const callers: readonly Language[] = [chatLanguage, messagesLanguage, responsesLanguage, geminiLanguage]
const providers = callers
const columns = ['plain', 'stream', 'tools', 'image', 'structured', 'reasoning', 'cut', 'error'] as const
type Column = (typeof columns)[number]

const text = 'Hello, you out there.'
const thought = 'Let me see about it.'
const png = 'iVBORw0KGgpBTUFUUklY'
const schema = {
  type: 'object',
  properties: { population_of_matrix: { type: 'integer' } },
  required: ['population_of_matrix'],
  additionalProperties: false,
}
const structured = '{"population_of_matrix":7}'
const weather: Tool = {
  name: 'weather',
  description: 'Tells the weather.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const calls: readonly Piece[] = ['Rome', 'Oslo'].map((city, index) => ({
  kind: 'call',
  call: { id: `call_${index}`, name: 'weather', input: { city } },
}))

/** Models whose name matters: one with the strictest template, others that have reasoning with signatures. */
const models: Readonly<Record<Language['name'], string>> = {
  chat: 'mistral-large',
  messages: 'claude-sonnet-4-5',
  responses: 'gpt-5.6',
  gemini: 'gemini-3-pro',
}

const strictest = profileAt({ protocol: 'openai', model: models.chat })

/** A provider that speaks Responses speaks chat completions, too. */
function languageOf(language: Language, path: string): Language {
  return path.endsWith('/chat/completions') ? chatLanguage : language
}

/** Answers by marks in the text of the question. */
function answersOf(provider: Language): Script {
  return (exchange) => {
    const language = languageOf(provider, exchange.hit.path)
    const says = (...pieces: readonly Piece[]) => answering(language, pieces)
    const body = new TextDecoder().decode(exchange.hit.body)
    const refusal = provider === chatLanguage ? refusedBy(strictest, JSON.parse(body)) : undefined
    if (refusal !== undefined) return exchange.write(errorReply(400, { message: `refused: ${refusal}` }))
    if (body.includes('[[back]]')) return says({ kind: 'text', text: 'Sunny.' })(exchange)
    if (body.includes('[[tools]]')) return says(...calls)(exchange)
    if (body.includes('[[think]]'))
      return says({ kind: 'thinking', text: thought, seal: `seal-of-${language.name}` }, ...calls.slice(0, 1))(exchange)
    return says({ kind: 'text', text: body.includes('[[structured]]') ? structured : text })(exchange)
  }
}

/** The first provider of a model, which fails in the marked way. */
function failuresOf(provider: Language): Script {
  return (exchange) => {
    const language = languageOf(provider, exchange.hit.path)
    const body = new TextDecoder().decode(exchange.hit.body)
    const half: readonly Piece[] = [{ kind: 'text', text }]
    if (body.includes('[[cut]]')) return breaking(language, half, 'cut')(exchange)
    if (body.includes('[[late]]')) return breaking(language, half, 'error')(exchange)
    if (body.includes('[[call]]')) return breaking(language, calls.slice(0, 1), 'cut')(exchange)
    return status(503)(exchange)
  }
}

const upstreams = providers.map((language) => ({
  language,
  first: faultUpstream(failuresOf(language)),
  main: faultUpstream(answersOf(language)),
}))
const rooted = ({ url }: FaultUpstream) => url.replace(/\/v1$/, '')
let service: ServiceUnderTest

beforeAll(async () => {
  const entries = upstreams.flatMap(({ language: { name, provider }, first, main }) => {
    const entry = (id: string, upstream: FaultUpstream, served: readonly string[]) => ({
      id,
      base_url: name === 'chat' || name === 'responses' ? upstream.url : rooted(upstream),
      api_key: 'k',
      ...provider.entry,
      ...(name === 'responses' ? { brand: 'openai' } : {}),
      models: served.map((model) => ({ name: model, upstream: models[name] })),
    })
    // One failing provider for each purpose and caller: their health must not matter to another.
    const failing = callers.flatMap((caller) =>
      ['cut', 'call', 'next', 'late', 'alone'].map((way) => [`${name}-${way}-${caller.name}`, way] as const),
    )
    return [
      ...failing.map(([model]) => entry(`first-${model}`, first, [model])),
      entry(`main-${name}`, main, [
        name,
        ...failing.flatMap(([model, way]) => (way === 'cut' || way === 'next' ? [model] : [])),
      ]),
    ]
  })
  service = await startService({ providers: entries })
})

afterAll(async () => {
  for (const { first, main } of upstreams) for (const each of [first, main]) each.stop()
  await service.stop()
})

/** One caller's format before one provider's. */
interface Pair {
  readonly caller: Language
  readonly provider: Language
  readonly main: FaultUpstream
}

/** Asks in the caller's format: the answer, and the body of the request. */
async function ask(
  { caller, provider }: Pair,
  question: Partial<Question>,
  mark: string,
  model: string = provider.name,
) {
  const asked: Question = { model, stream: false, turns: [{ role: 'user', text: mark }], ...question }
  const body = JSON.stringify(caller.caller.body(asked))
  const response = await fetch(`${service.url}${caller.caller.path(asked)}`, { method: 'POST', body })
  const read = await response.text()
  const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
  const answer: Answer = { status: response.status, ...caller.caller.read(read, isStream) }
  return { answer, asked, body }
}

/** The request with a mark, as the main provider received it: its body, and the format of that. */
function received({ main, provider }: Pair, mark: string) {
  const hits = main.hits.map(({ body, path }) => ({ body: new TextDecoder().decode(body), path }))
  const found = hits.filter(({ body }) => body.includes(mark))
  expect(found).toHaveLength(1)
  const { body = '', path = '' } = found[0] ?? {}
  return { body, language: languageOf(provider, path) }
}

/** How the request went: as it was, but for the model's name, or translated. */
function way(pair: Pair, mark: string, body: string): string {
  const sent = received(pair, mark)
  if (pair.caller !== sent.language) return '→'
  const { name } = pair.provider
  expect(sent.body).toBe(body.replace(`"model":"${name}"`, `"model":"${models[name]}"`))
  return '='
}

/** Sends the results of all calls of an answer, and returns that request as the main provider received it. */
async function sendResults(pair: Pair, mark: string, { answer, asked }: { answer: Answer; asked: Question }) {
  const results = answer.calls.map(({ id, name }, index) => ({ id, name, text: `${20 + index} degrees` }))
  const back = `${mark} [[back]]`
  const turns = [
    { role: 'user', text: back },
    { role: 'assistant', answer },
    { role: 'results', results },
  ] as const
  const second = await ask(pair, { ...asked, stream: false, turns }, back)
  expect(second.answer).toMatchObject({ status: 200, text: 'Sunny.', isComplete: true })
  return received(pair, back)
}

const runs: Readonly<Record<Column, (pair: Pair, mark: string) => Promise<string>>> = {
  async plain(pair, mark) {
    const { answer, body } = await ask(pair, {}, mark)
    expect(answer).toMatchObject({ status: 200, text, isComplete: true, usage: [3, 5] })
    return way(pair, mark, body)
  },

  async stream(pair, mark) {
    const { answer, body } = await ask(pair, { stream: true }, mark)
    expect(answer).toMatchObject({ status: 200, text, isComplete: true, usage: [3, 5] })
    return way(pair, mark, body)
  },

  async tools(pair, mark) {
    const asks = `${mark} [[tools]]`
    const { answer, asked, body } = await ask(pair, { stream: true, tools: [weather] }, asks)
    const whole = await ask(pair, { tools: [weather] }, asks.replace('matrix', 'whole'))
    for (const each of [answer, whole.answer]) {
      expect(each).toMatchObject({ status: 200, isComplete: true })
      expect(each.calls.map(({ name, input }) => [name, input])).toEqual([
        ['weather', { city: 'Rome' }],
        ['weather', { city: 'Oslo' }],
      ])
    }
    const seen = way(pair, asks, body)
    const { body: sent, language } = await sendResults(pair, mark, { answer, asked })
    expect(sent.match(language.provider.resultMark)).toHaveLength(2)
    for (const each of ['Rome', 'Oslo', '20 degrees', '21 degrees']) expect(sent).toContain(each)
    return seen
  },

  async image(pair, mark) {
    const turns = [{ role: 'user', text: mark, png }] as const
    const { answer, body } = await ask(pair, { turns }, mark)
    expect(answer).toMatchObject({ status: 200, text, isComplete: true })
    expect(received(pair, mark).body).toContain(png)
    return way(pair, mark, body)
  },

  async structured(pair, mark) {
    const asks = `${mark} [[structured]]`
    const { answer, body } = await ask(pair, { schema }, asks)
    expect(answer).toMatchObject({ status: 200, text: structured, isComplete: true })
    expect(received(pair, asks).body).toContain('population_of_matrix')
    return way(pair, asks, body)
  },

  async reasoning(pair, mark) {
    const asks = `${mark} [[think]]`
    const { answer, asked, body } = await ask(pair, { stream: true, tools: [weather], thinks: true }, asks)
    expect(answer).toMatchObject({ status: 200, thinking: thought, isComplete: true })
    const seen = way(pair, asks, body)
    const { body: sent, language } = await sendResults(pair, mark, { answer, asked })
    if (sent.includes(`seal-of-${language.name}`)) return `${seen} signed`
    return sent.includes(thought) ? `${seen} text` : `${seen} shown`
  },

  async cut(pair, mark) {
    const { provider, caller } = pair
    const resumed = await ask(pair, { stream: true }, `${mark} [[cut]]`, `${provider.name}-cut-${caller.name}`)
    expect(resumed.answer).toMatchObject({ status: 200, text, isComplete: true })
    const model = `${provider.name}-call-${caller.name}`
    const { answer } = await ask(pair, { stream: true, tools: [weather] }, `${mark} [[call]]`, model)
    expect(answer).toMatchObject({ isComplete: false, error: expect.any(String) })
    // A call of Gemini comes whole.
    const whole = answer.calls.filter(({ input }) => 'city' in input && input.city === 'Rome')
    if (provider !== geminiLanguage) expect(whole).toEqual([])
    return 'resumed'
  },

  async error(pair, mark) {
    const { provider, caller } = pair
    const next = await ask(pair, { stream: true }, mark, `${provider.name}-next-${caller.name}`)
    expect(next.answer).toMatchObject({ status: 200, text, isComplete: true })
    const alone = await ask(pair, {}, mark, `${provider.name}-alone-${caller.name}`)
    expect(alone.answer).toMatchObject({ isComplete: false, error: expect.stringContaining('All providers failed') })
    expect(alone.answer.status).toBeGreaterThanOrEqual(500)
    const late = await ask(pair, { stream: true }, `${mark} [[late]]`, `${provider.name}-late-${caller.name}`)
    expect(late.answer).toMatchObject({ status: 200, isComplete: false, error: expect.any(String) })
    return 'own'
  },
}

/** The cells that were seen, by caller, provider and column. */
const cells = new Map<string, string>()

describe('a caller of', () => {
  for (const caller of callers) {
    test.each(upstreams.map(({ language, main }) => [language.title, { caller, provider: language, main }] as const))(
      `${caller.title}, at a provider of %s`,
      async (_, pair) => {
        await Promise.all(
          columns.map(async (column) => {
            const name = `${caller.name}/${pair.provider.name}/${column}`
            cells.set(name, await runs[column](pair, `matrix:${name}:`))
          }),
        )
      },
    )
  }
})

const path = new URL('../docs/protocols.md', import.meta.url).pathname
/** The table of the document. */
function table(): string {
  const rows = callers.flatMap((caller) =>
    providers.map((provider) => [
      caller.title,
      provider.title,
      ...columns.map((column) => cells.get(`${caller.name}/${provider.name}/${column}`) ?? 'fails'),
    ]),
  )
  const line = (texts: readonly string[]) => `| ${texts.join(' | ')} |\n`
  const top = ['Caller', 'Provider', ...columns]
  return line(top) + `|${'---|'.repeat(top.length)}\n` + rows.map(line).join('')
}

test('docs/protocols.md has this matrix (UPDATE_DOCS=1 writes it)', () => {
  const document = readFileSync(path, 'utf8')
  const current = withSection(document, 'matrix', table())
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(path, current)
  else expect(document).toBe(current)
})
