import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { startService, type ServiceUnderTest } from './harness.ts'

const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string', enum: ['Bern', 'Rome'] } },
  required: ['city'],
  additionalProperties: false,
}

describe('client libraries, without any provider', () => {
  let service: ServiceUnderTest, openai: OpenAI, anthropic: Anthropic

  beforeAll(async () => {
    service = await startService({ providers: [{ id: 'echo' }] })
    openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'any', maxRetries: 0 })
    anthropic = new Anthropic({ baseURL: service.url, authToken: 'any', apiKey: null, maxRetries: 0 })
  })
  afterAll(() => service.stop())

  const question = { model: 'echo', messages: [{ role: 'user' as const, content: 'weather in Bern' }] }

  test('openai › runs a tool and gets its result back', async () => {
    const cities: string[] = []
    const runner = openai.chat.completions.runTools({
      ...question,
      stream: true,
      // The helper lets the tool be called once if it is named.
      tool_choice: { type: 'function', function: { name: 'weather' } },
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'd',
            parameters,
            parse: (text: string): { city: string } => JSON.parse(text),
            function: ({ city }: { city: string }) => {
              cities.push(city)
              return `sunny in ${city}`
            },
          },
        },
      ],
    })
    const messages = (await runner.done(), runner.messages)
    expect(cities).toEqual(['Bern'])
    expect(messages.at(-1)).toMatchObject({ role: 'tool', content: 'sunny in Bern' })
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }]
    const last = await openai.chat.completions.create({ model: 'echo', messages, tools })
    expect(last.choices[0]).toMatchObject({ message: { content: 'sunny in Bern' }, finish_reason: 'stop' })
  })

  test('openai › Responses, streamed, and parsed structured output', async () => {
    const stream = openai.responses.stream({ model: 'echo', input: 'one two' })
    const streamed = await stream.finalResponse()
    expect([streamed.output_text, streamed.usage?.total_tokens]).toEqual(['one two', 4])
    const format = { type: 'json_schema' as const, name: 'place', schema: parameters, strict: true }
    const parsed = await openai.responses.parse({ model: 'echo', input: 'hi', text: { format } })
    expect(parsed.output_text).toBe('{"city":"Bern"}')
  })

  test('@anthropic-ai/sdk › streams a required call', async () => {
    const tools = [{ name: 'weather', input_schema: parameters }]
    const stream = anthropic.messages.stream({
      ...question,
      max_tokens: 100,
      tools,
      tool_choice: { type: 'tool', name: 'weather' },
    })
    const message = await stream.finalMessage()
    expect(message).toMatchObject({
      content: [{ type: 'tool_use', name: 'weather', input: { city: 'Bern' } }],
      stop_reason: 'tool_use',
      usage: { input_tokens: 3, output_tokens: 1 },
    })
  })

  test('openai › embeddings: texts with common words are nearer than others', async () => {
    const input = ['the cat sat on the mat', 'a cat on a mat', 'quarterly revenue']
    const { data } = await openai.embeddings.create({ model: 'echo', input })
    const [one, near, far] = data.map(({ embedding }) => embedding)
    const product = (other: readonly number[] = []) =>
      other.reduce((sum, value, index) => sum + value * (one?.[index] ?? 0), 0)
    expect(one).toHaveLength(1_536)
    expect(product(near)).toBeGreaterThan(product(far) + 0.3)
  })
})
