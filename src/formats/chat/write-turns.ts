import type { JsonObject } from '../../base/json-value.ts'
import type { AssistantPart, ContentPart, MediaPart, ReasoningPart, Turn } from '../conversation.ts'
import { writeThinkingBlock } from '../thinking-block.ts'
import { joinTexts } from '../turns.ts'
import { untranslatable } from '../untranslatable.ts'
import { writeCallSignature } from './call-signature.ts'
import { writeReasoningDetails } from './reasoning-details.ts'

const audioFormats: ReadonlyMap<string, string> = new Map([
  ['mpeg', 'mp3'],
  ['x-wav', 'wav'],
])

/** Members that a target gets beside the widely used ones. */
export interface WrittenParts {
  /** The conversation was read from chat completions: members that only its dialects have are written. */
  readonly isOwn: boolean
  /** `cache_control` is written. */
  readonly isMarked: boolean
}

/** The beginning of the result of a tool that failed. */
const failedText: ContentPart = { kind: 'text', text: 'The tool failed:', cacheControl: undefined }

/**
 * Writes `messages`. Content of texts alone is one string, since many providers take no list of texts, and none take
 * other content in a tool's result: that follows the results in a user message.
 *
 * @throws {UpstreamFailure} for a conversation without content
 */
export function writeMessages(turns: readonly Turn[], written: WrittenParts): readonly JsonObject[] {
  if (turns.length === 0) throw untranslatable('A conversation without content')
  const messages: JsonObject[] = []
  /** Content of tool results that waits for the last result of the calls. */
  let files: JsonObject[] = []
  for (const turn of turns) {
    if (turn.role !== 'tool') addFiles()
    messages.push(writeTurn(turn, written))
    if (turn.role === 'tool') for (const file of filesOf(turn.callId, turn.parts)) files.push(file)
  }
  addFiles()
  return messages

  function addFiles(): void {
    if (files.length > 0) messages.push({ role: 'user', content: files })
    files = []
  }
}

function writeTurn(turn: Turn, { isOwn, isMarked }: WrittenParts): JsonObject {
  switch (turn.role) {
    case 'system':
    case 'user':
      return { role: turn.role, content: writeContent(turn.parts, isMarked) }
    case 'assistant':
      return writeAssistant(turn.parts, isMarked)
    case 'tool': {
      const { callId, cacheControl, parts, isError } = turn
      const said = parts.filter(({ kind }) => kind === 'text')
      const texts = isError ? [failedText, ...said] : said
      const marked = isMarked && !isOwn && cacheControl !== undefined ? withMark(texts, cacheControl) : texts
      const message = { role: 'tool', tool_call_id: callId, content: writeContent(marked, isMarked) }
      return isOwn ? { ...message, cache_control: cacheControl } : message
    }
  }
}

/** Outside of chat completions the mark of a result is one of its message. Here it is the last text's. */
function withMark(texts: readonly ContentPart[], cacheControl: JsonObject): readonly ContentPart[] {
  return texts.map((part, index) => (index === texts.length - 1 ? { ...part, cacheControl } : part))
}

function writeAssistant(parts: readonly AssistantPart[], isMarked: boolean): JsonObject {
  const reasoning = parts.filter((part) => part.kind === 'reasoning')
  const called = parts.filter((part) => part.kind === 'call')
  const said = parts.filter((part) => part.kind !== 'reasoning' && part.kind !== 'call')
  const details = writeReasoningDetails(reasoning)
  const blocks = reasoning.flatMap((part) => writeThinkingBlock(part) ?? [])
  const calls = called.map(({ id, name, input, opaque }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
    ...writeCallSignature(opaque),
  }))
  return {
    role: 'assistant',
    content: said.length === 0 && calls.length > 0 ? null : writeContent(said, isMarked),
    reasoning_content: reasoningText(reasoning) || undefined,
    reasoning_details: details.length === 0 ? undefined : details,
    thinking_blocks: blocks.length === 0 ? undefined : blocks,
    tool_calls: calls.length === 0 ? undefined : calls,
  }
}

/** The plain text of the reasoning; without any, the text of its signed blocks. */
function reasoningText(parts: readonly ReasoningPart[]): string {
  const plain = parts.filter(({ opaque }) => opaque === undefined)
  return (plain.length === 0 ? parts : plain).map(({ text }) => text ?? '').join('')
}

function writeContent(parts: readonly ContentPart[], isMarked: boolean): string | readonly JsonObject[] {
  const filled = parts.filter((part) => part.kind !== 'text' || part.text !== '')
  const isPlain = filled.every(({ kind, cacheControl }) => kind === 'text' && (!isMarked || cacheControl === undefined))
  if (isPlain) return joinTexts(filled)
  return filled.map((part) => (isMarked ? { ...writePart(part), cache_control: part.cacheControl } : writePart(part)))
}

/** Content other than text, after a text that names the call. */
function filesOf(callId: string, parts: readonly ContentPart[]): readonly JsonObject[] {
  const files = parts.filter(({ kind }) => kind !== 'text')
  return files.length === 0
    ? []
    : [{ type: 'text', text: `Files of the result of ${callId}:` }, ...files.map(writePart)]
}

function writePart(part: ContentPart): JsonObject {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'link': {
      const { url, isFile, detail } = part
      return isFile ? { type: 'file', file: { file_data: url } } : { type: 'image_url', image_url: { url, detail } }
    }
    case 'media':
      return writeMedia(part)
  }
}

function writeMedia({ mediaType, base64, filename, detail }: MediaPart): JsonObject {
  const url = `data:${mediaType};base64,${base64}`
  const [kind, subtype = ''] = mediaType.split('/')
  if (kind === 'image') return { type: 'image_url', image_url: { url, detail } }
  if (kind !== 'audio') return { type: 'file', file: { filename: filename ?? 'file', file_data: url } }
  return { type: 'input_audio', input_audio: { data: base64, format: audioFormats.get(subtype) ?? subtype } }
}
