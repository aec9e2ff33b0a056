import type { JsonObject } from '../../base/json-value.ts'
import type { AnswerFormat, Conversation, Effort } from '../conversation.ts'
import { isObject, listOf, numberOf, objectOf, parseJsonBytes, textOf } from '../exact-json.ts'
import { untranslatable } from '../untranslatable.ts'
import { readItems } from './read-items.ts'
import { readResponsesTools } from './read-tools.ts'
import type { ResponsesRequest } from './request.ts'
import { declaredTools, toolNames } from './tool-names.ts'

const efforts: ReadonlySet<unknown> = new Set<Effort>(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

/**
 * Reads a checked request (docs/api.md). `null` counts as absent.
 *
 * @param drop names of top-level fields that the provider refuses: they count as absent
 * @throws {UpstreamFailure} `bad_request` for content that a conversation cannot carry
 */
export function readResponsesRequest(request: ResponsesRequest, drop: readonly string[]): Conversation {
  const fields = readFields(request.body, drop)
  const { input, instructions, text, reasoning, max_output_tokens, temperature, top_p, top_logprobs, include } = fields
  const { safety_identifier, user } = fields
  const declared = drop.includes('tools') ? [] : declaredTools(request)
  const names = toolNames(declared)
  const { turns, reconfigured } = readItems(input, names)
  const effort = objectOf(reconfigured['reasoning'] ?? reasoning)['effort']
  const system = textOf(instructions) ?? ''
  return {
    format: 'responses',
    turns:
      system === ''
        ? turns
        : [{ role: 'system', parts: [{ kind: 'text', text: system, cacheControl: undefined }] }, ...turns],
    tools: readResponsesTools(declared, names, fields),
    answerFormat: readAnswerFormat(objectOf(objectOf(reconfigured['text'] ?? text)['format'])),
    modalities: [],
    effort: isEffort(effort) ? effort : undefined,
    maxTokens: numberOf(max_output_tokens),
    stops: [],
    choices: undefined,
    temperature: numberOf(temperature),
    topP: numberOf(top_p),
    topK: undefined,
    presencePenalty: undefined,
    frequencyPenalty: undefined,
    seed: undefined,
    logprobs: readLogprobs(numberOf(top_logprobs), include),
    user: textOf(safety_identifier) ?? textOf(user),
    serviceTier: undefined,
    cacheKey: textOf(fields['prompt_cache_key']),
    own: {},
  }
}

function readFields(bytes: Uint8Array, drop: readonly string[]): JsonObject {
  const body = parseBody(bytes)
  if (!isObject(body)) throw untranslatable('A request other than a JSON object')
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null && !drop.includes(name)))
}

function parseBody(bytes: Uint8Array): unknown {
  try {
    return parseJsonBytes(bytes)
  } catch {
    // The request was checked before, so a detailed message would not help the caller.
    throw untranslatable('This request')
  }
}

function isEffort(value: unknown): value is Effort {
  return efforts.has(value)
}

function readLogprobs(alternatives: number | undefined, include: unknown): Conversation['logprobs'] {
  const isIncluded = listOf(include).includes('message.output_text.logprobs')
  return isIncluded || (alternatives ?? 0) > 0 ? { alternatives } : undefined
}

function readAnswerFormat({ type, schema, name, description, strict }: JsonObject): AnswerFormat {
  if (type === 'json_object') return { kind: 'json' }
  if (type === 'text' || type === undefined) return { kind: 'text' }
  if (type !== 'json_schema') throw untranslatable(`An answer format of the type '${textOf(type)}'`)
  if (!isObject(schema)) return { kind: 'json' }
  return { kind: 'schema', schema, name: textOf(name), description: textOf(description), isStrict: strict === true }
}
