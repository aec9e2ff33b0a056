import Anthropic from '@anthropic-ai/sdk'
import { png, runScenarios, schema, url, weather, weatherTeller } from './program.mjs'

const { messages } = new Anthropic({ baseURL: url, authToken: 'any', apiKey: null, maxRetries: 0 })
const asking = (content) => ({ max_tokens: 9_000, messages: [{ role: 'user', content }] })
const tools = [{ name: weather.name, description: weather.description, input_schema: weather.schema }]
const textOf = ({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')).join('')

async function streamedText({ model, question }) {
  return { text: textOf(await messages.stream({ model, ...asking(question) }).finalMessage()) }
}

/** Runs the tools of an answer, and asks again until there are none. */
async function loop(request, question, tell) {
  const turns = [{ role: 'user', content: question }]
  for (;;) {
    const message = await messages.stream({ max_tokens: 9_000, ...request, messages: turns }).finalMessage()
    if (message.stop_reason !== 'tool_use') return { text: textOf(message), turns }
    const calls = message.content.filter(({ type }) => type === 'tool_use')
    const results = calls.map(({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: tell(input) }))
    turns.push({ role: 'assistant', content: message.content }, { role: 'user', content: results })
  }
}

await runScenarios({
  async text({ model, question }) {
    return { text: textOf(await messages.create({ model, ...asking(question) })) }
  },
  stream: streamedText,
  async tools({ model, question }) {
    const { ran, tell } = weatherTeller()
    const { text } = await loop({ model, tools }, question, tell)
    return { text, ran }
  },
  async structured({ model, question }) {
    const answer = await messages.create({
      model,
      ...asking(question),
      output_config: { format: { type: 'json_schema', schema } },
    })
    return { value: JSON.parse(textOf(answer)) }
  },
  async image({ model, question }) {
    const source = { type: 'base64', media_type: 'image/png', data: png }
    const content = [
      { type: 'image', source },
      { type: 'text', text: question },
    ]
    return { text: textOf(await messages.create({ model, ...asking(content) })) }
  },
  async reasoning({ model, question }) {
    const thinking = { type: 'enabled', budget_tokens: 2_048 }
    const { text, turns } = await loop({ model, tools, thinking }, question, () => '20 degrees')
    const blocks = turns.flatMap(({ role, content }) => (role === 'assistant' ? content : []))
    return { text, thinking: blocks.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('') }
  },
  async abort({ model, question }) {
    const stream = messages.stream({ model, ...asking(question) })
    stream.on('text', () => stream.abort())
    return stream.finalMessage().then(
      () => ({ aborted: false }),
      (error) => ({ aborted: error.constructor.name === 'APIUserAbortError' }),
    )
  },
  cut: streamedText,
  down: streamedText,
  late: streamedText,
})
