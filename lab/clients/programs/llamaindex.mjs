import { OpenAI } from '@llamaindex/openai'
import { agent } from '@llamaindex/workflow'
import { tool } from 'llamaindex'
import { z } from 'zod'
import { png, runScenarios, url, weather, weatherTeller } from './program.mjs'

const chat = (model) => new OpenAI({ model, apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
const messagesOf = (content) => ({ messages: [{ role: 'user', content }] })

async function streamedText({ model, question }) {
  let text = ''
  for await (const part of await chat(model).chat({ ...messagesOf(question), stream: true })) text += part.delta
  return { text }
}

await runScenarios({
  async text({ model, question }) {
    return { text: (await chat(model).chat(messagesOf(question))).message.content }
  },
  stream: streamedText,
  async tools({ model, question }) {
    const { ran, tell } = weatherTeller()
    const parameters = z.object({ city: z.string() })
    const tools = [tool({ name: weather.name, description: weather.description, parameters, execute: tell })]
    const { data } = await agent({ llm: chat(model), tools }).run(question)
    return { text: data.result, ran }
  },
  async structured({ model, question }) {
    const responseFormat = z.object({ population_of_matrix: z.number() })
    const { message } = await chat(model).chat({ ...messagesOf(question), responseFormat })
    return { value: JSON.parse(message.content) }
  },
  async image({ model, question }) {
    const content = [
      { type: 'text', text: question },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ]
    return { text: (await chat(model).chat(messagesOf(content))).message.content }
  },
  cut: streamedText,
  down: streamedText,
  late: streamedText,
})
