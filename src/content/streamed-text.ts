import { Buffer } from 'node:buffer'
import { isRecord, type JsonObject } from '../base/json-value.ts'
import { mediaText, textWithoutMedia } from './media-text.ts'
import { plainEscapes } from './plain-escapes.ts'
import { callText } from './readable-text.ts'

/**
 * The text of a stream. Choices take turns in it: each is put together by itself, so that secrets in it are whole. Of a
 * cut stream only the first choice is kept, since others may end with half of a secret as well.
 *
 * @param pieces new text of the first choice, and the JSON of events with other content, in their order
 */
export function streamedText(pieces: readonly (string | Uint8Array)[], isCut: boolean): string {
  const first = labelledText()
  const others = new Map<number, LabelledText>()

  function choice(index: unknown): LabelledText {
    if (!isFurther(index)) return first
    const text = others.get(index) ?? labelledText()
    others.set(index, text)
    return text
  }

  for (const piece of pieces) {
    if (typeof piece === 'string') first.add('', piece)
    else addEvent(parsed(piece), choice)
  }
  const more = isCut ? [] : Array.from(others, ([index, text]) => `[choice ${index + 1}]\n${text.whole()}`)
  return [first.whole(), ...more].filter((text) => text !== '').join('\n\n')
}

/** The text of a choice, the first one without an index. */
type ChoiceText = (index?: unknown) => LabelledText

interface LabelledText {
  /** Adds text behind what has the same label. Empty: the answer itself. */
  add(label: string, text: string): void
  /** Begins a call of a tool. */
  call(name: string): void
  whole(): string
}

interface Passage {
  readonly label: string
  readonly head: string
  readonly pieces: string[]
}

function labelledText(): LabelledText {
  const passages: Passage[] = []

  function begin(label: string, head: string): Passage {
    const passage = { label, head, pieces: [] }
    passages.push(passage)
    return passage
  }

  function headOf(label: string): string {
    if (label !== '') return `[${label}]\n`
    return passages.length === 0 ? '' : '[answer]\n'
  }

  return {
    add(label, text) {
      if (text === '') return
      const last = passages.at(-1)
      const passage = last?.label === label ? last : begin(label, headOf(label))
      passage.pieces.push(text)
    },
    call: (name) => void begin('call', `[call ${name}] `),
    whole: () => passages.map(textOf).join('\n\n'),
  }
}

/** The arguments of a call are JSON. */
function textOf({ label, head, pieces }: Passage): string {
  const text = pieces.join('')
  return head + (label === 'call' ? plainEscapes(text) : text)
}

/** Adds what an event of any format has beyond text of the first choice. */
function addEvent(event: JsonObject, choice: ChoiceText): void {
  for (const each of recordsOf(event['choices'])) addChoice(each, choice(each['index']))
  for (const each of recordsOf(event['candidates'])) addCandidate(each, choice(each['index']))
  const text = choice()
  const { delta, content_block: block, item, type } = event
  if (isRecord(block) && typeof block['name'] === 'string') text.call(block['name'])
  if (isRecord(item) && type === 'response.output_item.added' && typeof item['name'] === 'string')
    text.call(item['name'])
  if (typeof delta === 'string') text.add(labelOf(String(type)), delta)
  else if (isRecord(delta)) addDelta(delta, text)
  for (const member of ['b64_json', 'audio'])
    if (typeof event[member] === 'string') text.add('media', `${mediaText(Buffer.from(event[member], 'base64'), '')}\n`)
}

/** Whether a choice is not the first one, whose text comes in pieces. */
function isFurther(index: unknown): index is number {
  return typeof index === 'number' && index > 0
}

function labelOf(type: string): string {
  if (type.includes('reasoning')) return 'reasoning'
  if (type.includes('call')) return 'call'
  return type.includes('refusal') ? 'refusal' : ''
}

function addChoice({ index, delta, text: plain }: JsonObject, text: LabelledText): void {
  if (typeof plain === 'string') text.add('', plain)
  if (!isRecord(delta)) return
  if (isFurther(index) && typeof delta['content'] === 'string') text.add('', delta['content'])
  addDelta(delta, text)
}

/** New content of chat completions and of Anthropic's Messages. */
function addDelta(delta: JsonObject, text: LabelledText): void {
  for (const member of ['reasoning_content', 'reasoning', 'thinking'])
    if (typeof delta[member] === 'string') text.add('reasoning', delta[member])
  if (typeof delta['refusal'] === 'string') text.add('refusal', delta['refusal'])
  if (typeof delta['partial_json'] === 'string') text.add('call', delta['partial_json'])
  for (const { function: called } of recordsOf(delta['tool_calls'])) {
    if (!isRecord(called)) continue
    if (typeof called['name'] === 'string' && called['name'] !== '') text.call(called['name'])
    if (typeof called['arguments'] === 'string') text.add('call', called['arguments'])
  }
  const { audio } = delta
  if (isRecord(audio) && typeof audio['transcript'] === 'string') text.add('transcript', audio['transcript'])
}

function addCandidate({ index, content }: JsonObject, text: LabelledText): void {
  for (const part of recordsOf(isRecord(content) ? content['parts'] : undefined)) {
    const { functionCall, inlineData } = part
    if (isRecord(functionCall)) text.add('calls', `${callText(functionCall)}\n`)
    if (isRecord(inlineData)) text.add('media', `${textWithoutMedia(String(inlineData['data'] ?? ''), 'data')}\n`)
    if (typeof part['text'] === 'string' && (part['thought'] === true || isFurther(index)))
      text.add(part['thought'] === true ? 'reasoning' : '', part['text'])
  }
}

function recordsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

function parsed(bytes: Uint8Array): JsonObject {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isRecord(value) ? value : {}
  } catch {
    return {} // It has no text.
  }
}
