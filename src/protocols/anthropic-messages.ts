import { thinkingBlock } from './anthropic-thinking.ts'
import { joinTexts, mergeTurns, untranslatable } from './chat-conversation.ts'
import type { ChatPart, ChatToolCall, ChatTurn, Conversation } from './chat-conversation.ts'
import { isObject, objectsOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'

/** `system` and `messages` of a request to Anthropic. */
export interface AnthropicMessages {
  /** Text; blocks where the caller marked one with `cache_control`; absent without system messages. */
  readonly system: string | readonly JsonObject[] | undefined
  /** Roles alternate, `user` first; never empty. */
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: readonly JsonObject[] }[]
}

const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

/**
 * Translates a conversation into Anthropic's terms: system messages apart, tool results in user messages and first
 * there, neighbours of one role merged, blocks without text left out. A conversation of system messages alone becomes a
 * user message; one that the assistant begins gets `.` before it.
 *
 * @throws {UpstreamFailure} for sound, other media than images, PDF and plain text, and a conversation without content
 */
export function anthropicMessages({ system, turns }: Conversation): AnthropicMessages {
  const said = mergeTurns(turns.map(translateTurn)).map(({ role, pieces }) => ({ role, content: resultsFirst(pieces) }))
  const systemBlocks = system.flatMap(translatePart)
  const [first] = said
  if (first === undefined) {
    if (systemBlocks.length === 0) throw untranslatable('A conversation without content')
    return { system: undefined, messages: [{ role: 'user', content: systemBlocks }] }
  }
  const messages = first.role === 'user' ? said : [{ role: 'user' as const, content: [textBlock('.')] }, ...said]
  if (systemBlocks.length === 0) return { system: undefined, messages }
  return { system: systemBlocks.some((block) => 'cache_control' in block) ? systemBlocks : joinTexts(system), messages }
}

/** Whether the conversation is in the middle of tool use and the turn that asked for the tools has no signed thinking. */
export function lacksThinking({ turns }: Conversation): boolean {
  if (turns.at(-1)?.role !== 'tool') return false
  const asking = turns.findLast((turn) => turn.role === 'assistant')
  return asking?.role === 'assistant' && thinkingBlocks(asking.source).length === 0
}

function translateTurn(turn: ChatTurn): {
  readonly role: 'user' | 'assistant'
  readonly pieces: readonly JsonObject[]
} {
  switch (turn.role) {
    case 'user':
      return { role: 'user', pieces: turn.parts.flatMap(translatePart) }
    case 'assistant':
      return {
        role: 'assistant',
        pieces: [...thinkingBlocks(turn.source), ...turn.parts.flatMap(translatePart), ...turn.toolCalls.map(toolUse)],
      }
    case 'tool':
      return { role: 'user', pieces: [toolResult(turn.callId, turn.parts, turn.source)] }
  }
}

function translatePart(part: ChatPart): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
      return part.text.trim() === '' ? [] : [withCacheControl(textBlock(part.text), part.source)]
    case 'link':
      return [
        withCacheControl(
          { type: isDocument(part) ? 'document' : 'image', source: { type: 'url', url: part.url } },
          part.source,
        ),
      ]
    case 'media':
      return [withCacheControl(mediaBlock(part), part.source)]
  }
}

function mediaBlock({ mediaType, base64, filename }: Extract<ChatPart, { kind: 'media' }>): JsonObject {
  const title = filename === undefined || filename === '' ? {} : { title: filename }
  if (imageTypes.has(mediaType))
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } }
  if (mediaType === 'application/pdf')
    return { type: 'document', source: { type: 'base64', media_type: mediaType, data: base64 }, ...title }
  if (mediaType === 'text/plain') {
    const data = Buffer.from(base64, 'base64').toString('utf8')
    return { type: 'document', source: { type: 'text', media_type: mediaType, data }, ...title }
  }
  throw untranslatable(mediaType.startsWith('audio/') ? 'Sound' : 'A file of this media type')
}

function toolUse({ id, name, input }: ChatToolCall): JsonObject {
  return { type: 'tool_use', id: toolId(id), name, input }
}

function toolResult(callId: string, parts: readonly ChatPart[], source: JsonObject): JsonObject {
  const blocks = parts.flatMap(translatePart)
  const isPlain = blocks.every((block) => block['type'] === 'text' && !('cache_control' in block))
  const content = blocks.length === 0 ? {} : { content: isPlain ? joinTexts(parts) : blocks }
  return withCacheControl({ type: 'tool_result', tool_use_id: toolId(callId), ...content }, source)
}

/** Other providers' ids may hold characters that Anthropic refuses. */
function toolId(id: string): string {
  return id === '' ? '_' : id.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
}

function resultsFirst(blocks: readonly JsonObject[]): readonly JsonObject[] {
  const isResult = (block: JsonObject): boolean => block['type'] === 'tool_result'
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))]
}

/** The signed thinking that the assistant's message brings back (docs/protocols.md). */
function thinkingBlocks(message: JsonObject): readonly JsonObject[] {
  return objectsOf(message['thinking_blocks'])
    .map(thinkingBlock)
    .filter((block) => block !== undefined)
}

function withCacheControl(block: JsonObject, source: JsonObject): JsonObject {
  const { cache_control } = source
  return isObject(cache_control) ? { ...block, cache_control } : block
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}

function isDocument({ url, source }: Extract<ChatPart, { kind: 'link' }>): boolean {
  return source['type'] === 'file' || /\.pdf(?:[?#]|$)/i.test(url)
}
