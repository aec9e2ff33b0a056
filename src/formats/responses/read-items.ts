import type { JsonObject } from '../../base/json-value.ts'
import type { UpstreamFailure } from '../../service/failure.ts'
import type { AssistantPart, CallPart, ContentPart, ReasoningPart, ToolTurn, Turn } from '../conversation.ts'
import { isObject, objectOf, objectsOf, readArguments, textOf } from '../exact-json.ts'
import { readFileData, readUrl } from '../media-part.ts'
import { isSealed } from '../opaque-seal.ts'
import { untranslatable } from '../untranslatable.ts'
import { toolSearch, type ToolNames } from './tool-names.ts'

/** Types of items that do not become turns. Tools are read elsewhere. */
const ignoredTypes: ReadonlySet<unknown> = new Set(['additional_tools', 'web_search_call', 'image_generation_call'])

/** The items of a request. */
export interface ReadItems {
  readonly turns: readonly Turn[]
  /** The members of the last `configuration_update`. */
  readonly reconfigured: JsonObject
}

/**
 * Reads `input` (docs/api.md). Neighbours of one answer become one turn. Items of the vendor's own searches and
 * pictures are left out, since only the text of the answer depends on them.
 *
 * @throws {UpstreamFailure} for other items that a conversation cannot carry
 */
export function readItems(input: unknown, names: ToolNames): ReadItems {
  if (typeof input === 'string') return { turns: [{ role: 'user', parts: [textPart(input)] }], reconfigured: {} }
  const turns: Turn[] = []
  const called = new Map<string, string>()
  let answer: AssistantPart[] = []
  let reconfigured: JsonObject = {}

  function add(turn: Turn): void {
    if (answer.length > 0) turns.push({ role: 'assistant', parts: answer })
    answer = []
    turns.push(turn)
  }

  function addMessage({ role, content }: JsonObject): void {
    const parts = readParts(content)
    if (role === 'assistant') for (const part of parts) answer.push(part)
    else add({ role: role === 'user' ? 'user' : 'system', parts })
  }

  function addCall(item: JsonObject): void {
    const call = readCall(item, names)
    if (call === undefined) return
    called.set(call.id, call.name)
    answer.push(call)
  }

  function addFoundTools(item: JsonObject): void {
    const output = readSearchOutput(item)
    if (output !== undefined) add(output)
  }

  function addReasoning(item: JsonObject): void {
    const part = readReasoning(item)
    if (part !== undefined) answer.push(part)
  }

  for (const item of objectsOf(input)) {
    const type = item['type'] ?? 'message'
    switch (type) {
      case 'message':
        addMessage(item)
        break
      case 'function_call':
      case 'custom_tool_call':
      case 'tool_search_call':
        addCall(item)
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        add(readOutput(item, called))
        break
      case 'tool_search_output':
        addFoundTools(item)
        break
      case 'reasoning':
        addReasoning(item)
        break
      case 'configuration_update':
        reconfigured = item
        break
      default:
        if (!ignoredTypes.has(type)) throw unknownItem(type)
    }
  }
  if (answer.length > 0) turns.push({ role: 'assistant', parts: answer })
  return { turns, reconfigured }
}

function unknownItem(type: unknown): UpstreamFailure {
  return untranslatable(`An item of the type ${(textOf(type) ?? '').slice(0, 64)}`, { field: 'input' })
}

/** Undefined for a search at the vendor, whose tools are all declared. */
function readCall(item: JsonObject, names: ToolNames): CallPart | undefined {
  const { type, call_id, name, namespace, arguments: given, input } = item
  const id = textOf(call_id)
  if (id === undefined) return undefined
  const wireName = type === 'tool_search_call' ? toolSearch : names.wireName(textOf(name) ?? '', textOf(namespace))
  const call = { kind: 'call', id, name: wireName, opaque: undefined } as const
  if (type === 'custom_tool_call') return { ...call, input: { input: textOf(input) ?? '' } }
  return { ...call, input: typeof given === 'string' ? readArguments(given) : objectOf(given) }
}

function readOutput({ call_id, output }: JsonObject, called: ReadonlyMap<string, string>): ToolTurn {
  const callId = textOf(call_id) ?? ''
  return {
    role: 'tool',
    callId,
    name: called.get(callId),
    parts: readParts(output),
    isError: false,
    cacheControl: undefined,
  }
}

function readSearchOutput({ call_id, tools }: JsonObject): ToolTurn | undefined {
  const callId = textOf(call_id)
  if (callId === undefined) return undefined
  const found = objectsOf(tools).map(({ name }) => textOf(name) ?? '')
  const parts = [
    textPart(found.length === 0 ? 'No tools found.' : `These tools are now available: ${found.join(', ')}`),
  ]
  return { role: 'tool', callId, name: toolSearch, parts, isError: false, cacheControl: undefined }
}

/** Undefined for reasoning that only another service can read, and for that without text. */
function readReasoning({ summary, content, encrypted_content }: JsonObject): ReasoningPart | undefined {
  const texts = [summary, content].map((list) => objectsOf(list).map(({ text }) => textOf(text) ?? ''))
  const text = texts.map((each) => each.join('\n\n')).find((each) => each !== '') ?? ''
  const encrypted = textOf(encrypted_content)
  if (encrypted !== undefined && encrypted !== '') {
    return isSealed(encrypted) ? { kind: 'reasoning', text, opaque: { maker: 'sealed', data: encrypted } } : undefined
  }
  return text === '' ? undefined : { kind: 'reasoning', text, opaque: undefined }
}

function readParts(content: unknown): readonly ContentPart[] {
  return typeof content === 'string' ? [textPart(content)] : objectsOf(content).map(readPart)
}

function readPart(part: JsonObject): ContentPart {
  const { type, text, refusal, image_url, detail, file_data, file_url, filename, input_audio } = part
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return textPart(textOf(text) ?? '')
    case 'refusal':
      return textPart(textOf(refusal) ?? '')
    case 'input_image':
      return readUrl(textOf(image_url) ?? '', { detail: textOf(detail), cacheControl: undefined })
    case 'input_file':
      return readFileData(textOf(file_data) ?? textOf(file_url), textOf(filename), undefined)
    case 'input_audio': {
      const { data, format } = isObject(input_audio) ? input_audio : {}
      const mediaType = `audio/${textOf(format) ?? 'wav'}`.toLowerCase()
      const base64 = textOf(data) ?? ''
      return { kind: 'media', mediaType, base64, filename: undefined, detail: undefined, cacheControl: undefined }
    }
    default:
      throw untranslatable('A content part of this type', { field: 'input' })
  }
}

function textPart(text: string): ContentPart {
  return { kind: 'text', text, cacheControl: undefined }
}
