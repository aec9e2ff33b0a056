import OpenAI from 'openai'
import { png, runScenarios, schema, url, weather, weatherTeller } from './program.mjs'

const { responses } = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0 })
const tools = [
  { type: 'function', name: weather.name, description: weather.description, parameters: weather.schema, strict: true },
]

async function streamedText({ model, question }) {
  const stream = responses.stream({ model, input: question, store: false })
  return { text: (await stream.finalResponse()).output_text }
}

/** Runs the tools of an answer, and asks again until there are none. */
async function loop(request, input, tell) {
  for (;;) {
    const answer = await responses.stream({ ...request, input, store: false }).finalResponse()
    const calls = answer.output.filter(({ type }) => type === 'function_call')
    if (calls.length === 0) return { text: answer.output_text, input }
    const outputs = calls.map((call) => ({
      type: 'function_call_output',
      call_id: call.call_id,
      output: tell(JSON.parse(call.arguments)),
    }))
    input = [...input, ...answer.output, ...outputs]
  }
}

await runScenarios({
  async text({ model, question }) {
    return { text: (await responses.create({ model, input: question })).output_text }
  },
  stream: streamedText,
  async tools({ model, question }) {
    const { ran, tell } = weatherTeller()
    const { text } = await loop({ model, tools }, [{ role: 'user', content: question }], tell)
    return { text, ran }
  },
  async structured({ model, question }) {
    const answer = await responses.parse({
      model,
      input: question,
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
    })
    return { value: JSON.parse(answer.output_text) }
  },
  async image({ model, question }) {
    const content = [
      { type: 'input_text', text: question },
      { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
    ]
    return { text: (await responses.create({ model, input: [{ role: 'user', content }] })).output_text }
  },
  async reasoning({ model, question }) {
    const request = {
      model,
      tools,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
      max_output_tokens: 9_000,
    }
    const { text, input } = await loop(request, [{ role: 'user', content: question }], () => '20 degrees')
    const items = input.filter(({ type }) => type === 'reasoning')
    return { text, thinking: items.flatMap(({ summary }) => summary.map((part) => part.text)).join('') }
  },
  async abort({ model, question }) {
    const stream = responses.stream({ model, input: question, store: false })
    stream.on('response.output_text.delta', () => stream.abort())
    return stream.finalResponse().then(
      () => ({ aborted: false }),
      (error) => ({ aborted: error.constructor.name === 'APIUserAbortError' }),
    )
  },
  cut: streamedText,
  down: streamedText,
  async late({ model, question }) {
    const stream = responses.stream({ model, input: question, store: false })
    const { status, error } = await stream.finalResponse()
    if (status !== 'completed') throw new Error(error?.message ?? status)
    return { status }
  },
})
