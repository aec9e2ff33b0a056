import { pick } from '../../client.ts'
import { chunk, completion, done, event, usageChunk } from '../replies.ts'
import { eventsOf, pieces, type Call, type Language, type Piece, type Question, type Turn } from './language.ts'

type JsonObject = Readonly<Record<string, unknown>>

function writtenCall({ id, name, input }: Call, index?: number): object {
  const written = { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
  return index === undefined ? written : { index, ...written }
}

function textIn(all: readonly Piece[], kind: 'text' | 'thinking'): string {
  return all.map((piece) => (piece.kind === kind && 'text' in piece ? piece.text : '')).join('')
}

function callsIn(all: readonly Piece[]): readonly Call[] {
  return all.flatMap((piece) => (piece.kind === 'call' ? [piece.call] : []))
}

function messageOf(turn: Turn): readonly unknown[] {
  switch (turn.role) {
    case 'user':
      return [{ role: 'user', content: contentOf(turn) }]
    case 'assistant':
      return [turn.answer.turn]
    case 'results':
      return turn.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }))
  }
}

function contentOf({ text, png }: Extract<Turn, { readonly role: 'user' }>): unknown {
  if (png === undefined) return text
  return [
    { type: 'text', text },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
  ]
}

/** Adds the deltas of a stream up to one message. */
function gather(deltas: readonly unknown[]): JsonObject {
  const message: Record<string, unknown> = { role: 'assistant', content: '' }
  const calls: Record<string, unknown>[] = []
  for (const delta of deltas) {
    for (const [name, value] of Object.entries(Object(delta) as JsonObject)) {
      if (name === 'tool_calls' && Array.isArray(value)) for (const call of value) addCall(calls, call)
      else if (Array.isArray(value)) message[name] = [...((message[name] as unknown[] | undefined) ?? []), ...value]
      else if (typeof value === 'string' && name !== 'role') message[name] = `${String(message[name] ?? '')}${value}`
    }
  }
  return calls.length === 0 ? message : { ...message, tool_calls: calls }
}

function addCall(calls: Record<string, unknown>[], delta: unknown): void {
  const { index, ...members } = Object(delta) as JsonObject
  const known = calls[Number(index)]
  if (known === undefined) calls[Number(index)] = members
  else {
    const [before, more] = [pick(known, 'function'), pick(members, 'function')]
    const text = `${String(pick(before, 'arguments') ?? '')}${String(pick(more, 'arguments') ?? '')}`
    Object.assign(known, members, { function: { ...Object(before), ...Object(more), arguments: text } })
  }
}

function body({ model, stream, turns, tools, schema, thinks }: Question): object {
  return {
    model,
    messages: turns.flatMap(messageOf),
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, schema: parameters }) => ({
            type: 'function',
            function: { name, description, parameters },
          })),
        }),
    ...(schema === undefined
      ? {}
      : { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } }),
    ...(thinks === true ? { reasoning_effort: 'high', max_completion_tokens: 9_000 } : {}),
  }
}

/** The widely used chat completions. */
export const chatLanguage: Language = {
  name: 'chat',
  title: 'chat completions',

  provider: {
    entry: { protocol: 'openai' },
    resultMark: /"role":\s*"tool"/g,
    whole(all) {
      const calls = callsIn(all)
      const thinking = textIn(all, 'thinking')
      return completion(textIn(all, 'text') || null, {
        message: {
          ...(thinking === '' ? {} : { reasoning_content: thinking }),
          ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => writtenCall(call)) }),
        },
        choice: { finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' },
      })
    },
    begin: () => [event(chunk({ role: 'assistant', content: '' }))],
    piece(piece, index) {
      switch (piece.kind) {
        case 'text':
          return pieces(piece.text).map((content) => event(chunk({ content })))
        case 'thinking':
          return pieces(piece.text).map((reasoning_content) => event(chunk({ reasoning_content })))
        case 'call': {
          const { id, name, input } = piece.call
          const text = JSON.stringify(input)
          const start = { index, id, type: 'function', function: { name, arguments: '' } }
          return [start, ...pieces(text).map((more) => ({ index, function: { arguments: more } }))].map((call) =>
            event(chunk({ tool_calls: [call] })),
          )
        }
      }
    },
    half(piece, index) {
      const events = this.piece(piece, index)
      return events.slice(0, Math.ceil(events.length / 2))
    },
    end: (all) => [event(chunk({}, callsIn(all).length === 0 ? 'stop' : 'tool_calls')), event(usageChunk()), done],
    failure: event({ error: { message: 'No more', type: 'server_error', code: 'server_error' } }),
  },

  caller: {
    path: () => '/v1/chat/completions',
    body,
    read(text, isStream) {
      const events = isStream ? eventsOf(text) : [JSON.parse(text)]
      const message = isStream
        ? gather(events.map((each) => pick(each, 'choices', 0, 'delta')))
        : (Object(pick(events[0], 'choices', 0, 'message')) as JsonObject)
      const error = events.map((each) => pick(each, 'error', 'message')).find((each) => each !== undefined)
      const usage = events.map((each) => pick(each, 'usage')).findLast((each) => Boolean(each))
      const finishes = events.map((each) => pick(each, 'choices', 0, 'finish_reason')).filter(Boolean)
      const calls = message['tool_calls']
      return {
        text: String(message['content'] ?? ''),
        thinking: String(message['reasoning_content'] ?? ''),
        calls: Array.isArray(calls)
          ? calls.map((call: unknown) => ({
              id: String(pick(call, 'id')),
              name: String(pick(call, 'function', 'name')),
              input: parsed(String(pick(call, 'function', 'arguments'))),
            }))
          : [],
        isComplete: error === undefined && finishes.length === 1 && (!isStream || events.at(-1) === '[DONE]'),
        error: error === undefined ? undefined : String(error),
        usage: [pick(usage, 'prompt_tokens'), pick(usage, 'completion_tokens')],
        turn: message,
      }
    },
  },
}

function parsed(text: string): object {
  try {
    return Object(JSON.parse(text)) as object
  } catch {
    // The call was cut.
    return { cut: text }
  }
}
