import OpenAI from 'openai'
import { png, runScenarios, schema, url, weather, weatherTeller } from './program.mjs'

const { chat } = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0 })
const messagesOf = (content) => [{ role: 'user', content }]
const tools = [
  { type: 'function', function: { name: weather.name, description: weather.description, parameters: weather.schema } },
]

async function streamedText({ model, question }) {
  const stream = chat.completions.stream({ model, messages: messagesOf(question) })
  return { text: (await stream.finalChatCompletion()).choices[0].message.content }
}

await runScenarios({
  async text({ model, question }) {
    const { choices } = await chat.completions.create({ model, messages: messagesOf(question) })
    return { text: choices[0].message.content }
  },
  stream: streamedText,
  async tools({ model, question }) {
    const { ran, tell } = weatherTeller()
    const runner = chat.completions.runTools({
      model,
      stream: true,
      messages: messagesOf(question),
      tools: [
        {
          type: 'function',
          function: {
            name: weather.name,
            description: weather.description,
            parameters: weather.schema,
            parse: JSON.parse,
            function: tell,
          },
        },
      ],
    })
    return { text: await runner.finalContent(), ran }
  },
  async structured({ model, question }) {
    const { choices } = await chat.completions.parse({
      model,
      messages: messagesOf(question),
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    })
    return { value: JSON.parse(choices[0].message.content) }
  },
  async image({ model, question }) {
    const content = [
      { type: 'text', text: question },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ]
    const { choices } = await chat.completions.create({ model, messages: messagesOf(content) })
    return { text: choices[0].message.content }
  },
  async reasoning({ model, question }) {
    const asked = { model, tools, reasoning_effort: 'high', max_completion_tokens: 9_000 }
    const first = await chat.completions.create({ ...asked, messages: messagesOf(question) })
    const { message } = first.choices[0]
    const results = message.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '20 degrees' }))
    const second = await chat.completions.create({
      ...asked,
      messages: [...messagesOf(question), message, ...results],
    })
    return { thinking: message.reasoning_content, text: second.choices[0].message.content }
  },
  async abort({ model, question }) {
    const stream = chat.completions.stream({ model, messages: messagesOf(question) })
    stream.on('content', () => stream.abort())
    return stream.finalChatCompletion().then(
      () => ({ aborted: false }),
      (error) => ({ aborted: error.constructor.name === 'APIUserAbortError' }),
    )
  },
  cut: streamedText,
  down: streamedText,
  late: streamedText,
})
