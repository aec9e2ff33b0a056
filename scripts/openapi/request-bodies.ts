import type { JsonObject } from '../../src/base/json-value.ts'
import type { FormatName } from '../../src/formats/ask.ts'
import { batchEmbedShapes, contentShapes, countShapes, embedShapes } from '../../src/formats/gemini/request-shapes.ts'
import { requestShapes } from '../../src/formats/messages/request-shapes.ts'
import type { RelayEndpoint } from '../../src/formats/relay/endpoint.ts'
import { relayEndpoints } from '../../src/formats/relay/table.ts'
import {
  anyValue,
  either,
  flag,
  integerFrom,
  list,
  numberFrom,
  object,
  oneOf,
  text,
  textOr,
  type Shape,
} from '../../src/formats/request-shape.ts'
import { requestShape } from '../../src/formats/responses/request-fields.ts'
import { requestSchema } from './request-schema.ts'

const integer = integerFrom(-Infinity, Infinity)

/** Members that are checked of a chat completion (`formats/chat/request-fields.ts` reads them without a table). */
export const chatMembers: Readonly<Record<string, Shape>> = {
  messages: list(
    object(
      {
        role: oneOf('user', 'assistant', 'system', 'developer', 'tool', 'function'),
        content: textOr(list(object({ type: text, text }, ['type']))),
      },
      ['role'],
    ),
    1,
  ),
  temperature: numberFrom(0, 2),
  max_tokens: integer,
  max_completion_tokens: integer,
  top_p: numberFrom(0, 1),
  frequency_penalty: numberFrom(-2, 2),
  presence_penalty: numberFrom(-2, 2),
  stop: textOr(list(text)),
  seed: integer,
  stream: flag,
  stream_options: object({ include_usage: flag }),
  logprobs: flag,
  top_logprobs: integerFrom(0, 20),
  reasoning_effort: either('a word, a boolean or a number', {
    string: oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default'),
    boolean: flag,
    number: numberFrom(-Infinity, Infinity),
  }),
  enable_thinking: flag,
  tools: anyValue,
  tool_choice: anyValue,
}

const embeddingMembers: Readonly<Record<string, Shape>> = {
  input: textOr(list(anyValue, 1)),
  encoding_format: oneOf('float', 'base64'),
  dimensions: integerFrom(1),
}

const modelSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
}

/** Bodies of requests to models, by their formats. */
export const requestBodies: Readonly<Record<FormatName, JsonObject>> = {
  chat: withModel(chatMembers, ['messages']),
  embeddings: withModel(embeddingMembers, ['input']),
  messages: withModel({ ...requestShapes, stream: flag }, ['messages', 'max_tokens']),
  count_tokens: withModel(requestShapes, ['messages']),
  responses: ofResponses(),
  input_tokens: ofResponses(),
  compact: ofResponses(),
  gemini: requestSchema(object(contentShapes, ['contents'])),
  gemini_count_tokens: requestSchema(object(countShapes)),
  gemini_embed: requestSchema(object(embedShapes, ['content'])),
  gemini_batch_embed: requestSchema(object(batchEmbedShapes, ['requests'])),
  ...mapRelays(),
}

/** Names of the formats whose requests are forms. */
export const formFormats: ReadonlySet<string> = new Set(
  Object.entries(relayEndpoints).flatMap(([name, { request }]) => (request.kind === 'form' ? [name] : [])),
)

function withModel(members: Readonly<Record<string, Shape>>, required: readonly string[], isNamed = true): JsonObject {
  const schema = requestSchema(object({ ...members, model: text }, isNamed ? ['model', ...required] : required))
  const { properties } = schema
  return { ...schema, properties: { ...(typeof properties === 'object' ? properties : {}), model: modelSchema } }
}

function ofResponses(): JsonObject {
  const { names, shapes } = requestShape
  return withModel(Object.fromEntries(shapes.map((shape, index) => [names[index] ?? '', shape])), ['input'])
}

function mapRelays(): Record<keyof typeof relayEndpoints, JsonObject> {
  const entries = Object.entries(relayEndpoints).map(([name, endpoint]) => [name, relaySchema(endpoint)] as const)
  // They have the names of the table.
  return Object.fromEntries(entries) as Record<keyof typeof relayEndpoints, JsonObject>
}

function relaySchema({ request, defaultModel }: RelayEndpoint): JsonObject {
  if (request.kind === 'json') return withModel(request.fields, request.required, defaultModel === undefined)
  const names = request.required.map(([name = '']) => name)
  const files = new Set(['image', 'file'])
  const properties = names.map((name) => [
    name,
    files.has(name) ? { type: 'string', contentMediaType: 'application/octet-stream' } : { type: 'string' },
  ])
  return {
    type: 'object',
    properties: { ...Object.fromEntries(properties), model: modelSchema },
    required: defaultModel === undefined ? [...names, 'model'] : names,
  }
}
