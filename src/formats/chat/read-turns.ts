import type { JsonObject } from '../../base/json-value.ts'
import { cacheControlOf } from '../cache-control.ts'
import type { AssistantPart, CallPart, ContentPart, Opaque, ReasoningPart, Turn } from '../conversation.ts'
import { isObject, objectOf, objectsOf, readArguments, textOf } from '../exact-json.ts'
import { readFileData, readUrl } from '../media-part.ts'
import { readAssistant, readUser } from '../messages/read-turns.ts'
import { readThinkingBlock } from '../thinking-block.ts'
import { untranslatable } from '../untranslatable.ts'
import { readCallSignature } from './call-signature.ts'

/**
 * Reads `messages` (docs/api.md, and the roles `developer`, `tool` and `function`).
 *
 * @throws {UpstreamFailure} for content that a conversation cannot carry: an unknown role or part, a file by id
 */
export function readChatTurns(messages: unknown): readonly Turn[] {
  const known: KnownCalls = { names: new Map(), last: '' }
  return objectsOf(messages).flatMap((message, index): Turn | readonly Turn[] =>
    message['role'] === 'user' && hasBlocks(message['content'])
      ? readUser(message['content'], known.names)
      : readTurn(message, index, known),
  )
}

/** The calls of the messages before. */
interface KnownCalls {
  /** Names by ids. */
  readonly names: Map<string, string>
  /** Id of the last one. */
  last: string
}

function readTurn(message: JsonObject, index: number, known: KnownCalls): Turn {
  const { role, content } = message
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: readParts(content) }
    case 'user':
      return { role, parts: readParts(content) }
    case 'assistant': {
      const parts = readAssistantParts(message, index)
      for (const { id, name } of parts.filter((part) => part.kind === 'call')) {
        known.names.set(id, name)
        known.last = id
      }
      return { role, parts }
    }
    case 'tool':
    case 'function': {
      const callId = textOf(message['tool_call_id']) ?? known.last
      const name = known.names.get(callId) ?? textOf(message['name'])
      const parts = readParts(content)
      return { role: 'tool', callId, name, parts, isError: false, cacheControl: cacheControlOf(message) }
    }
    default:
      throw untranslatable('A message of this role')
  }
}

function readAssistantParts(message: JsonObject, index: number): readonly AssistantPart[] {
  const { content } = message
  const parts = hasBlocks(content) ? readAssistant(content) : readParts(content)
  const refusal = textOf(message['refusal'])
  const said = parts.length === 0 && refusal !== undefined ? readParts(refusal) : parts
  return [...readReasoning(message), ...said, ...readCalls(message, index)]
}

const blockTypes: ReadonlySet<unknown> = new Set(['tool_use', 'tool_result', 'thinking', 'redacted_thinking'])

/** Some clients leave content as Messages has it, for a model of Anthropic's. */
function hasBlocks(content: unknown): boolean {
  return Array.isArray(content) && objectsOf(content).some(({ type }) => blockTypes.has(type))
}

/** Reads the blocks of signed reasoning, after the plain text of reasoning unless that is the text of the blocks. */
function readReasoning({ thinking_blocks, reasoning_content, reasoning }: JsonObject): readonly ReasoningPart[] {
  const sealed = objectsOf(thinking_blocks).flatMap((block): ReasoningPart[] => {
    const read = readThinkingBlock(block)
    return read === undefined ? [] : [{ kind: 'reasoning', ...read }]
  })
  const text = textOf(reasoning_content) || textOf(reasoning)
  if (text === undefined || text === '' || text === sealed.map((part) => part.text ?? '').join('')) return sealed
  return [{ kind: 'reasoning', text, opaque: undefined }, ...sealed]
}

function readParts(content: unknown): readonly ContentPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content, cacheControl: undefined }]
  return objectsOf(content).map(readPart)
}

function readPart(part: JsonObject): ContentPart {
  const cacheControl = cacheControlOf(part)
  switch (part['type']) {
    case 'text':
      return { kind: 'text', text: textOf(part['text']) ?? '', cacheControl }
    case 'refusal':
      return { kind: 'text', text: textOf(part['refusal']) ?? '', cacheControl }
    case 'image_url': {
      const image = part['image_url']
      const { url, detail } = objectOf(image)
      return readUrl(textOf(image) ?? textOf(url) ?? '', { detail: textOf(detail), cacheControl })
    }
    case 'input_audio': {
      const { data, format } = objectOf(part['input_audio'])
      const base64 = textOf(data) ?? ''
      if (base64.startsWith('data:')) return readUrl(base64, { cacheControl })
      const mediaType = `audio/${textOf(format) ?? 'wav'}`.toLowerCase()
      return { kind: 'media', mediaType, base64, filename: undefined, detail: undefined, cacheControl }
    }
    case 'file': {
      const { file_data, filename } = objectOf(part['file'])
      return readFileData(textOf(file_data), textOf(filename), cacheControl)
    }
    default:
      throw untranslatable('A content part of this type', { field: 'messages' })
  }
}

function readCalls(message: JsonObject, index: number): readonly CallPart[] {
  const legacy = message['function_call']
  if (isObject(legacy)) return [readCall(`call_${index}`, legacy, undefined)]
  return objectsOf(message['tool_calls']).map((call, position) => {
    const id = textOf(call['id']) ?? `call_${index}_${position}`
    if (isObject(call['function'])) return readCall(id, call['function'], readCallSignature(call))
    const { name, input } = objectOf(call['custom'])
    return { kind: 'call', id, name: textOf(name) ?? '', input: { input: textOf(input) ?? '' }, opaque: undefined }
  })
}

function readCall(id: string, called: JsonObject, opaque: Opaque | undefined): CallPart {
  const given = called['arguments']
  // Some clients keep the arguments in their history as an object.
  const input = isObject(given) ? given : readArguments(textOf(given) ?? '')
  return { kind: 'call', id, name: textOf(called['name']) ?? '', input, opaque }
}
