import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { ChatOpenAI } from '@langchain/openai'
import { png, runScenarios, schema, url, weather, weatherTeller } from './program.mjs'

const [, , , format] = process.argv
const common = { apiKey: 'any', maxRetries: 0 }
const configuration = { baseURL: `${url}/v1` }
const makers = {
  chat: (model) => new ChatOpenAI({ ...common, model, configuration }),
  responses: (model) => new ChatOpenAI({ ...common, model, configuration, useResponsesApi: true, zdrEnabled: true }),
  messages: (model) => new ChatAnthropic({ ...common, model, anthropicApiUrl: url }),
  gemini: (model) => new ChatGoogleGenerativeAI({ ...common, model, baseUrl: url }),
}
const chat = makers[format]

async function streamedText({ model, question }) {
  let text = ''
  for await (const part of await chat(model).stream(question)) text += part.text
  return { text }
}

await runScenarios({
  async text({ model, question }) {
    return { text: (await chat(model).invoke(question)).text }
  },
  stream: streamedText,
  async tools({ model, question }) {
    const { ran, tell } = weatherTeller()
    const bound = chat(model).bindTools([
      tool(tell, { name: weather.name, description: weather.description, schema: weather.schema }),
    ])
    const turns = [new HumanMessage(question)]
    for (;;) {
      let message
      for await (const part of await bound.stream(turns)) message = message?.concat(part) ?? part
      turns.push(message)
      if (message.tool_calls.length === 0) return { text: message.text, ran }
      for (const { id, name, args } of message.tool_calls)
        turns.push(new ToolMessage({ content: tell(args), tool_call_id: id, name }))
    }
  },
  async structured({ model, question }) {
    const form = { title: 'answer', description: 'The answer.', ...schema }
    return { value: await chat(model).withStructuredOutput(form, { method: 'jsonSchema' }).invoke(question) }
  },
  async image({ model, question }) {
    const content = [
      { type: 'text', text: question },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ]
    return { text: (await chat(model).invoke([new HumanMessage({ content })])).text }
  },
  cut: streamedText,
  down: streamedText,
  late: streamedText,
})
