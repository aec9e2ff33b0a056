import { pick } from '../../client.ts'
import { event } from '../replies.ts'
import { eventsOf, pieces, type Language, type Piece, type Question, type Turn } from './language.ts'

const head = { id: 'resp_1', object: 'response', created_at: 1_700_000_000, model: 'upstream-model', error: null }
const usage = {
  input_tokens: 3,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 8,
}

function named(data: { readonly type: string; readonly [member: string]: unknown }): string {
  return `event: ${data.type}\n${event(data)}`
}

function itemOf(piece: Piece, index: number): Readonly<Record<string, unknown>> {
  const id = `item_${index}`
  switch (piece.kind) {
    case 'text': {
      const content = [{ type: 'output_text', text: piece.text, annotations: [], logprobs: [] }]
      return { id, type: 'message', role: 'assistant', status: 'completed', content }
    }
    case 'thinking':
      return {
        id,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: piece.text }],
        encrypted_content: piece.seal,
      }
    case 'call': {
      const { id: call_id, name, input } = piece.call
      return { id, type: 'function_call', status: 'completed', call_id, name, arguments: JSON.stringify(input) }
    }
  }
}

/** The events of an item: those that begin it, its deltas, and those that end it. */
function eventsOfItem(piece: Piece, index: number): readonly [readonly string[], readonly string[], readonly string[]] {
  const item = itemOf(piece, index)
  const place = { item_id: item['id'], output_index: index }
  const added = (members: object) =>
    named({ type: 'response.output_item.added', output_index: index, item: { ...item, ...members } })
  const done = named({ type: 'response.output_item.done', output_index: index, item })
  switch (piece.kind) {
    case 'text': {
      const at = { ...place, content_index: 0 }
      const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
      return [
        [added({ status: 'in_progress', content: [] }), named({ type: 'response.content_part.added', ...at, part })],
        pieces(piece.text).map((delta) => named({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
        [
          named({ type: 'response.output_text.done', ...at, text: piece.text, logprobs: [] }),
          named({ type: 'response.content_part.done', ...at, part: { ...part, text: piece.text } }),
          done,
        ],
      ]
    }
    case 'thinking': {
      const at = { ...place, summary_index: 0 }
      const part = { type: 'summary_text', text: '' }
      return [
        [added({ summary: [] }), named({ type: 'response.reasoning_summary_part.added', ...at, part })],
        pieces(piece.text).map((delta) => named({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
        [
          named({ type: 'response.reasoning_summary_text.done', ...at, text: piece.text }),
          named({ type: 'response.reasoning_summary_part.done', ...at, part: { ...part, text: piece.text } }),
          done,
        ],
      ]
    }
    case 'call':
      return [
        [added({ status: 'in_progress', arguments: '' })],
        pieces(String(item['arguments'])).map((delta) =>
          named({ type: 'response.function_call_arguments.delta', ...place, delta }),
        ),
        [named({ type: 'response.function_call_arguments.done', ...place, arguments: item['arguments'] }), done],
      ]
  }
}

function responseOf(all: readonly Piece[], status: string): object {
  return { ...head, status, output: all.map(itemOf), usage: status === 'completed' ? usage : null }
}

function itemsOf(turn: Turn): readonly unknown[] {
  switch (turn.role) {
    case 'user': {
      const image =
        turn.png === undefined
          ? []
          : [{ type: 'input_image', image_url: `data:image/png;base64,${turn.png}`, detail: 'auto' }]
      return [{ role: 'user', content: [...image, { type: 'input_text', text: turn.text }] }]
    }
    case 'assistant':
      return turn.answer.turn as readonly unknown[]
    case 'results':
      return turn.results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text }))
  }
}

function body({ model, stream, turns, tools, schema, thinks }: Question): object {
  return {
    model,
    input: turns.flatMap(itemsOf),
    store: false,
    ...(stream ? { stream } : {}),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, schema: parameters }) => ({
            type: 'function',
            name,
            description,
            parameters,
            strict: false,
          })),
        }),
    ...(schema === undefined
      ? {}
      : { text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } } }),
    ...(thinks === true
      ? {
          reasoning: { effort: 'high', summary: 'auto' },
          include: ['reasoning.encrypted_content'],
          max_output_tokens: 9_000,
        }
      : {}),
  }
}

/** Whether the events of a stream are numbered, and their deltas lead to the items at their end. */
function isInOrder(events: readonly unknown[]): boolean {
  const numbered = events.filter((each) => each !== '[DONE]')
  const texts = new Map<unknown, string>()
  for (const each of numbered) {
    const type = String(pick(each, 'type'))
    const id = pick(each, 'item_id')
    if (type === 'response.output_text.delta') texts.set(id, `${texts.get(id) ?? ''}${String(pick(each, 'delta'))}`)
    if (type === 'response.output_text.done' && texts.get(id) !== pick(each, 'text')) return false
  }
  return pick(numbered[0], 'type') === 'response.created'
}

/** OpenAI's Responses. */
export const responsesLanguage: Language = {
  name: 'responses',
  title: 'Responses',

  provider: {
    entry: { protocol: 'openai', formats: ['responses'] },
    resultMark: /"type":\s*"function_call_output"/g,
    whole: (all) => responseOf(all, 'completed'),
    begin: () => [
      named({ type: 'response.created', response: responseOf([], 'in_progress') }),
      named({ type: 'response.in_progress', response: responseOf([], 'in_progress') }),
    ],
    piece: (piece, index) => eventsOfItem(piece, index).flat(),
    half(piece, index) {
      const [start, deltas] = eventsOfItem(piece, index)
      return [...start, ...deltas.slice(0, Math.ceil(deltas.length / 2))]
    },
    end: (all) => [named({ type: 'response.completed', response: responseOf(all, 'completed') })],
    numbered: (events) => events.map((each, number) => each.replace('data: {', `data: {"sequence_number":${number},`)),
    failure: named({
      type: 'response.failed',
      response: { ...head, status: 'failed', output: [], error: { code: 'server_error', message: 'No more' } },
    }),
  },

  caller: {
    path: () => '/v1/responses',
    body,
    read(text, isStream) {
      const events = isStream ? eventsOf(text) : [JSON.parse(text)]
      const last = isStream
        ? events.map((each) => pick(each, 'response')).findLast((each) => each !== undefined)
        : events[0]
      const error = pick(last, 'error', 'message') ?? events.map((each) => pick(each, 'error', 'message')).find(Boolean)
      const found = pick(last, 'output')
      const output: readonly unknown[] = Array.isArray(found) ? found : []
      const textOf = (type: string, member: string) =>
        output
          .filter((item) => pick(item, 'type') === type)
          .flatMap((item) => Object.values(Object(pick(item, member)) as object))
          .map((part: unknown) => String(pick(part, 'text') ?? ''))
          .join('')
      return {
        text: textOf('message', 'content'),
        thinking: textOf('reasoning', 'summary'),
        calls: output
          .filter((item) => pick(item, 'type') === 'function_call')
          .map((item) => ({
            id: String(pick(item, 'call_id')),
            name: String(pick(item, 'name')),
            input: Object(JSON.parse(String(pick(item, 'arguments')))) as object,
          })),
        isComplete: error === undefined && pick(last, 'status') === 'completed' && (!isStream || isInOrder(events)),
        error: error === undefined ? undefined : String(error),
        usage: [pick(last, 'usage', 'input_tokens'), pick(last, 'usage', 'output_tokens')],
        turn: output,
      }
    },
  },
}
