import type { JsonObject } from '../../base/json-value.ts'
import type { Ask } from '../ask.ts'
import type { AnswerFormat, Conversation, Effort } from '../conversation.ts'
import { isObject, listOf, numberOf, objectOf, parseJsonBytes, textOf } from '../exact-json.ts'
import { untranslatable } from '../untranslatable.ts'
import { readContents, readInstruction } from './read-contents.ts'
import { readSchema } from './read-schema.ts'
import { readGeminiTools } from './read-tools.ts'
import { memberOf, snakeCase } from './spelling.ts'

/** The largest budget of thinking for each effort. */
const budgets: readonly (readonly [tokens: number, effort: Effort])[] = [
  [0, 'none'],
  [1_024, 'low'],
  [8_192, 'medium'],
]
const levels: ReadonlyMap<string, Effort> = new Map([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
])

/**
 * Reads a checked request. `null` counts as absent.
 *
 * @param drop names of top-level fields that the provider refuses: they count as absent
 * @throws {UpstreamFailure} `bad_request` for content that a conversation cannot carry
 */
export function readGeminiRequest({ body }: Ask, drop: readonly string[]): Conversation {
  const fields = readFields(body, drop)
  if (memberOf(fields, 'cachedContent') !== undefined)
    throw untranslatable("A request with 'cachedContent'", { field: 'cachedContent' })
  const config = objectOf(memberOf(fields, 'generationConfig'))
  const number = (name: string): number | undefined => numberOf(memberOf(config, name))
  const maxTokens = number('maxOutputTokens')
  return {
    format: 'gemini',
    turns: [...readInstruction(memberOf(fields, 'systemInstruction')), ...readContents(fields['contents'])],
    tools: readGeminiTools(fields['tools'], objectOf(memberOf(fields, 'toolConfig'))),
    answerFormat: readAnswerFormat(config),
    modalities: readModalities(config),
    effort: readEffort(objectOf(memberOf(config, 'thinkingConfig'))),
    maxTokens: maxTokens === 0 ? undefined : maxTokens,
    stops: listOf(memberOf(config, 'stopSequences'))
      .filter((stop) => typeof stop === 'string')
      .filter((stop) => stop.trim() !== ''),
    choices: number('candidateCount') === 1 ? undefined : number('candidateCount'),
    temperature: number('temperature'),
    topP: number('topP'),
    topK: number('topK'),
    presencePenalty: number('presencePenalty'),
    frequencyPenalty: number('frequencyPenalty'),
    seed: number('seed'),
    logprobs: memberOf(config, 'responseLogprobs') === true ? { alternatives: number('logprobs') } : undefined,
    user: undefined,
    serviceTier: undefined,
    own: {},
  }
}

function readFields(body: Uint8Array, drop: readonly string[]): JsonObject {
  let fields: unknown
  try {
    fields = parseJsonBytes(body)
  } catch {
    // The request was checked before, so a detailed message would not help the caller.
    throw untranslatable('This request')
  }
  const dropped = new Set(drop.flatMap((name) => [name, snakeCase(name)]))
  return Object.fromEntries(Object.entries(objectOf(fields)).filter(([name]) => !dropped.has(name)))
}

function readAnswerFormat(config: JsonObject): AnswerFormat {
  const type = textOf(memberOf(config, 'responseMimeType')) ?? ''
  const own = memberOf(config, 'responseSchema')
  const given = memberOf(config, 'responseJsonSchema') ?? config['_responseJsonSchema']
  const schema = isObject(given) ? given : isObject(own) ? readSchema(own) : undefined
  if (!['', 'text/plain', 'application/json'].includes(type))
    throw untranslatable(`An answer of the type '${type.slice(0, 64)}'`, { field: 'generationConfig.responseMimeType' })
  // The schemas that other vendors can enforce exactly differ.
  if (schema !== undefined && type !== 'text/plain')
    return { kind: 'schema', schema, name: undefined, description: undefined, isStrict: false }
  return { kind: type === 'application/json' ? 'json' : 'text' }
}

/** The kinds of content of the answer; none where text is the only one. */
function readModalities(config: JsonObject): readonly string[] {
  const kinds = listOf(memberOf(config, 'responseModalities'))
    .filter((kind) => typeof kind === 'string')
    .map((kind) => kind.toLowerCase())
    .filter((kind) => kind !== 'modality_unspecified')
  return kinds.every((kind) => kind === 'text') ? [] : kinds
}

/** The effort of a level, or of a budget; a dynamic budget (-1) leaves it to the provider. */
function readEffort(thinking: JsonObject): Effort | undefined {
  const level = levels.get(textOf(memberOf(thinking, 'thinkingLevel'))?.toUpperCase() ?? '')
  const budget = numberOf(memberOf(thinking, 'thinkingBudget'))
  if (level !== undefined || budget === undefined || budget < 0) return level
  return budgets.find(([tokens]) => budget <= tokens)?.[1] ?? 'high'
}
