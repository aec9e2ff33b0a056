import type { JsonObject } from '../../base/json-value.ts'
import type { AssistantPart, ContentPart, LinkPart, MediaPart, ToolTurn } from '../conversation.ts'
import { imageTypeOf } from '../image-type.ts'
import { writeThinkingBlock } from '../thinking-block.ts'
import { joinTexts, mergeNeighbours, type Message, type SplitTurns, type SpokenTurn } from '../turns.ts'
import { untranslatable } from '../untranslatable.ts'

/** `system` and `messages` of a request to Anthropic. */
export interface MessagesTurns {
  /** Text, or blocks if one has `cache_control`; absent without system messages. */
  readonly system: string | readonly JsonObject[] | undefined
  /** Roles alternate, `user` first; never empty. */
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: readonly JsonObject[] }[]
}

const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

/**
 * Writes turns for Anthropic. Puts tool results first into user messages, merges neighbours of one role, and leaves out
 * blank texts. A conversation of system messages alone becomes a user message. One that begins with the assistant gets
 * a user message `.` before it.
 *
 * @throws {UpstreamFailure} for media other than images, PDF and plain text, and for a conversation without content
 */
export function writeTurns({ system, spoken }: SplitTurns, unsignedThinking: boolean): MessagesTurns {
  const said = mergeNeighbours(spoken.map((turn) => writeTurn(turn, unsignedThinking))).map(({ role, pieces }) => ({
    role,
    content: resultsFirst(pieces),
  }))
  const systemBlocks = system.flatMap((part) => writePart(part))
  const [first] = said
  if (first === undefined) {
    if (systemBlocks.length === 0) throw untranslatable('A conversation without content')
    return { system: undefined, messages: [{ role: 'user', content: systemBlocks }] }
  }
  const messages = first.role === 'user' ? said : [{ role: 'user' as const, content: [textBlock('.')] }, ...said]
  if (systemBlocks.length === 0) return { system: undefined, messages }
  const isMarked = systemBlocks.some((block) => 'cache_control' in block)
  return { system: isMarked ? systemBlocks : joinTexts(system), messages }
}

/** Whether the conversation ends with tool results, and the turn that called the tools has no signed thinking. */
export function lacksThinking({ spoken }: SplitTurns): boolean {
  if (spoken.at(-1)?.role !== 'tool') return false
  const asking = spoken.findLast((turn) => turn.role === 'assistant')
  return asking !== undefined && !asking.parts.some(isOwnReasoning)
}

function isOwnReasoning(part: AssistantPart): boolean {
  return part.kind === 'reasoning' && part.opaque?.maker === 'anthropic'
}

function writeTurn(turn: SpokenTurn, unsignedThinking: boolean): Message<'user' | 'assistant', JsonObject> {
  switch (turn.role) {
    case 'user':
      return { role: 'user', pieces: turn.parts.flatMap((part) => writePart(part)) }
    case 'assistant':
      return { role: 'assistant', pieces: turn.parts.flatMap((part) => writePart(part, unsignedThinking)) }
    case 'tool':
      return { role: 'user', pieces: [toolResult(turn)] }
  }
}

function writePart(part: AssistantPart, unsignedThinking = false): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
      return part.text.trim() === '' ? [] : [withCacheControl(textBlock(part.text), part)]
    case 'link': {
      const source = { type: 'url', url: part.url }
      return [withCacheControl({ type: isDocument(part) ? 'document' : 'image', source }, part)]
    }
    case 'media':
      return [withCacheControl(mediaBlock(part), part)]
    case 'reasoning': {
      const block = writeThinkingBlock(part, unsignedThinking)
      return block === undefined ? [] : [block]
    }
    case 'call':
      return [{ type: 'tool_use', id: toolId(part.id), name: part.name, input: part.input }]
  }
}

function mediaBlock({ mediaType, base64, filename }: MediaPart): JsonObject {
  const title = filename === undefined || filename === '' ? {} : { title: filename }
  const source = { type: 'base64', media_type: mediaType, data: base64 }
  if (imageTypes.has(mediaType))
    return { type: 'image', source: { ...source, media_type: imageTypeOf(base64) ?? mediaType } }
  if (mediaType === 'application/pdf') return { type: 'document', source, ...title }
  if (mediaType === 'text/plain') {
    const data = Buffer.from(base64, 'base64').toString('utf8')
    return { type: 'document', source: { type: 'text', media_type: mediaType, data }, ...title }
  }
  throw untranslatable(mediaType.startsWith('audio/') ? 'Sound' : 'A file of this media type')
}

function toolResult(turn: ToolTurn): JsonObject {
  const blocks = turn.parts.flatMap((part) => writePart(part))
  const isPlain = blocks.every((block) => block['type'] === 'text' && !('cache_control' in block))
  const content = blocks.length === 0 ? {} : { content: isPlain ? joinTexts(turn.parts) : blocks }
  const failed = turn.isError ? { is_error: true } : {}
  return withCacheControl({ type: 'tool_result', tool_use_id: toolId(turn.callId), ...content, ...failed }, turn)
}

/** Replaces characters in ids of other providers that Anthropic rejects. */
function toolId(id: string): string {
  return id === '' ? '_' : id.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
}

function resultsFirst(blocks: readonly JsonObject[]): readonly JsonObject[] {
  const isResult = (block: JsonObject): boolean => block['type'] === 'tool_result'
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))]
}

function withCacheControl(block: JsonObject, { cacheControl }: Pick<ContentPart, 'cacheControl'>): JsonObject {
  return cacheControl === undefined ? block : { ...block, cache_control: cacheControl }
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}

function isDocument({ url, isFile }: LinkPart): boolean {
  return isFile || /\.pdf(?:[?#]|$)/i.test(url)
}
