import { indexOfBytes } from '../bytes/text.ts'
import { isObject, parseJsonBytes, textOf } from './exact-json.ts'

const encoder = new TextEncoder()

/** Texts of which a body with content by reference has one, in every format. */
const marks = ['"file_id"', '"file_url"', '"fileUri"', '"file_uri"', 'http', '"cachedContent"', '"cached_content"'].map(
  (text) => encoder.encode(text),
)

/** Members with what models and tools have said: addresses in them are text. */
const said: ReadonlySet<string> = new Set(['input_schema', 'parameters', 'arguments', 'args', 'response', 'text'])

/**
 * Counts the content of a request that is named by its address, or by the id of a stored file, in any format: its size
 * is not known. Most requests have none of the {@link marks}, and are not parsed.
 */
export function referencesIn(body: Uint8Array): number {
  if (marks.every((mark) => indexOfBytes(body, mark) === -1)) return 0
  let request: unknown
  try {
    request = parseJsonBytes(body)
  } catch {
    return 0
  }
  if (!isObject(request)) return 0
  const { messages, input, contents, system, systemInstruction, system_instruction, requests } = request
  const places = [messages, input, contents, system, systemInstruction, system_instruction, requests]
  const cached = [request['cachedContent'], request['cached_content']].filter((name) => textOf(name) !== undefined)
  return cached.length + places.reduce((sum: number, place) => sum + countIn(place), 0)
}

function countIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, each: unknown) => sum + countIn(each), 0)
  if (!isObject(value)) return 0
  // The input of a call is what a model has said.
  if (value['type'] === 'tool_use' || value['type'] === 'function_call') return 0
  const own = isReference(value) ? 1 : 0
  return Object.entries(value).reduce((sum, [name, each]) => (said.has(name) ? sum : sum + countIn(each)), own)
}

/** Whether an object names content: an address that is no data, or an id of a file. */
function isReference({
  url,
  image_url,
  file_url,
  file_id,
  fileUri,
  file_uri,
  file_data,
}: {
  readonly [name: string]: unknown
}): boolean {
  const addresses = [url, image_url, file_url, fileUri, file_uri, file_data].flatMap((each) => textOf(each) ?? [])
  return (
    textOf(file_id) !== undefined ||
    addresses.some((address) => /^[a-z][a-z\d+.-]*:/i.test(address) && !/^data:/i.test(address))
  )
}
