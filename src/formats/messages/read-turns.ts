import type { JsonObject } from '../../base/json-value.ts'
import { cacheControlOf } from '../cache-control.ts'
import type { AssistantPart, ContentPart, Turn } from '../conversation.ts'
import { objectOf, objectsOf, textOf } from '../exact-json.ts'
import { readUrl } from '../media-part.ts'
import { readThinkingBlock } from '../thinking-block.ts'
import { untranslatable } from '../untranslatable.ts'

/**
 * Reads `messages`. A result of a tool becomes a turn of its own, before the rest of its message. Blocks of tools that
 * ran at Anthropic are left out, and so are empty texts.
 *
 * @throws {UpstreamFailure} for content that a conversation cannot carry: an unknown block, a file by its id
 */
export function readMessagesTurns(messages: unknown): readonly Turn[] {
  const names = new Map<string, string>()
  return objectsOf(messages).flatMap(({ role, content }): readonly Turn[] => {
    if (role === 'system') return turnOf('system', readContent(content))
    if (role === 'user') return readUser(content, names)
    const parts = readAssistant(content)
    for (const part of parts) if (part.kind === 'call') names.set(part.id, part.name)
    return parts.length === 0 ? [] : [{ role: 'assistant', parts }]
  })
}

/** Reads text, or blocks that any message may have. */
export function readContent(content: unknown): readonly ContentPart[] {
  if (typeof content === 'string') return textParts(content, undefined)
  return objectsOf(content).flatMap(readBlock)
}

function turnOf(role: 'system' | 'user', parts: readonly ContentPart[]): readonly Turn[] {
  return parts.length === 0 ? [] : [{ role, parts }]
}

/** Reads a user message: results of tools as turns of their own, before the rest. @param names of calls, by id */
export function readUser(content: unknown, names: ReadonlyMap<string, string>): readonly Turn[] {
  const blocks = objectsOf(content)
  const results = blocks.filter(isResult).map((block): Turn => {
    const callId = textOf(block['tool_use_id']) ?? ''
    const parts = readContent(block['content'])
    const isError = block['is_error'] === true
    return { role: 'tool', callId, name: names.get(callId), parts, isError, cacheControl: cacheControlOf(block) }
  })
  const said = typeof content === 'string' ? content : blocks.filter((block) => !isResult(block))
  return [...results, ...turnOf('user', readContent(said))]
}

function isResult({ type }: JsonObject): boolean {
  return type === 'tool_result'
}

/** Reads the content of an assistant message. */
export function readAssistant(content: unknown): readonly AssistantPart[] {
  if (typeof content === 'string') return readContent(content)
  return objectsOf(content).flatMap((block): readonly AssistantPart[] => {
    switch (block['type']) {
      case 'thinking':
      case 'redacted_thinking':
        return readThinking(block)
      case 'tool_use': {
        const { id, name, input } = block
        return [
          { kind: 'call', id: textOf(id) ?? '', name: textOf(name) ?? '', input: objectOf(input), opaque: undefined },
        ]
      }
      default:
        return readBlock(block)
    }
  })
}

/** Thinking without a signature is another provider's, in plain text. */
function readThinking(block: JsonObject): readonly AssistantPart[] {
  const sealed = readThinkingBlock(block)
  if (sealed !== undefined) return [{ kind: 'reasoning', ...sealed }]
  const text = textOf(block['thinking']) ?? ''
  return text === '' ? [] : [{ kind: 'reasoning', text, opaque: undefined }]
}

function readBlock(block: JsonObject): readonly ContentPart[] {
  const cacheControl = cacheControlOf(block)
  const type = textOf(block['type']) ?? ''
  switch (type) {
    case 'text':
      return textParts(textOf(block['text']) ?? '', cacheControl)
    case 'image':
      return [readImage(objectOf(block['source']), cacheControl)]
    case 'document':
      return readDocument(block, cacheControl)
    case 'search_result':
      return readSearchResult(block, cacheControl)
    case 'tool_reference':
      // All tools are declared to providers of other formats, so that the name says enough.
      return textParts(`The tool '${textOf(block['tool_name']) ?? ''}' is available.`, cacheControl)
    default:
      if (type === 'server_tool_use' || type.endsWith('_tool_result')) return []
      throw untranslatable(`A block of type '${type.slice(0, 64)}'`, { field: 'messages' })
  }
}

function textParts(text: string, cacheControl: JsonObject | undefined): readonly ContentPart[] {
  return text === '' ? [] : [{ kind: 'text', text, cacheControl }]
}

function readImage({ type, media_type, data, url }: JsonObject, cacheControl: JsonObject | undefined): ContentPart {
  if (type === 'url') return readUrl(textOf(url) ?? '', { cacheControl })
  if (type !== 'base64')
    throw untranslatable('An image that is named only by its id', { field: 'messages', unsupported: 'image' })
  const mediaType = (textOf(media_type) ?? '').toLowerCase()
  const base64 = textOf(data) ?? ''
  return { kind: 'media', mediaType, base64, filename: undefined, detail: undefined, cacheControl }
}

/** A document: its title and context as text, then its content. */
function readDocument(block: JsonObject, cacheControl: JsonObject | undefined): readonly ContentPart[] {
  const { type, media_type, data, url, content } = objectOf(block['source'])
  const filename = textOf(block['title'])
  const about = textParts(textOf(block['context']) ?? '', undefined)
  switch (type) {
    case 'base64': {
      const mediaType = (textOf(media_type) ?? 'application/pdf').toLowerCase()
      const base64 = textOf(data) ?? ''
      return [...about, { kind: 'media', mediaType, base64, filename, detail: undefined, cacheControl }]
    }
    case 'text':
      return [...about, ...textParts(titled(filename, textOf(data) ?? ''), cacheControl)]
    case 'url':
      return [...about, readUrl(textOf(url) ?? '', { isFile: true, filename, cacheControl })]
    case 'content':
      return [...about, ...textParts(filename ?? '', undefined), ...readContent(content)]
    default:
      throw untranslatable('A document that is named only by its id', { field: 'messages', unsupported: 'document' })
  }
}

function readSearchResult(block: JsonObject, cacheControl: JsonObject | undefined): readonly ContentPart[] {
  const { title, source, content } = block
  const text = objectsOf(content)
    .map((part) => textOf(part['text']) ?? '')
    .join('\n')
  return textParts(titled(`${textOf(title) ?? ''} (${textOf(source) ?? ''})`, text), cacheControl)
}

function titled(title: string | undefined, text: string): string {
  return title === undefined || title === '' ? text : `${title}\n\n${text}`
}
