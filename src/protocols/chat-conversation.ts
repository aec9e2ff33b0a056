import { UpstreamFailure } from '../service/failure.ts'
import { isObject, objectOf, objectsOf, parseJson, textOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'

/**
 * A piece of a message. `source` is the part as the caller wrote it, for fields of other houses such as
 * `cache_control`.
 */
export type ChatPart =
  | { readonly kind: 'text'; readonly text: string; readonly source: JsonObject }
  /** Bytes that came with the request. `mediaType` is lower-case, without parameters. */
  | {
      readonly kind: 'media'
      readonly mediaType: string
      readonly base64: string
      readonly filename: string | undefined
      readonly source: JsonObject
    }
  /** Something the upstream is to fetch itself. */
  | { readonly kind: 'link'; readonly url: string; readonly source: JsonObject }

/** A function call the model made earlier. */
export interface ChatToolCall {
  readonly id: string
  readonly name: string
  /** Its arguments; an empty object when they were no JSON object. */
  readonly input: JsonObject
  readonly source: JsonObject
}

/** One message of the conversation, system messages apart. */
export type ChatTurn =
  | { readonly role: 'user'; readonly parts: readonly ChatPart[] }
  | {
      readonly role: 'assistant'
      readonly parts: readonly ChatPart[]
      readonly toolCalls: readonly ChatToolCall[]
      readonly source: JsonObject
    }
  /** The result of a function call; `name` is that of the function, when the call is in the conversation. */
  | {
      readonly role: 'tool'
      readonly callId: string
      readonly name: string | undefined
      readonly parts: readonly ChatPart[]
      readonly source: JsonObject
    }

/** The messages of a request, read once for every protocol that translates. */
export interface Conversation {
  /** System and developer messages, wherever they stood. */
  readonly system: readonly ChatPart[]
  readonly turns: readonly ChatTurn[]
}

/**
 * The failure of a request that cannot be said in the upstream's language, so that the next provider is asked. `what`
 * is the subject of the sentence.
 */
export function untranslatable(what: string): UpstreamFailure {
  return new UpstreamFailure('bad_request', `${what} cannot be translated for this provider`)
}

/**
 * Reads `messages` (docs/api.md and the format's own `developer`, `tool` and `function`).
 *
 * @throws {UpstreamFailure} for what no translation could carry: an unknown role or part, a custom tool call, a file by
 *   id
 */
export function readConversation(messages: unknown): Conversation {
  const system: ChatPart[] = []
  const turns: ChatTurn[] = []
  const names = new Map<string, string>()
  let lastFunctionCall = ''
  for (const [index, message] of objectsOf(messages).entries()) {
    const parts = readParts(message['content'])
    switch (message['role']) {
      case 'system':
      case 'developer':
        for (const part of parts) system.push(part)
        break
      case 'user':
        turns.push({ role: 'user', parts })
        break
      case 'assistant': {
        const toolCalls = readToolCalls(message, index)
        for (const { id, name } of toolCalls) names.set(id, name)
        lastFunctionCall = toolCalls.at(-1)?.id ?? lastFunctionCall
        const refusal = textOf(message['refusal'])
        turns.push({
          role: 'assistant',
          parts: parts.length === 0 && refusal !== undefined ? readParts(refusal) : parts,
          toolCalls,
          source: message,
        })
        break
      }
      case 'tool':
      case 'function': {
        const callId = textOf(message['tool_call_id']) ?? lastFunctionCall
        turns.push({ role: 'tool', callId, name: names.get(callId) ?? textOf(message['name']), parts, source: message })
        break
      }
      default:
        throw untranslatable('A message of this role')
    }
  }
  return { system, turns }
}

/** The texts of the parts, one below the other; other kinds of parts are left out. */
export function joinTexts(parts: readonly ChatPart[]): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')
}

function readParts(content: unknown): readonly ChatPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content, source: {} }]
  return objectsOf(content).map(readPart)
}

function readPart(part: JsonObject): ChatPart {
  switch (part['type']) {
    case 'text':
      return { kind: 'text', text: textOf(part['text']) ?? '', source: part }
    case 'refusal':
      return { kind: 'text', text: textOf(part['refusal']) ?? '', source: part }
    case 'image_url': {
      const image = part['image_url']
      return readUrl(textOf(image) ?? textOf(objectOf(image)['url']) ?? '', undefined, part)
    }
    case 'input_audio': {
      const { data, format } = objectOf(part['input_audio'])
      const base64 = textOf(data) ?? ''
      if (base64.startsWith('data:')) return readUrl(base64, undefined, part)
      return {
        kind: 'media',
        mediaType: `audio/${textOf(format) ?? 'wav'}`.toLowerCase(),
        base64,
        filename: undefined,
        source: part,
      }
    }
    case 'file':
      return readFile(objectOf(part['file']), part)
    default:
      throw untranslatable('A content part of this type')
  }
}

function readFile(file: JsonObject, source: JsonObject): ChatPart {
  const data = textOf(file['file_data'])
  if (data === undefined) throw untranslatable('A file that is named only by its id')
  const filename = textOf(file['filename'])
  if (/^[a-z]+:/i.test(data)) return readUrl(data, filename, source)
  if (filename?.toLowerCase().endsWith('.pdf') !== true) throw untranslatable('A file without a media type')
  return { kind: 'media', mediaType: 'application/pdf', base64: data, filename, source }
}

function readUrl(url: string, filename: string | undefined, source: JsonObject): ChatPart {
  const scheme = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase()
  if (scheme === 'data') return readDataUrl(url, filename, source)
  if (scheme === 'http' || scheme === 'https' || scheme === 'gs') return { kind: 'link', url, source }
  throw untranslatable('An address that is neither data: nor http(s):')
}

/** Media type, then parameters, then `base64`, up to the first comma (RFC 2397). */
function readDataUrl(url: string, filename: string | undefined, source: JsonObject): ChatPart {
  const comma = url.indexOf(',')
  if (comma === -1) throw untranslatable('A data: address without a comma')
  const [type = '', ...parameters] = url
    .slice('data:'.length, comma)
    .split(';')
    .map((field) => field.trim().toLowerCase())
  const payload = url.slice(comma + 1)
  const mediaType = type === '' ? 'text/plain' : type === 'image/jpg' ? 'image/jpeg' : type
  return {
    kind: 'media',
    mediaType,
    base64: parameters.includes('base64') ? payload : percentToBase64(payload),
    filename,
    source,
  }
}

function percentToBase64(payload: string): string {
  try {
    return Buffer.from(decodeURIComponent(payload)).toString('base64')
  } catch (error) {
    if (error instanceof URIError) throw untranslatable('A data: address with broken percent signs')
    throw error
  }
}

function readToolCalls(message: JsonObject, index: number): readonly ChatToolCall[] {
  const legacy = message['function_call']
  if (isObject(legacy)) return [readFunction(`call_${index}`, legacy, {})]
  return objectsOf(message['tool_calls']).map((call, position) => {
    if (!isObject(call['function'])) throw untranslatable('A call of a custom tool')
    return readFunction(textOf(call['id']) ?? `call_${index}_${position}`, call['function'], call)
  })
}

function readFunction(id: string, called: JsonObject, source: JsonObject): ChatToolCall {
  return { id, name: textOf(called['name']) ?? '', input: readArguments(textOf(called['arguments']) ?? ''), source }
}

function readArguments(text: string): JsonObject {
  try {
    return objectOf(parseJson(text))
  } catch {
    // Models do write broken arguments; the conversation can go on without them, and must not fail for ever.
    return {}
  }
}

/** Runs of neighbours with the same role become one; those with nothing in them go. */
export function mergeTurns<Role extends string, Piece>(
  turns: readonly { readonly role: Role; readonly pieces: readonly Piece[] }[],
): readonly { readonly role: Role; readonly pieces: readonly Piece[] }[] {
  const merged: { role: Role; pieces: Piece[] }[] = []
  for (const { role, pieces } of turns) {
    if (pieces.length === 0) continue
    const last = merged.at(-1)
    if (last?.role === role) for (const piece of pieces) last.pieces.push(piece)
    else merged.push({ role, pieces: [...pieces] })
  }
  return merged
}
