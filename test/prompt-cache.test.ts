import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../src/base/json-value.ts'
import { startUpstreamProcess, type UpstreamProcess } from './fakes/process.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'
import { until } from './ledger-rig.ts'

const model = 'claude-sonnet-5'
const price = { input: 3, output: 15, cached_input: 0.3 }
/** Some 4,000 bytes are 1,000 tokens of the fake. */
const text = (tokens: number, about: string) => `${about} `.padEnd(tokens * 4 - 30, 'word ')
const system = text(8_000, 'You write programs.')
const schema = { type: 'object', properties: { path: { type: 'string', description: text(4_000, 'a path') } } }

let upstream: UpstreamProcess
let service: ServiceUnderTest

beforeAll(async () => {
  upstream = await startUpstreamProcess('prompt-cache.ts')
  const base = `${upstream.origin}/v1`
  service = await startService({
    providers: [
      provider('anthropic', base, [model], { prompt_cache: 'auto', price }),
      provider('hour', base, ['claude-opus-5'], { brand: 'anthropic', prompt_cache: '1h', price }),
      provider('off', base, ['claude-opus-4-8'], { brand: 'anthropic' }),
    ],
  })
})

afterAll(async () => {
  await service.stop()
  await upstream.stop()
})

interface Tokens {
  input: number
  read: number
  written: number
  saved: number
}

/** Asks, and returns what the log says of the request, with the tokens of the fake. */
async function ask(path: string, body: JsonObject): Promise<Tokens> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer: unknown = await response.json()
  expect({ status: response.status, answer: response.ok || answer }).toEqual({ status: 200, answer: true })
  const id = response.headers.get('x-request-id')
  const find = () => service.logs.findLast((each) => each['id'] === id)
  await until(() => find() !== undefined)
  const [input = 0, read = 0, written = 0] = countsIn(JSON.stringify(answer))
  return { input, read, written, saved: Number(find()?.['saved_usd'] ?? 0) }
}

/** Counts of Messages; those of the others have no count of writes. */
function countsIn(answer: string): readonly number[] {
  const count = (name: string) => Number(new RegExp(`"${name}":(\\d+)`).exec(answer)?.[1] ?? 0)
  const read = count('cache_read_input_tokens') + count('cached_tokens') + count('cachedContentTokenCount')
  const written = count('cache_creation_input_tokens')
  const whole = count('prompt_tokens') + count('promptTokenCount')
  return [whole === 0 ? count('input_tokens') + read + written : whole, read, written]
}

async function lastSent(): Promise<string> {
  return (await fetch(`${upstream.origin}/last`)).text()
}

function sum(all: readonly Tokens[], name: keyof Tokens): number {
  return all.reduce((total, each) => total + each[name], 0)
}

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const tool = { name: 'read', description: 'reads a file', input_schema: schema }

describe('a session without marks', () => {
  test('of 40 turns reads at least 90 % of its input from the cache, and costs 70 % less', async () => {
    const messages: JsonObject[] = []
    const turns: Tokens[] = []
    for (let turn = 0; turn < 40; turn += 1) {
      const result = { type: 'tool_result', tool_use_id: `t${turn - 1}`, content: text(1_000, `file ${turn}`) }
      messages.push(user(turn === 0 ? text(1_000, 'Do it.') : [result]))
      turns.push(await ask('/v1/messages', { model, max_tokens: 99, system, tools: [tool], messages }))
      messages.push(assistant([{ type: 'tool_use', id: `t${turn}`, name: 'read', input: { path: `${turn}` } }]))
    }
    const input = sum(turns, 'input')
    const share = sum(turns, 'read') / input
    const saved = sum(turns, 'saved') / ((input * price.input) / 1e6)
    console.log(`40 turns: ${input} tokens, ${(share * 100).toFixed(1)} % read, ${(-saved * 100).toFixed(1)} % cost`)
    expect(share).toBeGreaterThanOrEqual(0.9)
    expect(saved).toBeGreaterThanOrEqual(0.7)
  })

  test.each([
    [
      '/v1/chat/completions',
      (turns: readonly string[]) => ({
        model,
        messages: [
          { role: 'system', content: system },
          ...turns.map((said, at) => (at % 2 ? assistant(said) : user(said))),
        ],
      }),
    ],
    [
      '/v1/responses',
      (turns: readonly string[]) => ({
        ...{ model, instructions: system },
        input: turns.map((said, at) => (at % 2 ? assistant(said) : user(said))),
      }),
    ],
    [
      `/v1beta/models/${model}:generateContent`,
      (turns: readonly string[]) => ({
        systemInstruction: { parts: [{ text: system }] },
        contents: turns.map((said, at) => ({ role: at % 2 ? 'model' : 'user', parts: [{ text: said }] })),
      }),
    ],
  ])('of a caller of %s is cached', async (path, bodyOf) => {
    const said = [text(1_000, `${path} 1`), 'Done.', text(1_000, `${path} 2`), 'Done.', text(1_000, `${path} 3`)]
    await ask(path, bodyOf(said.slice(0, 3)))
    expect((await ask(path, bodyOf(said))).read).toBeGreaterThan(9_900)
  })

  test('of turns of 22 blocks is read', async () => {
    const calls = (turn: number) =>
      Array.from({ length: 11 }, (_, at) => ({ type: 'tool_use', id: `c${turn}_${at}`, name: 'read', input: {} }))
    const results = (turn: number) =>
      Array.from({ length: 11 }, (_, at) => ({ type: 'tool_result', tool_use_id: `c${turn}_${at}`, content: 'ok' }))
    const messages = [user(text(2_000, 'long turns')), assistant(calls(0)), user(results(0))]
    const first = await ask('/v1/messages', { model, max_tokens: 99, messages, tools: [tool] })
    messages.push(assistant(calls(1)), user(results(1)))
    const second = await ask('/v1/messages', { model, max_tokens: 99, messages, tools: [tool] })
    expect(second.read).toBe(first.input)
  })

  test('reads the system of another question, whose text is not written', async () => {
    const of = (question: string) => ({ model, max_tokens: 99, system: `${system}.`, messages: [user(question)] })
    const first = await ask('/v1/messages', of(text(2_000, 'one')))
    const second = await ask('/v1/messages', of(text(2_000, 'two')))
    expect([first.read, second.read, second.written]).toEqual([0, first.written, 0])
    expect(first.saved).toBeLessThan(0)
    expect(second.saved).toBeGreaterThan(0)
  })

  test('is kept for an hour where the owner says so', async () => {
    const body = { model: 'claude-opus-5', max_tokens: 99, system, messages: [user('hi')] }
    const first = await ask('/v1/messages', body)
    await fetch(`${upstream.origin}/clock`, { method: 'POST', body: String(50 * 60_000) })
    expect((await ask('/v1/messages', body)).read).toBe(first.written)
  })
})

describe('the bytes of a request stay', () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const marked: readonly (readonly [string, JsonObject])[] = [
    ['tools', { tools: [{ ...tool, ...mark }], messages: [user('hi')] }],
    ['system', { system: [{ type: 'text', text: system, ...mark }], messages: [user('hi')] }],
    ['a message', { messages: [user([{ type: 'text', text: system, ...mark }])] }],
    [
      'a result',
      {
        messages: [
          user([{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: system, ...mark }] }]),
        ],
      },
    ],
    ['the top level', { ...mark, system, messages: [user('hi')] }],
  ]
  test.each(marked)('with a mark in %s', async (_, more) => {
    const body = { model, max_tokens: 99, ...more }
    await ask('/v1/messages', body)
    expect(await lastSent()).toBe(JSON.stringify(body))
  })

  test('where the owner switched it off, and below the minimum', async () => {
    for (const body of [
      { model: 'claude-opus-4-8', max_tokens: 99, system, messages: [user('hi')] },
      { model, max_tokens: 99, system: 'Be brief.', messages: [user('hi'), assistant('hi'), user('so')] },
    ]) {
      await ask('/v1/messages', body)
      expect(await lastSent()).toBe(JSON.stringify(body))
    }
  })
})
