import { pick } from '../../client.ts'
import { event } from '../replies.ts'
import { eventsOf, pieces, type Language, type Piece, type Question, type Turn } from './language.ts'

const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 }

/** The thinking before a call is sealed on the call. */
function partsOf(all: readonly Piece[]): readonly object[] {
  return all.map((piece, index) => {
    switch (piece.kind) {
      case 'text':
        return { text: piece.text }
      case 'thinking':
        return { text: piece.text, thought: true }
      case 'call': {
        const before = all[index - 1]
        const { name, input: args } = piece.call
        const seal = before?.kind === 'thinking' ? { thoughtSignature: before.seal } : {}
        return { functionCall: { name, args }, ...seal }
      }
    }
  })
}

function answer(parts: readonly object[], finishReason?: string): object {
  return {
    candidates: [
      { content: { role: 'model', parts }, index: 0, ...(finishReason === undefined ? {} : { finishReason }) },
    ],
    usageMetadata,
    modelVersion: 'upstream-model',
    responseId: 'r1',
  }
}

function contentOf(turn: Turn): object {
  switch (turn.role) {
    case 'user': {
      const image = turn.png === undefined ? [] : [{ inlineData: { mimeType: 'image/png', data: turn.png } }]
      return { role: 'user', parts: [...image, { text: turn.text }] }
    }
    case 'assistant':
      return { role: 'model', parts: turn.answer.turn }
    case 'results':
      return {
        role: 'user',
        parts: turn.results.map(({ name, id, text }) => ({
          functionResponse: { ...(id === '' ? {} : { id }), name, response: { output: text } },
        })),
      }
  }
}

function body({ turns, tools, schema, thinks }: Question): object {
  const config = {
    ...(schema === undefined ? {} : { responseMimeType: 'application/json', responseJsonSchema: schema }),
    ...(thinks === true
      ? { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_048 }, maxOutputTokens: 9_000 }
      : {}),
  }
  return {
    contents: turns.map(contentOf),
    ...(tools === undefined
      ? {}
      : {
          tools: [
            {
              functionDeclarations: tools.map(({ name, description, schema: parametersJsonSchema }) => ({
                name,
                description,
                parametersJsonSchema,
              })),
            },
          ],
        }),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
  }
}

/** Google's generateContent. */
export const geminiLanguage: Language = {
  name: 'gemini',
  title: 'Gemini',

  provider: {
    entry: { protocol: 'gemini' },
    resultMark: /"functionResponse":/g,
    whole: (all) => answer(partsOf(all), 'STOP'),
    begin: () => [],
    piece(piece) {
      if (piece.kind === 'text') return pieces(piece.text).map((text) => event(answer([{ text }])))
      if (piece.kind === 'thinking') return pieces(piece.text).map((text) => event(answer([{ text, thought: true }])))
      const { name, input: args } = piece.call
      return [event(answer([{ functionCall: { name, args }, thoughtSignature: 'seal-of-gemini' }]))]
    },
    half(piece, index) {
      const events = this.piece(piece, index)
      return events.slice(0, Math.ceil(events.length / 2))
    },
    end: () => [event(answer([], 'STOP'))],
    failure: event({ error: { code: 503, message: 'No more', status: 'UNAVAILABLE' } }),
  },

  caller: {
    path: ({ model, stream }) =>
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body,
    read(text, isStream) {
      const events = isStream ? eventsOf(text) : [JSON.parse(text)]
      const parts = events.flatMap((each) => {
        const found = pick(each, 'candidates', 0, 'content', 'parts')
        return Array.isArray(found) ? (found as readonly unknown[]) : []
      })
      const error = events.map((each) => pick(each, 'error', 'message')).find((each) => each !== undefined)
      const finishes = events.map((each) => pick(each, 'candidates', 0, 'finishReason')).filter(Boolean)
      const usage = events.map((each) => pick(each, 'usageMetadata')).findLast((each) => Boolean(each))
      const texts = (isThought: boolean) =>
        parts
          .map((part) => (Boolean(pick(part, 'thought')) === isThought ? String(pick(part, 'text') ?? '') : ''))
          .join('')
      return {
        text: texts(false),
        thinking: texts(true),
        calls: parts.flatMap((part) => {
          const call = pick(part, 'functionCall')
          if (call === undefined) return []
          const input = Object(pick(call, 'args')) as object
          return [{ id: String(pick(call, 'id') ?? ''), name: String(pick(call, 'name')), input }]
        }),
        isComplete: error === undefined && finishes.join() === 'STOP' && !events.includes('[DONE]'),
        error: error === undefined ? undefined : String(error),
        usage: [pick(usage, 'promptTokenCount'), pick(usage, 'candidatesTokenCount')],
        turn: parts,
      }
    },
  },
}
