import { utf8 } from '../../bytes/text.ts'
import { encodeJson, isObject, listOf, objectOf, parseJson } from '../exact-json.ts'
import { isStrict } from './read-tools.ts'
import type { ResponsesRequest } from './request.ts'

/** Longer fields are not repeated in the answer, which names them three times. */
const repeatedBytesMax = 96 * 1024

/** Fields of a response that repeat the request, with their defaults. */
const repeated: Readonly<Record<string, string>> = {
  instructions: 'null',
  max_output_tokens: 'null',
  max_tool_calls: 'null',
  metadata: '{}',
  parallel_tool_calls: 'true',
  prompt_cache_key: 'null',
  reasoning: '{"effort":null,"summary":null}',
  safety_identifier: 'null',
  temperature: '1',
  text: '{"format":{"type":"text"}}',
  tool_choice: '"auto"',
  tools: '[]',
  top_logprobs: '0',
  top_p: '1',
  truncation: '"disabled"',
  user: 'null',
}

/** Fields that are the same in every response. `store`: nothing is kept, also if the caller asked for it. */
const constant =
  '"background":false,"frequency_penalty":0,"presence_penalty":0,"previous_response_id":null,' +
  '"service_tier":"default","store":false'

/** The members of a response that do not depend on the answer, as JSON without braces. */
export function echoOf(request?: ResponsesRequest): string {
  let bytesLeft = repeatedBytesMax
  const values = { ...repeated }
  for (const { name, valueStart, end } of request?.members ?? []) {
    if (!Object.hasOwn(repeated, name) || end - valueStart > bytesLeft) continue
    bytesLeft -= end - valueStart
    // Line breaks between the tokens would end the event.
    const value = utf8(request?.body ?? new Uint8Array(), valueStart, end).replace(/[\r\n]/g, ' ')
    if (value !== 'null') values[name] = shown(name, value)
  }
  return `${constant},${Object.entries(values)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',')}`
}

function shown(name: string, value: string): string {
  if (name === 'tools') return withStrict(value)
  return name === 'text' || name === 'reasoning' ? withDefaults(name, value) : value
}

/** Functions have `strict` in responses, as providers of other formats were told. */
function withStrict(value: string): string {
  const tools = listOf(parseJson(value))
  const lacks = (tool: unknown): boolean => objectOf(tool)['type'] === 'function' && !isGiven(objectOf(tool)['strict'])
  if (!tools.some(lacks)) return value
  return JSON.stringify(
    tools.map((tool) => (lacks(tool) ? { ...objectOf(tool), strict: isStrict(objectOf(tool)) } : tool)),
  )
}

function isGiven(strict: unknown): boolean {
  return typeof strict === 'boolean'
}

/** Adds the members that clients rely on. */
function withDefaults(name: string, value: string): string {
  const given = parseJson(value)
  const defaults = parseJson(repeated[name] ?? '{}')
  if (!isObject(given) || !isObject(defaults)) return value
  return utf8(encodeJson({ ...defaults, ...given }))
}
