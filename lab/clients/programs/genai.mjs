import { GoogleGenAI } from '@google/genai'
import { png, runScenarios, schema, url, weather, weatherTeller } from './program.mjs'

const { models } = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: url } })
const user = (...parts) => ({ role: 'user', parts })
const tools = [
  {
    functionDeclarations: [
      { name: weather.name, description: weather.description, parametersJsonSchema: weather.schema },
    ],
  },
]

async function streamedText({ model, question }) {
  let text = ''
  for await (const part of await models.generateContentStream({ model, contents: question })) text += part.text ?? ''
  return { text }
}

/** Runs the tools of an answer, and asks again until there are none. */
async function loop(request, question, tell) {
  const contents = [user({ text: question })]
  for (;;) {
    const answer = await models.generateContent({ ...request, contents })
    if (answer.functionCalls === undefined) return { text: answer.text, contents }
    const results = answer.functionCalls.map(({ id, name, args }) => ({
      functionResponse: { id, name, response: { output: tell(args) } },
    }))
    contents.push(answer.candidates[0].content, user(...results))
  }
}

await runScenarios({
  async text({ model, question }) {
    return { text: (await models.generateContent({ model, contents: question })).text }
  },
  stream: streamedText,
  async tools({ model, question }) {
    const { ran, tell } = weatherTeller()
    const { text } = await loop({ model, config: { tools } }, question, tell)
    return { text, ran }
  },
  async structured({ model, question }) {
    const config = { responseMimeType: 'application/json', responseJsonSchema: schema }
    return { value: JSON.parse((await models.generateContent({ model, contents: question, config })).text) }
  },
  async image({ model, question }) {
    const contents = [user({ inlineData: { mimeType: 'image/png', data: png } }, { text: question })]
    return { text: (await models.generateContent({ model, contents })).text }
  },
  async reasoning({ model, question }) {
    const config = { tools, maxOutputTokens: 9_000, thinkingConfig: { includeThoughts: true, thinkingBudget: 2_048 } }
    const { text, contents } = await loop({ model, config }, question, () => '20 degrees')
    const parts = contents.flatMap(({ role, parts: all }) => (role === 'model' ? all : []))
    return { text, thinking: parts.map((part) => (part.thought ? part.text : '')).join('') }
  },
  async abort({ model, question }) {
    const controller = new AbortController()
    try {
      const config = { abortSignal: controller.signal }
      for await (const part of await models.generateContentStream({ model, contents: question, config }))
        if (part.text) controller.abort()
      return { aborted: false }
    } catch {
      return { aborted: controller.signal.aborted }
    }
  },
  cut: streamedText,
  down: streamedText,
  late: streamedText,
})
