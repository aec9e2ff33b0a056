import type { JsonObject } from '../../base/json-value.ts'
import { objectsOf, textOf } from '../exact-json.ts'

/** The events of a whole item: its beginning, its content at once, and its ends. They have no numbers. */
export function itemEvents(item: JsonObject, index: number): readonly JsonObject[] {
  const events: JsonObject[] = []
  addItem(item, index, (type, members) => events.push({ type, ...members }))
  return events
}

type Add = (type: string, members: JsonObject) => void

function addItem(item: JsonObject, output_index: number, add: Add): void {
  const { id: item_id, type, content, summary, input, arguments: given } = item
  const isMessage = type === 'message'
  const begun = isMessage ? { ...item, status: 'in_progress', content: [] } : { ...item, ...emptyInput(item) }
  add('response.output_item.added', { output_index, item: begun })
  if (isMessage)
    for (const [content_index, part] of objectsOf(content).entries())
      addPart(part, { item_id, output_index, content_index }, add)
  if (type === 'reasoning')
    for (const [summary_index, part] of objectsOf(summary).entries())
      addSummary(part, { item_id, output_index, summary_index }, add)
  if (type === 'function_call') addInput('function_call_arguments', 'arguments', given)
  if (type === 'custom_tool_call') addInput('custom_tool_call_input', 'input', input)
  add('response.output_item.done', { output_index, item })

  function addInput(name: string, member: string, value: unknown): void {
    add(`response.${name}.delta`, { item_id, output_index, delta: value })
    add(`response.${name}.done`, { item_id, output_index, [member]: value })
  }
}

function emptyInput({ type }: JsonObject): JsonObject {
  if (type === 'reasoning') return { summary: [] }
  if (type === 'function_call') return { arguments: '', status: 'in_progress' }
  return type === 'custom_tool_call' ? { input: '', status: 'in_progress' } : {}
}

function addPart(part: JsonObject, place: JsonObject, add: Add): void {
  const isText = part['type'] === 'output_text'
  const text = textOf(isText ? part['text'] : part['refusal'])
  const begun = isText ? { ...part, text: '', annotations: [], logprobs: [] } : { ...part, refusal: '' }
  add('response.content_part.added', { ...place, part: text === undefined ? part : begun })
  if (text !== undefined && isText) {
    const { logprobs = [] } = part
    add('response.output_text.delta', { ...place, delta: text, logprobs })
    add('response.output_text.done', { ...place, text, logprobs })
  } else if (text !== undefined) {
    add('response.refusal.delta', { ...place, delta: text })
    add('response.refusal.done', { ...place, refusal: text })
  }
  add('response.content_part.done', { ...place, part })
}

function addSummary(part: JsonObject, place: JsonObject, add: Add): void {
  const { text } = part
  add('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } })
  add('response.reasoning_summary_text.delta', { ...place, delta: text })
  add('response.reasoning_summary_text.done', { ...place, text })
  add('response.reasoning_summary_part.done', { ...place, part })
}
