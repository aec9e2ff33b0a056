import type { JsonObject } from '../../base/json-value.ts'
import type { AnswerEvent, FinishReason, TextEvent } from '../answer.ts'
import { numberOf, objectOf, objectsOf, textOf } from '../exact-json.ts'
import { readResponseUsage } from './response-object.ts'
import { toolSearch, type ToolNames } from './tool-names.ts'

const choice = 0

/** The text that an event of a stream adds; undefined for other events. */
export function readDelta({ type, delta }: JsonObject): TextEvent | undefined {
  const kind = typeof type === 'string' ? deltaKinds[type] : undefined
  return kind === undefined ? undefined : { kind, choice, text: textOf(delta) ?? '' }
}

const deltaKinds: Readonly<Record<string, TextEvent['kind']>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
  'response.reasoning.delta': 'reasoning',
}

/** Reads parts of a stream in this format, in order. Items other than texts and calls are left out. */
export interface RestReader {
  read(event: JsonObject): readonly AnswerEvent[]
}

/** Starts reading the rest of a stream. Calls have the names of other formats. */
export function restReader(names: ToolNames): RestReader {
  /** Calls by the index of their item. */
  const calls = new Map<number, { readonly call: number; hasArguments: boolean; hasEnded: boolean }>()

  function beginCall(index: number, item: JsonObject): readonly AnswerEvent[] {
    if (!isCall(item) || calls.has(index)) return []
    const call = calls.size
    calls.set(index, { call, hasArguments: false, hasEnded: false })
    const { type, call_id, name, namespace } = item
    const wireName = type === 'tool_search_call' ? toolSearch : names.wireName(textOf(name) ?? '', textOf(namespace))
    return [{ kind: 'call', choice, call, id: textOf(call_id), name: wireName, opaque: undefined }]
  }

  function addArguments(index: number, text: string): readonly AnswerEvent[] {
    const known = calls.get(index)
    if (known === undefined || known.hasEnded || text === '') return []
    known.hasArguments = true
    return [{ kind: 'arguments', choice, call: known.call, text }]
  }

  function endItem(index: number, item: JsonObject): readonly AnswerEvent[] {
    const begun = beginCall(index, item)
    const known = calls.get(index)
    if (known === undefined || known.hasEnded) return []
    const given = known.hasArguments ? [] : addArguments(index, argumentsOf(item))
    known.hasEnded = true
    return [...begun, ...given, { kind: 'callEnd', choice, call: known.call }]
  }

  return {
    read(event) {
      const delta = readDelta(event)
      if (delta !== undefined) return [delta, ...readLogprobs(event)]
      const { type, output_index, item, response } = event
      const index = numberOf(output_index) ?? 0
      switch (type) {
        case 'response.output_item.added':
          return beginCall(index, objectOf(item))
        case 'response.output_item.done':
          return endItem(index, objectOf(item))
        case 'response.function_call_arguments.delta':
          return addArguments(index, textOf(event['delta']) ?? '')
        case 'response.completed':
        case 'response.incomplete':
          return readEnd(objectOf(response))
        default:
          return []
      }
    },
  }
}

/** The content of an item that came as a whole: texts of a message, or of reasoning. Calls are read by a reader. */
export function readItem({ type, content, summary }: JsonObject): readonly AnswerEvent[] {
  if (type === 'message') return objectsOf(content).flatMap(readPart)
  if (type !== 'reasoning') return []
  const texts = [summary, content].map((list) => objectsOf(list).flatMap(({ text }) => textOf(text) ?? []))
  const text = texts.map((each) => each.join('\n\n')).find((each) => each !== '')
  return text === undefined ? [] : [{ kind: 'reasoning', choice, text }]
}

function readPart(part: JsonObject): readonly AnswerEvent[] {
  const { text, refusal } = part
  if (typeof refusal === 'string') return [{ kind: 'refusal', choice, text: refusal }]
  return typeof text === 'string' ? [{ kind: 'text', choice, text }, ...readLogprobs(part)] : []
}

/** The log probabilities of a delta, or of a whole text. */
function readLogprobs({ logprobs }: JsonObject): readonly AnswerEvent[] {
  const tokens = objectsOf(logprobs)
  return tokens.length === 0 ? [] : [{ kind: 'logprobs', choice, tokens, refusalTokens: undefined }]
}

function argumentsOf({ type, arguments: given, input }: JsonObject): string {
  if (type === 'custom_tool_call') return JSON.stringify({ input })
  return textOf(given) ?? JSON.stringify(objectOf(given))
}

function readEnd(response: JsonObject): readonly AnswerEvent[] {
  const counts = readResponseUsage(response)
  return [
    { kind: 'finish', choice, reason: readFinish(response), raw: incompleteReason(response) },
    ...(counts === undefined ? [] : [{ kind: 'usage', counts, own: undefined } as const]),
  ]
}

/** Why a response ended. */
export function readFinish(response: JsonObject): FinishReason {
  if (response['status'] === 'incomplete') {
    const reason = incompleteReason(response) ?? 'max_output_tokens'
    return reason === 'content_filter' ? reason : reason.startsWith('max_') ? 'length' : 'other'
  }
  return objectsOf(response['output']).some(isCall) ? 'tool_calls' : 'stop'
}

function incompleteReason({ incomplete_details }: JsonObject): string | undefined {
  return textOf(objectOf(incomplete_details)['reason'])
}

/** Whether an item is a call that the client runs. */
function isCall({ type }: JsonObject): boolean {
  return typeof type === 'string' && clientCalls.includes(type)
}

/** Types of calls that the client runs. */
export const clientCalls: readonly string[] = ['function_call', 'custom_tool_call', 'tool_search_call']
