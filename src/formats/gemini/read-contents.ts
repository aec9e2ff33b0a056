import type { JsonObject } from '../../base/json-value.ts'
import type { AssistantPart, CallPart, ContentPart, ReasoningPart, Turn } from '../conversation.ts'
import { isObject, objectOf, objectsOf, oneOrMore, textOf } from '../exact-json.ts'
import { readUrl } from '../media-part.ts'
import { untranslatable } from '../untranslatable.ts'
import { openThoughts } from './sealed-thoughts.ts'
import { memberOf, snakeCase } from './spelling.ts'

/**
 * Reads `contents`. A result of a function becomes a turn of its own, before the rest of its content. Contents of the
 * model that follow each other become one turn, since clients keep each piece of a stream. Code that ran at Google is
 * left out, and so are empty texts. Calls without an id get one.
 *
 * @throws {UpstreamFailure} for content that a conversation cannot carry: an unknown part, a file stored at Google
 */
export function readContents(contents: unknown): readonly Turn[] {
  const open = openCalls()
  const turns: Turn[] = []
  /** The model's turn that may go on. */
  let said: AssistantPart[] = []

  function callOf(call: JsonObject): CallPart {
    const name = textOf(call['name']) ?? ''
    const id = open.add(callId(textOf(call['id'])), name)
    return { kind: 'call', id, name, input: objectOf(call['args']), opaque: undefined }
  }

  function resultOf(result: JsonObject): Turn {
    const given = callId(textOf(result['id']))
    const name = textOf(result['name']) ?? ''
    const found = open.take(given, name)
    return {
      role: 'tool',
      callId: found?.id ?? given ?? '',
      name: name === '' ? found?.name : name,
      ...readResult(result),
      cacheControl: undefined,
    }
  }

  function endSaid(): void {
    if (said.length > 0) turns.push({ role: 'assistant', parts: said })
    said = []
  }

  for (const { role, parts } of oneOrMore(contents)) {
    const read = oneOrMore(parts)
    if (role === 'model') {
      addPieces(said, withSealed(read.flatMap((part) => readModelPart(part, callOf))))
      continue
    }
    endSaid()
    const results = read.map((part) => memberOf(part, 'functionResponse')).filter(isObject)
    for (const result of results) turns.push(resultOf(result))
    const rest = read.filter((part) => memberOf(part, 'functionResponse') === undefined).flatMap(readPart)
    if (rest.length > 0) turns.push({ role: 'user', parts: rest })
  }
  endSaid()
  return turns
}

/** A call whose result has not come. */
interface OpenCall {
  readonly id: string
  readonly name: string
}

/** The calls without a result. */
interface OpenCalls {
  /** Adds a call, and returns its id: a new one if it has none. */
  add(id: string | undefined, name: string): string
  /** Takes the call of a result: by its id, else the first one of the function. */
  take(id: string | undefined, name: string): OpenCall | undefined
}

function openCalls(): OpenCalls {
  const calls = new Map<string, OpenCall>()
  /** Ids of the calls of each function, also of taken ones, and how many of them were taken for sure. */
  const named = new Map<string, { readonly ids: string[]; taken: number }>()
  let count = 0

  function firstOf(name: string): OpenCall | undefined {
    const list = named.get(name)
    while (list !== undefined && list.taken < list.ids.length) {
      const call = calls.get(list.ids[list.taken] ?? '')
      if (call !== undefined) return call
      list.taken++
    }
    return undefined
  }

  return {
    add(id = `call_${++count}`, name) {
      calls.set(id, { id, name })
      const list = named.get(name)
      if (list === undefined) named.set(name, { ids: [id], taken: 0 })
      else list.ids.push(id)
      return id
    },
    take(id, name) {
      const call = (id === undefined ? undefined : calls.get(id)) ?? firstOf(name)
      if (call !== undefined) calls.delete(call.id)
      return call
    },
  }
}

/** Reads the text of a system instruction. */
export function readInstruction(instruction: unknown): readonly Turn[] {
  const given = typeof instruction === 'string' ? instruction : objectOf(instruction)['parts']
  const parts = typeof given === 'string' ? textParts(given) : oneOrMore(given).flatMap(readPart)
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

/** Reads a part that any content may have. */
export function readPart(part: JsonObject): readonly ContentPart[] {
  const inline = memberOf(part, 'inlineData')
  const file = memberOf(part, 'fileData')
  const text = textOf(part['text'])
  if (isObject(inline)) return [readMedia(inline)]
  if (isObject(file)) return [readFile(file)]
  if (text !== undefined) return part['thought'] === true ? [] : textParts(text)
  const kind = Object.keys(part).find((name) => !dispensable.has(name) && part[name] !== null)
  if (kind === undefined) return []
  throw untranslatable(`A part with '${kind.slice(0, 64)}'`, { field: 'contents' })
}

/** Members of parts that only Google reads, and what ran there. */
const dispensable: ReadonlySet<string> = new Set(
  [
    'thought',
    'thoughtSignature',
    'videoMetadata',
    'mediaResolution',
    'partMetadata',
    'executableCode',
    'codeExecutionResult',
    'toolCall',
    'toolResponse',
  ].flatMap((name) => [name, snakeCase(name)]),
)

function textParts(text: string): readonly ContentPart[] {
  return text === '' ? [] : [{ kind: 'text', text, cacheControl: undefined }]
}

function readMedia(inline: JsonObject): ContentPart {
  return {
    kind: 'media',
    mediaType: mediaTypeOf(inline) ?? 'application/octet-stream',
    base64: textOf(inline['data']) ?? '',
    filename: textOf(memberOf(inline, 'displayName')),
    detail: undefined,
    cacheControl: undefined,
  }
}

function readFile(file: JsonObject): ContentPart {
  const uri = textOf(memberOf(file, 'fileUri')) ?? ''
  if (/^https:\/\/generativelanguage\.googleapis\.com\//i.test(uri))
    throw untranslatable('A file that is stored at Google', { field: 'contents' })
  return readUrl(uri, { isFile: mediaTypeOf(file)?.startsWith('image/') === false, cacheControl: undefined })
}

function mediaTypeOf(source: JsonObject): string | undefined {
  return textOf(memberOf(source, 'mimeType'))?.split(';')[0]?.trim().toLowerCase()
}

/** Reads a part of a model's content. A call has the reasoning before it in its signature, if svc wrote it. */
function readModelPart(part: JsonObject, callOf: (call: JsonObject) => CallPart): readonly AssistantPart[] {
  const call = memberOf(part, 'functionCall')
  const signature = textOf(memberOf(part, 'thoughtSignature'))
  if (isObject(call)) {
    const sealed = signature === undefined ? [] : (openThoughts(signature) ?? [])
    return [...sealed.map((each): ReasoningPart => ({ kind: 'reasoning', ...each })), callOf(call)]
  }
  const text = textOf(part['text'])
  if (part['thought'] !== true || text === undefined) return readPart(part)
  return text === '' ? [] : [{ kind: 'reasoning', text, opaque: undefined }]
}

/** Sealed reasoning has its text, so that plain thoughts would repeat it. */
function withSealed(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  const isSealed = (part: AssistantPart) => part.kind === 'reasoning' && part.opaque !== undefined
  return parts.some(isSealed) ? parts.filter((part) => part.kind !== 'reasoning' || isSealed(part)) : parts
}

/** Adds parts, of which texts and thoughts that follow each other are pieces of one. */
function addPieces(to: AssistantPart[], parts: readonly AssistantPart[]): void {
  for (const part of parts) {
    const last = to.at(-1)
    const end = to.length - 1
    if (part.kind === 'text' && last?.kind === 'text') to[end] = { ...last, text: last.text + part.text }
    else if (isPlain(part) && isPlain(last)) to[end] = { ...last, text: `${last.text ?? ''}${part.text ?? ''}` }
    else to.push(part)
  }
}

function isPlain(part: AssistantPart | undefined): part is ReasoningPart {
  return part?.kind === 'reasoning' && part.opaque === undefined
}

/** The result of a function. One under a usual name stands for itself. */
function readResult(result: JsonObject): { readonly parts: readonly ContentPart[]; readonly isError: boolean } {
  const response = objectOf(result['response'])
  const [name = '', ...others] = Object.keys(response)
  const isAlone = others.length === 0 && ['output', 'result', 'error'].includes(name)
  const value: unknown = isAlone ? response[name] : response
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const files = objectsOf(result['parts']).flatMap(readPart)
  return { parts: [...textParts(text), ...files], isError: isAlone && name === 'error' }
}

/** The id of a call. Clients may lengthen ids; other vendors take 40 characters of few kinds. */
function callId(id: string | undefined): string | undefined {
  if (id === undefined || id === '') return undefined
  return /^[A-Za-z0-9_-]{1,40}$/.test(id) ? id : `call_${Bun.hash(id).toString(36)}`
}
