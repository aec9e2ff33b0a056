import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import { png, runScenarios, schema, url, weather, weatherTeller } from './program.mjs'

const modelProvider = new OpenAIProvider({ baseURL: `${url}/v1`, apiKey: 'any', useResponses: true })
const runner = new Runner({ modelProvider, tracingDisabled: true })
const agentOf = (model, more = {}) => new Agent({ name: 'a', model, modelSettings: { store: false }, ...more })
const toolOf = (tell) =>
  tool({
    name: weather.name,
    description: weather.description,
    parameters: weather.schema,
    strict: true,
    execute: tell,
  })

async function streamedText({ model, question }) {
  const result = await runner.run(agentOf(model), question, { stream: true })
  await result.completed
  return { text: result.finalOutput }
}

await runScenarios({
  async text({ model, question }) {
    return { text: (await runner.run(agentOf(model), question)).finalOutput }
  },
  stream: streamedText,
  async tools({ model, question }) {
    const { ran, tell } = weatherTeller()
    const result = await runner.run(agentOf(model, { tools: [toolOf(tell)] }), question)
    return { text: result.finalOutput, ran }
  },
  async structured({ model, question }) {
    const outputType = { type: 'json_schema', name: 'answer', strict: true, schema }
    return { value: (await runner.run(agentOf(model, { outputType }), question)).finalOutput }
  },
  async image({ model, question }) {
    const content = [
      { type: 'input_text', text: question },
      { type: 'input_image', image: `data:image/png;base64,${png}` },
    ]
    return { text: (await runner.run(agentOf(model), [{ role: 'user', content }])).finalOutput }
  },
  async reasoning({ model, question }) {
    const modelSettings = {
      store: false,
      maxTokens: 9_000,
      reasoning: { effort: 'high', summary: 'auto' },
      providerData: { include: ['reasoning.encrypted_content'] },
    }
    const result = await runner.run(agentOf(model, { tools: [toolOf(() => '20 degrees')], modelSettings }), question)
    const items = result.newItems.filter(({ type }) => type === 'reasoning_item')
    const thinking = items.flatMap(({ rawItem }) => rawItem.content.map(({ text }) => text)).join('')
    return { text: result.finalOutput, thinking }
  },
  async abort({ model, question }) {
    const controller = new AbortController()
    const result = await runner.run(agentOf(model), question, { stream: true, signal: controller.signal })
    let deltas = 0
    for await (const event of result.toTextStream()) {
      if (event !== '' && ++deltas === 1) controller.abort()
    }
    await result.completed.catch(() => undefined)
    return { aborted: controller.signal.aborted && result.finalOutput === undefined }
  },
  cut: streamedText,
  down: streamedText,
  late: streamedText,
})
