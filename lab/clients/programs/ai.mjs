import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai'
import { png, runScenarios, schema, url, weather, weatherTeller } from './program.mjs'

const [, , , library] = process.argv
const makers = {
  openai: () => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' }),
  compatible: () =>
    createOpenAICompatible({ name: 'svc', baseURL: `${url}/v1`, supportsStructuredOutputs: true, includeUsage: true }),
  anthropic: () => createAnthropic({ baseURL: `${url}/v1`, apiKey: 'any' }),
  google: () => createGoogle({ baseURL: `${url}/v1beta`, apiKey: 'any' }),
}
const language = makers[library]()
/** What each provider needs so that its model thinks, and that nothing is stored. */
const thinking = {
  openai: { openai: { store: false, reasoningEffort: 'high', reasoningSummary: 'auto', forceReasoning: true } },
  compatible: { svc: { reasoningEffort: 'high' } },
  anthropic: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2_048 } } },
  google: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_048 } } },
}
const stateless = library === 'openai' ? { openai: { store: false } } : {}
const asking = ({ model, question }) => ({
  model: language(model),
  prompt: question,
  maxRetries: 0,
  providerOptions: stateless,
})
const toolOf = (tell) => ({
  weather: tool({ description: weather.description, inputSchema: jsonSchema(weather.schema), execute: tell }),
})

async function streamedText(asked) {
  let text = ''
  for await (const part of streamText({ ...asking(asked), onError() {} }).fullStream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'text-delta') text += part.text
  }
  return { text }
}

await runScenarios({
  async text(asked) {
    return { text: (await generateText(asking(asked))).text }
  },
  stream: streamedText,
  async tools(asked) {
    const { ran, tell } = weatherTeller()
    const result = streamText({ ...asking(asked), tools: toolOf(tell), stopWhen: stepCountIs(4), onError() {} })
    return { text: await result.text, ran }
  },
  async structured(asked) {
    const output = Output.object({ schema: jsonSchema(schema) })
    return { value: (await generateText({ ...asking(asked), output })).output }
  },
  async image({ model, question }) {
    const content = [
      { type: 'text', text: question },
      { type: 'file', data: png, mediaType: 'image/png' },
    ]
    const { prompt: _prompt, ...rest } = asking({ model, question })
    return { text: (await generateText({ ...rest, messages: [{ role: 'user', content }] })).text }
  },
  async reasoning(asked) {
    const result = streamText({
      ...asking(asked),
      maxOutputTokens: 9_000,
      tools: toolOf(() => '20 degrees'),
      stopWhen: stepCountIs(4),
      providerOptions: thinking[library],
      onError() {},
    })
    const steps = await result.steps
    return { text: await result.text, thinking: steps[0].reasoningText }
  },
  async abort(asked) {
    const controller = new AbortController()
    const result = streamText({ ...asking(asked), abortSignal: controller.signal, onError() {} })
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') controller.abort()
      if (part.type === 'abort') return { aborted: true }
    }
    return { aborted: controller.signal.aborted }
  },
  cut: streamedText,
  down: streamedText,
  late: streamedText,
})
