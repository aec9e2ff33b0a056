import { pick } from '../../client.ts'
import { event } from '../replies.ts'
import { eventsOf, pieces, type Language, type Piece, type Question, type Turn } from './language.ts'

function named(data: { readonly type: string; readonly [member: string]: unknown }): string {
  return `event: ${data.type}\n${event(data)}`
}

const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'upstream-model' }
const counted = { input_tokens: 3, output_tokens: 5 }

function blockOf(piece: Piece): object {
  switch (piece.kind) {
    case 'text':
      return { type: 'text', text: piece.text }
    case 'thinking':
      return { type: 'thinking', thinking: piece.text, signature: piece.seal }
    case 'call':
      return { type: 'tool_use', ...piece.call }
  }
}

function emptyBlock(piece: Piece): object {
  switch (piece.kind) {
    case 'text':
      return { type: 'text', text: '' }
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'call':
      return { type: 'tool_use', ...piece.call, input: {} }
  }
}

function deltasOf(piece: Piece): readonly object[] {
  switch (piece.kind) {
    case 'text':
      return pieces(piece.text).map((text) => ({ type: 'text_delta', text }))
    case 'thinking':
      return [
        ...pieces(piece.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: piece.seal },
      ]
    case 'call':
      return pieces(JSON.stringify(piece.call.input)).map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      }))
  }
}

function begun(piece: Piece, index: number): readonly string[] {
  const start = named({ type: 'content_block_start', index, content_block: emptyBlock(piece) })
  return [start, ...deltasOf(piece).map((delta) => named({ type: 'content_block_delta', index, delta }))]
}

function reasonOf(all: readonly Piece[]): string {
  return all.some(({ kind }) => kind === 'call') ? 'tool_use' : 'end_turn'
}

function messageOf(turn: Turn): object {
  switch (turn.role) {
    case 'user': {
      const { text, png } = turn
      const source = { type: 'base64', media_type: 'image/png', data: png }
      const image = png === undefined ? [] : [{ type: 'image', source }]
      return { role: 'user', content: [...image, { type: 'text', text }] }
    }
    case 'assistant':
      return { role: 'assistant', content: turn.answer.turn }
    case 'results':
      return {
        role: 'user',
        content: turn.results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text })),
      }
  }
}

function body({ model, stream, turns, tools, schema, thinks }: Question): object {
  return {
    model,
    max_tokens: 9_000,
    messages: turns.map(messageOf),
    ...(stream ? { stream } : {}),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, schema: input_schema }) => ({ name, description, input_schema })),
        }),
    ...(schema === undefined ? {} : { output_config: { format: { type: 'json_schema', schema } } }),
    ...(thinks === true ? { thinking: { type: 'enabled', budget_tokens: 2_048 } } : {}),
  }
}

/** Reads a stream as strictly as Anthropic's library: blocks in order, each begun and ended, named events. */
function gather(text: string): { readonly content: readonly Record<string, unknown>[]; readonly isOrdered: boolean } {
  const content: Record<string, unknown>[] = []
  let open: number | undefined
  let isOrdered = true
  const names = Array.from(text.matchAll(/^event: (.*)$/gm), ([, name]) => name)
  const events = eventsOf(text)
  for (const [position, each] of events.entries()) {
    const type = String(pick(each, 'type'))
    const index = pick(each, 'index')
    isOrdered &&= names[position] === type && (position > 0 || type === 'message_start' || type === 'ping')
    if (type === 'content_block_start') {
      isOrdered &&= open === undefined && index === content.length
      open = Number(index)
      content.push({ ...Object(pick(each, 'content_block')) })
    } else if (type === 'content_block_delta' || type === 'content_block_stop') {
      isOrdered &&= open === index
      const block = content[Number(index)]
      if (block !== undefined) apply(block, pick(each, 'delta'))
      if (type === 'content_block_stop') {
        open = undefined
        if (block !== undefined && typeof block['json'] === 'string') {
          block['input'] = JSON.parse(block['json'])
          delete block['json']
        }
      }
    }
  }
  return { content, isOrdered }
}

function apply(block: Record<string, unknown>, delta: unknown): void {
  for (const [name, from] of [
    ['text', 'text'],
    ['thinking', 'thinking'],
    ['signature', 'signature'],
    ['json', 'partial_json'],
  ] as const) {
    const more = pick(delta, from)
    if (typeof more === 'string') block[name] = `${String(block[name] ?? '')}${more}`
  }
}

/** Anthropic's Messages. */
export const messagesLanguage: Language = {
  name: 'messages',
  title: 'Messages',

  provider: {
    entry: { protocol: 'anthropic' },
    resultMark: /"type":\s*"tool_result"/g,
    whole: (all) => ({
      ...head,
      content: all.map(blockOf),
      stop_reason: reasonOf(all),
      stop_sequence: null,
      usage: counted,
    }),
    begin: () => [
      named({
        type: 'message_start',
        message: {
          ...head,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...counted, output_tokens: 1 },
        },
      }),
    ],
    piece: (piece, index) => [...begun(piece, index), named({ type: 'content_block_stop', index })],
    half(piece, index) {
      const events = begun(piece, index)
      return events.slice(0, Math.ceil(events.length / 2) + 1)
    },
    end: (all) => [
      named({ type: 'message_delta', delta: { stop_reason: reasonOf(all), stop_sequence: null }, usage: counted }),
      named({ type: 'message_stop' }),
    ],
    failure: named({ type: 'error', error: { type: 'api_error', message: 'No more' } }),
  },

  caller: {
    path: () => '/v1/messages?beta=true',
    body,
    read(text, isStream) {
      const events = isStream ? eventsOf(text) : [JSON.parse(text)]
      const { content, isOrdered } = isStream ? gather(text) : { content: wholeContent(events[0]), isOrdered: true }
      const error = events.map((each) => pick(each, 'error', 'message')).find((each) => each !== undefined)
      const end = isStream ? events.find((each) => pick(each, 'type') === 'message_delta') : events[0]
      const reason = pick(end, ...(isStream ? ['delta'] : []), 'stop_reason')
      const texts = (type: string) =>
        content.map((block) => (block['type'] === type ? String(block[type] ?? '') : '')).join('')
      return {
        text: texts('text'),
        thinking: texts('thinking'),
        calls: content
          .filter((block) => block['type'] === 'tool_use')
          .map(({ id, name, input, json }) => ({
            id: String(id),
            name: String(name),
            input: json === undefined ? (Object(input) as object) : { cut: json },
          })),
        isComplete:
          error === undefined &&
          isOrdered &&
          typeof reason === 'string' &&
          (!isStream || pick(events.at(-1), 'type') === 'message_stop'),
        error: error === undefined ? undefined : String(error),
        usage: [pick(end, 'usage', 'input_tokens'), pick(end, 'usage', 'output_tokens')],
        turn: content,
      }
    },
  },
}

function wholeContent(message: unknown): readonly Record<string, unknown>[] {
  const content = pick(message, 'content')
  return Array.isArray(content) ? content : []
}
