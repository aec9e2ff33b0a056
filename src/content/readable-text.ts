import { isRecord, type JsonObject } from '../base/json-value.ts'
import { boundaryOf, FormSyntaxError, readForm, type FormPart } from '../bytes/multipart.ts'
import { runThrough } from '../bytes/pace.ts'
import { areNumbers, jsonWithoutMedia, mediaText, numbersText, textWithoutMedia, type SentBytes } from './media-text.ts'
import { plainEscapes } from './plain-escapes.ts'

const depthMax = 60

/** Members of a request with turns and texts, of all formats. Absent from here, a member is a setting. */
const questionMembers: readonly string[] = [
  'system',
  'instructions',
  'systemInstruction',
  'system_instruction',
  'messages',
  'contents',
  'input',
  'prompt',
  'query',
  'documents',
  'content',
  'requests',
]
const turnMembers: ReadonlySet<string> = new Set(['messages', 'contents'])
/** Facts that the row of the request has. */
const knownMembers: ReadonlySet<string> = new Set(['model', 'stream'])
/** Members of an answer with its content, of all formats: the first one counts. */
const answerMembers: readonly string[] = ['choices', 'candidates', 'output', 'content', 'data', 'results', 'text']
const callMembers: readonly string[] = ['arguments', 'input', 'args']
const reasoningMembers: readonly string[] = ['reasoning_content', 'reasoning', 'thinking', 'summary']
const textMembers: readonly string[] = [
  'message',
  'text',
  'content',
  'parts',
  'refusal',
  'transcript',
  'tool_calls',
  'output',
  'embedding',
]

/** A request as text for readers: roles, texts and calls, then its settings. Media become size and SHA-256. */
export function questionText({ bytes, contentType }: SentBytes): string {
  const boundary = boundaryOf(contentType)
  if (boundary !== undefined) return formText(bytes, boundary)
  const value = parsed(bytes)
  if (!isRecord(value)) return textWithoutMedia(decoded(bytes))
  const pieces = questionMembers
    .filter((name) => name in value)
    .map((name) => (turnMembers.has(name) ? readable(value[name]) : titled(name, readable(value[name]))))
  const settings = Object.entries(value).filter(([name]) => !questionMembers.includes(name) && !knownMembers.has(name))
  if (settings.length > 0) pieces.push(titled('settings', jsonWithoutMedia(Object.fromEntries(settings))))
  return joined(pieces, '\n\n')
}

/** A whole answer as text for readers. */
export function answerText({ bytes, contentType }: SentBytes): string {
  if (contentType !== '' && !/^text\/|json|subrip/.test(contentType)) return mediaText(bytes, contentType)
  const value = parsed(bytes)
  if (!isRecord(value)) return textWithoutMedia(decoded(bytes))
  const name = answerMembers.find((each) => each in value)
  return name === undefined ? jsonWithoutMedia(value) : readable(value[name], { depth: 0, hasRoles: false })
}

/** A call of a tool. */
export function callText(call: JsonObject): string {
  const member = callMembers.find((each) => each in call)
  const given = member === undefined ? '' : call[member]
  const text = typeof given === 'string' ? plainEscapes(textWithoutMedia(given)) : jsonWithoutMedia(given)
  return `[call ${String(call['name'] ?? '')}] ${text}`
}

/** Where a value is. */
interface Place {
  readonly depth: number
  /** Roles are shown. */
  readonly hasRoles: boolean
}

const question: Place = { depth: 0, hasRoles: true }

function readable(value: unknown, { depth, hasRoles }: Place = question): string {
  if (typeof value === 'string') return textWithoutMedia(value)
  if (value === null || value === undefined || depth > depthMax) return ''
  const place = { depth: depth + 1, hasRoles }
  if (Array.isArray(value)) return readableList(value, place)
  return isRecord(value) ? readableObject(value, place) : String(value)
}

function readableList(list: readonly unknown[], place: Place): string {
  if (areNumbers(list)) return numbersText(list)
  const hasTurns = list.some((item) => isRecord(item) && ('role' in item || 'message' in item))
  return joined(
    list.map((item) => readable(item, place)),
    hasTurns ? '\n\n' : '\n',
  )
}

function readableObject(object: JsonObject, place: Place): string {
  const pieces: string[] = []
  if (place.hasRoles && typeof object['role'] === 'string') pieces.push(`[${object['role']}]`)
  const call = callOf(object)
  if (call !== undefined) pieces.push(callText(call))
  for (const member of reasoningMembers) {
    const text = typeof object[member] === 'object' || typeof object[member] === 'string' ? object[member] : undefined
    pieces.push(titled('reasoning', readable(text, place)))
  }
  const texts = call === undefined ? textMembers.filter((member) => member in object) : []
  for (const member of texts) pieces.push(readable(object[member], place))
  const text = joined(pieces, '\n')
  return text === '' && texts.length === 0 ? jsonWithoutMedia(object) : text
}

/** The call of a tool in a piece of content, in any format. */
function callOf(object: JsonObject): JsonObject | undefined {
  for (const member of ['function', 'functionCall', 'function_call']) {
    const call = object[member]
    if (isRecord(call)) return call
  }
  return typeof object['name'] === 'string' && callMembers.some((member) => member in object) ? object : undefined
}

function formText(bytes: Uint8Array, boundary: string): string {
  try {
    const parts = runThrough(readForm(bytes, boundary, { limit: Infinity }))
    return joined(
      parts.map((part) => titled(part.name, partText(bytes, part))),
      '\n\n',
    )
  } catch (error) {
    if (error instanceof FormSyntaxError) return mediaText(bytes, 'multipart/form-data')
    throw error
  }
}

function partText(bytes: Uint8Array, { isFile, contentType, start, end }: FormPart): string {
  const content = bytes.subarray(start, end)
  return isFile ? mediaText(content, contentType || 'file') : textWithoutMedia(decoded(content))
}

function titled(name: string, text: string): string {
  return text === '' ? '' : `[${name}]\n${text}`
}

function joined(pieces: readonly string[], separator: string): string {
  return pieces.filter((piece) => piece !== '').join(separator)
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoded(bytes))
  } catch {
    return undefined // It is read as text.
  }
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
