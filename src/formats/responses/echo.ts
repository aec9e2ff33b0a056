import { utf8 } from '../../bytes/text.ts'
import { encodeJson, isObject, parseJson } from '../exact-json.ts'
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
    if (value !== 'null') values[name] = name === 'text' || name === 'reasoning' ? withDefaults(name, value) : value
  }
  return `${constant},${Object.entries(values)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',')}`
}

/** Adds the members that clients rely on. */
function withDefaults(name: string, value: string): string {
  const given = parseJson(value)
  const defaults = parseJson(repeated[name] ?? '{}')
  if (!isObject(given) || !isObject(defaults)) return value
  return utf8(encodeJson({ ...defaults, ...given }))
}
