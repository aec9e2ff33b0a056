import type { JsonObject } from '../../base/json-value.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import { checkBody } from '../check-body.ts'
import { invalidRequest } from '../error.ts'
import { encodeJson, isObject, objectOf, objectsOf, omit, parseJsonBytes, textOf } from '../exact-json.ts'
import { RequestDraft } from '../request-draft.ts'
import { readResponsesRequest } from '../responses/read-conversation.ts'
import { requestReader, type ResponsesRequest } from '../responses/request.ts'
import { declaredTools, toolNames } from '../responses/tool-names.ts'
import { parseChatRequest, type ChatRequest } from './request.ts'
import { writeChatRequest } from './write-request.ts'

/**
 * A request as this format has it. Cursor sends requests of Responses to the path of chat completions, and tools as
 * Responses has them, and expects a chat completion (https://github.com/BerriAI/litellm/pull/34029).
 *
 * @throws {WireError} 400 for a request of Responses that is malformed, or that chat completions cannot express
 */
export function inUsualForm(request: ChatRequest): ChatRequest {
  if (request.otherForm === undefined) return request
  return parseChatRequest(request.otherForm === 'input' ? chatBodyOf(request) : withUsualParts(request))
}

function withUsualParts(request: ChatRequest): Uint8Array {
  const draft = new RequestDraft(request)
  const tools = draft.objects('tools')
  const nested = tools?.map(nestedTool)
  if (nested?.some((tool, index) => tool !== tools?.[index])) draft.setObjects('tools', nested)
  const choice = draft.get('tool_choice')
  if (choice !== undefined) draft.set('tool_choice', nestedChoice(choice))
  const messages = draft.objects('messages') ?? []
  const usual = messages.map(withUsualContent)
  if (usual.some((message, index) => message !== messages[index])) draft.setObjects('messages', usual)
  return draft.body()
}

/** Content in parts of Responses. */
function withUsualContent(message: JsonObject): JsonObject {
  const { content } = message
  if (!Array.isArray(content)) return message
  const parts = objectsOf(content)
  const usual = parts.map(usualPart)
  return usual.every((part, index) => part === parts[index]) ? message : { ...message, content: usual }
}

function usualPart(part: JsonObject): JsonObject {
  const { type, image_url, detail, ...others } = part
  if (type === 'input_text' || type === 'output_text') return { ...part, type: 'text' }
  if (type !== 'input_image' || typeof image_url !== 'string') return part
  return {
    type: 'image_url',
    image_url: detail === undefined ? { url: image_url } : { url: image_url, detail },
    ...others,
  }
}

/** A tool whose members are beside its type gets them in a member of their own. So do those of Messages. */
function nestedTool(tool: JsonObject): JsonObject {
  const { type, cache_control, input_schema, ...declared } = tool
  if (isObject(tool['function']) || isObject(tool['custom'])) return tool
  const kept = cache_control === undefined ? {} : { cache_control }
  if (input_schema !== undefined && (type === undefined || type === 'custom'))
    return { type: 'function', function: { ...declared, parameters: input_schema }, ...kept }
  if (type === 'function' || (type === undefined && typeof tool['name'] === 'string'))
    return { type: 'function', function: declared, ...kept }
  if (type !== 'custom') return tool
  const { format, ...described } = declared
  return { type, custom: format === undefined ? described : { ...described, format: nestedFormat(format) }, ...kept }
}

/** A grammar is in a member of its own. */
function nestedFormat(format: unknown): unknown {
  const { type, syntax, definition } = objectOf(format)
  return type === 'grammar' && definition !== undefined ? { type, grammar: { syntax, definition } } : format
}

/** `any` of Mistral and Anthropic is `required`; objects that only say a kind are that kind. */
function nestedChoice(choice: unknown): unknown {
  if (choice === 'any') return 'required'
  const { type, name, mode, tools } = objectOf(choice)
  if (type === 'allowed_tools' && mode !== undefined)
    return { type, allowed_tools: { mode, tools: objectsOf(tools).map(nestedTool) } }
  if (name !== undefined)
    return type === 'custom' ? { type, custom: { name } } : { type: 'function', function: { name } }
  if (type === 'any') return 'required'
  return type === 'auto' || type === 'none' || type === 'required' ? type : choice
}

/** Members of Responses that are written in another way here, or that have no place. */
const responsesMembers = [
  ...['input', 'instructions', 'tools', 'tool_choice', 'text', 'reasoning', 'include', 'max_output_tokens'],
  ...[
    'previous_response_id',
    'conversation',
    'prompt',
    'truncation',
    'background',
    'max_tool_calls',
    'context_management',
    'client_metadata',
    'moderation',
  ],
]

/** A request of Responses as a chat request. Custom tools stay as they are; namespaces become parts of names. */
function chatBodyOf({ body }: ChatRequest): Uint8Array {
  const request = checkBody(body, requestReader('responses'))
  const { model, stream: isStream } = request
  const fields = objectOf(parseJsonBytes(body))
  const verbosity = objectOf(fields['text'])['verbosity']
  const written = { ...writtenAs(request, { model, isStream }), verbosity }
  const said = Object.entries(written).filter(([, value]) => value !== undefined)
  return encodeJson({ ...omit(fields, responsesMembers), ...Object.fromEntries(said) })
}

function writtenAs(
  request: ResponsesRequest,
  target: { readonly model: string; readonly isStream: boolean },
): JsonObject {
  const declared = declaredTools(request)
  const names = toolNames(declared)
  const custom = new Map(
    declared
      .filter(({ tool }) => tool['type'] === 'custom')
      .map(({ tool, namespace }) => {
        const name = names.wireName(textOf(tool['name']) ?? '', namespace)
        return [name, nestedTool({ ...tool, name })]
      }),
  )
  const isCustom = (called: unknown) => custom.has(textOf(objectOf(called)['name']) ?? '')
  const { messages, tools, tool_choice, ...others } = chatRequestOf(request, target)
  const choice = objectOf(tool_choice)['function']
  return {
    ...others,
    messages: objectsOf(messages).map((message) => withCustomCalls(message, isCustom)),
    tools:
      tools && objectsOf(tools).map((tool) => custom.get(textOf(objectOf(tool['function'])['name']) ?? '') ?? tool),
    tool_choice: isCustom(choice) ? { type: 'custom', custom: choice } : tool_choice,
  }
}

function chatRequestOf(...[request, target]: Parameters<typeof writtenAs>): JsonObject {
  try {
    return writeChatRequest(readResponsesRequest(request, []), target)
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    throw invalidRequest('invalid_value', `A request with 'input' at this path: ${error.message}`, error.field)
  }
}

/** The calls of custom tools have their input as text again. */
function withCustomCalls(message: JsonObject, isCustom: (called: unknown) => boolean): JsonObject {
  const calls = objectsOf(message['tool_calls'])
  if (!calls.some((call) => isCustom(call['function']))) return message
  const tool_calls = calls.map((call) => {
    if (!isCustom(call['function'])) return call
    const { name, arguments: text } = objectOf(call['function'])
    const { input } = objectOf(parseJsonBytes(new TextEncoder().encode(textOf(text) ?? '{}')))
    return { id: call['id'], type: 'custom', custom: { name, input } }
  })
  return { ...message, tool_calls }
}
