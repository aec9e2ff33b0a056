import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import { png, runScenarios, url, weather, weatherTeller } from './program.mjs'

const agentOf = (id, tools) =>
  new Agent({
    id: 'tester',
    name: 'tester',
    instructions: 'Be brief.',
    model: { id: `svc/${id}`, url: `${url}/v1`, apiKey: 'any' },
    maxRetries: 0,
    ...(tools === undefined ? {} : { tools }),
  })

async function streamedText({ model, question }) {
  const output = await agentOf(model).stream(question)
  let text = ''
  for await (const part of output.fullStream) {
    if (part.type === 'error') throw part.payload.error
    if (part.type === 'text-delta') text += part.payload.text
  }
  return { text }
}

await runScenarios({
  async text({ model, question }) {
    return { text: (await agentOf(model).generate(question)).text }
  },
  stream: streamedText,
  async tools({ model, question }) {
    const { ran, tell } = weatherTeller()
    const told = createTool({
      id: weather.name,
      description: weather.description,
      inputSchema: z.object({ city: z.string() }),
      execute: async (input) => tell(input),
    })
    const { text } = await agentOf(model, { [weather.name]: told }).generate(question, { maxSteps: 4 })
    return { text, ran }
  },
  async structured({ model, question }) {
    const schema = z.object({ population_of_matrix: z.number() })
    const { object } = await agentOf(model).generate(question, { structuredOutput: { schema } })
    return { value: object }
  },
  async image({ model, question }) {
    const content = [
      { type: 'text', text: question },
      { type: 'image', image: `data:image/png;base64,${png}`, mimeType: 'image/png' },
    ]
    return { text: (await agentOf(model).generate([{ role: 'user', content }])).text }
  },
  cut: streamedText,
  down: streamedText,
  late: streamedText,
})
