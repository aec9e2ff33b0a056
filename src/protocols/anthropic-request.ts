import { anthropicMessages, lacksThinking } from './anthropic-messages.ts'
import { anthropicModel } from './anthropic-models.ts'
import type { AnthropicModel } from './anthropic-models.ts'
import { readConversation, untranslatable } from './chat-conversation.ts'
import { readEffort, readFormat, readMaxTokens, readStops, wantsAudio } from './chat-options.ts'
import type { Effort } from './chat-options.ts'
import { readTools } from './chat-tools.ts'
import type { ChatTools } from './chat-tools.ts'
import { isObject, numberOf, objectOf, objectsOf, pick, textOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'

/** Anthropic's own top-level fields that pass through as they are, over what we would have made of ours. */
const ownFields: ReadonlySet<string> = new Set([
  'cache_control',
  'container',
  'context_management',
  'inference_geo',
  'mcp_servers',
  'output_config',
  'speed',
  'stop_sequences',
  'thinking',
])

const budgetTokensMin = 1_024
const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: budgetTokensMin,
  low: budgetTokensMin,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
}

/**
 * Translates a chat-completions request into one of the Messages API. What has no counterpart and only tunes the answer
 * is left out.
 *
 * @param body without the fields the provider refuses
 * @throws {UpstreamFailure} for what would change the answer: several choices, sound, custom tools
 */
export function anthropicRequest(body: JsonObject, modelName: string, isStream: boolean): JsonObject {
  if ((numberOf(body['n']) ?? 1) > 1) throw untranslatable('A request for several choices')
  if (wantsAudio(body)) throw untranslatable('A request for sound')
  const model = anthropicModel(modelName)
  const conversation = readConversation(body['messages'])
  const { system, messages } = anthropicMessages(conversation)
  const tools = readTools(body)
  const maxTokens = readMaxTokens(body) ?? model.maxTokens
  const effort = readEffort(body)
  const mayThink = !isForced(tools) && !(model.thinking === 'budget' && lacksThinking(conversation))
  const thinking = body['thinking'] ?? thinkingFor(model, effort, maxTokens, mayThink)
  const { outputConfig, instruction } = answerShape(body, model, effort)
  const stops = readStops(body)

  return {
    model: modelName,
    max_tokens: maxTokens,
    ...withInstruction(system ?? ownSystem(body), instruction),
    messages,
    ...toolFields(tools),
    ...sampling(body, model, isOn(thinking)),
    ...(stops.length === 0 ? {} : { stop_sequences: stops }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(Object.keys(outputConfig).length === 0 ? {} : { output_config: outputConfig }),
    ...accounting(body),
    ...pick(body, ownFields),
    ...(isStream ? { stream: true } : {}),
  }
}

/** Anthropic's own `system` field, heard when there are no system messages. */
function ownSystem({ system }: JsonObject): string | readonly JsonObject[] | undefined {
  return Array.isArray(system) ? objectsOf(system) : textOf(system)
}

function withInstruction(
  system: string | readonly JsonObject[] | undefined,
  instruction: string | undefined,
): JsonObject {
  if (instruction === undefined) return system === undefined ? {} : { system }
  if (system === undefined) return { system: instruction }
  return {
    system: typeof system === 'string' ? `${system}\n${instruction}` : [...system, { type: 'text', text: instruction }],
  }
}

/** Effort and schema, or the words that stand in for a schema where the model knows none. */
function answerShape(
  body: JsonObject,
  model: AnthropicModel,
  effort: Effort | undefined,
): { outputConfig: JsonObject; instruction: string | undefined } {
  const format = readFormat(body)
  const isNative = format.kind === 'schema' && model.schemas
  const words =
    format.kind === 'json'
      ? 'Answer with one JSON object and nothing else.'
      : format.kind === 'schema'
        ? `Answer with JSON that matches this JSON Schema, and nothing else: ${JSON.stringify(format.schema)}`
        : undefined
  return {
    outputConfig: {
      ...(model.thinking === 'adaptive' && effort !== undefined ? effortField(model, effort) : {}),
      ...(isNative ? { format: { type: 'json_schema', schema: format.schema } } : {}),
    },
    instruction: isNative ? undefined : words,
  }
}

function effortField(model: AnthropicModel, effort: Effort): JsonObject {
  if (effort === 'none') return model.mayNotThink ? {} : { effort: 'low' }
  if (effort === 'minimal') return { effort: 'low' }
  return { effort: effort === 'xhigh' && !model.xhigh ? 'high' : effort }
}

/** `thinking` for an effort; undefined where none is asked for, known, or possible with so few tokens. */
function thinkingFor(
  model: AnthropicModel,
  effort: Effort | undefined,
  maxTokens: number,
  mayThink: boolean,
): JsonObject | undefined {
  if (effort === undefined || model.thinking === 'none') return undefined
  if (effort === 'none') return model.mayNotThink ? { type: 'disabled' } : undefined
  if (!mayThink) return undefined
  if (model.thinking === 'adaptive') return { type: 'adaptive' }
  const budget = Math.min(budgets[effort], Math.floor(maxTokens / 2))
  return budget < budgetTokensMin ? undefined : { type: 'enabled', budget_tokens: budget }
}

function isOn(thinking: unknown): boolean {
  const { type } = objectOf(thinking)
  return type === 'enabled' || type === 'adaptive'
}

/** Temperature is 0 to 1 here, and with thinking none but 1; with a temperature, `top_p` is refused. */
function sampling(body: JsonObject, model: AnthropicModel, isThinking: boolean): JsonObject {
  if (!model.sampling || isThinking) return {}
  const temperature = numberOf(body['temperature'])
  const topP = numberOf(body['top_p'])
  const topK = numberOf(body['top_k'])
  return {
    ...(temperature === undefined ? {} : { temperature: Math.min(temperature, 1) }),
    ...(topP === undefined || temperature !== undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  }
}

/**
 * `metadata.user_id` and the service tiers that Anthropic has; the chat-completions format's own `metadata` and tiers
 * mean something else.
 */
function accounting(body: JsonObject): JsonObject {
  const userId = textOf(objectOf(body['metadata'])['user_id']) ?? textOf(body['user'])
  const tier = body['service_tier']
  return {
    ...(userId === undefined ? {} : { metadata: { user_id: userId } }),
    ...(tier === 'auto' || tier === 'standard_only' ? { service_tier: tier } : {}),
  }
}

function toolFields(tools: ChatTools): JsonObject {
  const declared = [...tools.functions.map(declaration), ...tools.own]
  if (declared.length === 0) return {}
  const choice = toolChoice(tools)
  return { tools: declared, ...(choice === undefined ? {} : { tool_choice: choice }) }
}

function declaration({ name, description, parameters, source }: ChatTools['functions'][number]): JsonObject {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: parameters === undefined ? { type: 'object', properties: {} } : { type: 'object', ...parameters },
    ...(isObject(source['cache_control']) ? { cache_control: source['cache_control'] } : {}),
  }
}

function toolChoice({ choice, oneAtATime }: ChatTools): JsonObject | undefined {
  const once = oneAtATime ? { disable_parallel_tool_use: true } : {}
  switch (choice.kind) {
    case 'unset':
      return oneAtATime ? { type: 'auto', ...once } : undefined
    case 'auto':
      return { type: 'auto', ...once }
    case 'none':
      return { type: 'none' }
    case 'required':
      return { type: 'any', ...once }
    case 'function':
      return { type: 'tool', name: choice.name, ...once }
  }
}

/** A forced choice of tool and thinking exclude each other. */
function isForced({ choice }: ChatTools): boolean {
  return choice.kind === 'required' || choice.kind === 'function'
}
