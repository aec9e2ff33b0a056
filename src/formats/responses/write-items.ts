import type { JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { newCallIds } from '../chat/fit-call-ids.ts'
import type { AssistantPart, ContentPart, MediaPart, ReasoningPart, ToolTurn, Turn } from '../conversation.ts'
import { textOf } from '../exact-json.ts'
import { joinTexts } from '../turns.ts'
import { untranslatable } from '../untranslatable.ts'

/** A conversation whose first system messages stand apart. */
interface Instructed {
  readonly instructions: string | undefined
  readonly rest: readonly Turn[]
}

/** Takes the system messages at the beginning, as `instructions`. Without other messages they are the input. */
export function leadingSystem(turns: readonly Turn[]): Instructed {
  const first = turns.findIndex(({ role }) => role !== 'system')
  const system = turns.slice(0, Math.max(first, 0)).flatMap((turn) => (turn.role === 'system' ? turn.parts : []))
  const instructions = joinTexts(system)
  return instructions === '' ? { instructions: undefined, rest: turns } : { instructions, rest: turns.slice(first) }
}

/**
 * Writes the items of a conversation.
 *
 * @throws {UpstreamFailure} for sound, and for a conversation without content
 */
export function writeItems(turns: readonly Turn[]): readonly JsonObject[] {
  if (turns.length === 0) throw untranslatable('A conversation without content')
  return turns.flatMap((turn): readonly JsonObject[] => {
    switch (turn.role) {
      case 'system':
        return [{ type: 'message', role: 'developer', content: writeContent(turn.parts) }]
      case 'user':
        return [{ type: 'message', role: 'user', content: writeContent(turn.parts) }]
      case 'assistant':
        return writeAnswer(turn.parts)
      case 'tool':
        return [writeResult(turn)]
    }
  })
}

/** Ids of calls in the form that the target takes, the same ones in calls and results. */
export function fitItemIds(items: readonly JsonObject[], { callIds }: TargetProfile): readonly JsonObject[] {
  if (callIds === 'any') return items
  const calls = items.filter(({ type }) => type === 'function_call')
  const ids = newCallIds(
    calls.map(({ call_id, name }) => ({ id: call_id, name })),
    callIds,
  )
  if (ids.size === 0) return items
  return items.map((item) => {
    const id = ids.get(textOf(item['call_id']) ?? '')
    return id === undefined ? item : { ...item, call_id: id }
  })
}

/** The items of one answer, in their order. Neighbouring texts are one message. */
function writeAnswer(parts: readonly AssistantPart[]): readonly JsonObject[] {
  const items: JsonObject[] = []
  let texts: JsonObject[] = []
  function addMessage(): void {
    if (texts.length > 0) items.push({ type: 'message', role: 'assistant', content: texts })
    texts = []
  }
  for (const part of parts) {
    if (part.kind === 'text') {
      if (part.text !== '') texts.push({ type: 'output_text', text: part.text })
      continue
    }
    const item = writeOwnItem(part)
    if (item === undefined) continue
    addMessage()
    items.push(item)
  }
  addMessage()
  // Reasoning is refused without the item that it led to.
  return items.slice(0, items.findLastIndex(({ type }) => type !== 'reasoning') + 1)
}

/** An item other than a message. Undefined for reasoning of others and pictures, which cannot be sent back. */
function writeOwnItem(part: AssistantPart): JsonObject | undefined {
  if (part.kind === 'reasoning') return writeReasoning(part)
  if (part.kind !== 'call') return undefined
  return { type: 'function_call', call_id: part.id, name: part.name, arguments: JSON.stringify(part.input) }
}

/** Whether the maker of this format takes this reasoning back. */
export function isOwnReasoning(part: AssistantPart): boolean {
  return part.kind === 'reasoning' && part.opaque?.maker === 'openai'
}

function writeReasoning(part: ReasoningPart): JsonObject | undefined {
  if (!isOwnReasoning(part)) return undefined
  const { text, opaque } = part
  const summary = text === undefined || text === '' ? [] : [{ type: 'summary_text', text }]
  return { type: 'reasoning', summary, encrypted_content: opaque?.data }
}

function writeResult({ callId, parts, isError }: ToolTurn): JsonObject {
  const failed: readonly ContentPart[] = isError
    ? [{ kind: 'text', text: 'The tool failed:', cacheControl: undefined }]
    : []
  return { type: 'function_call_output', call_id: callId, output: writeContent([...failed, ...parts]) }
}

/** Texts alone are one string. */
function writeContent(parts: readonly ContentPart[]): string | readonly JsonObject[] {
  return parts.every(({ kind }) => kind === 'text') ? joinTexts(parts) : parts.map(writePart)
}

function writePart(part: ContentPart): JsonObject {
  switch (part.kind) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'link': {
      const { url, isFile, detail } = part
      return isFile ? { type: 'input_file', file_url: url } : { type: 'input_image', image_url: url, detail }
    }
    case 'media':
      return writeMedia(part)
  }
}

function writeMedia({ mediaType, base64, filename = 'file', detail }: MediaPart): JsonObject {
  const url = `data:${mediaType};base64,${base64}`
  if (mediaType.startsWith('image/')) return { type: 'input_image', image_url: url, detail }
  if (mediaType.startsWith('audio/')) throw untranslatable('Sound')
  return { type: 'input_file', filename, file_data: url }
}
