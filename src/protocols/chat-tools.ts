import { untranslatable } from './chat-conversation.ts'
import { isObject, objectOf, objectsOf, textOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'

/** A function the model may call. */
export interface ChatTool {
  readonly name: string
  readonly description: string | undefined
  /** JSON Schema of its arguments, when there is one. */
  readonly parameters: JsonObject | undefined
  readonly strict: boolean
  readonly source: JsonObject
}

/** What the caller wants of the model's use of tools. */
export type ToolChoice =
  | { readonly kind: 'unset' | 'auto' | 'none' | 'required' }
  | { readonly kind: 'function'; readonly name: string }

/** The tools of a request. */
export interface ChatTools {
  readonly functions: readonly ChatTool[]
  /** Tools that are not of the chat-completions format: the upstream's own. */
  readonly own: readonly JsonObject[]
  readonly choice: ToolChoice
  /** `parallel_tool_calls: false`. */
  readonly oneAtATime: boolean
}

/**
 * Reads `tools`, `tool_choice` and `parallel_tool_calls`, and their deprecated forms `functions` and `function_call`.
 * Of `allowed_tools` only those allowed are kept.
 *
 * @throws {UpstreamFailure} for custom tools
 */
export function readTools(body: JsonObject): ChatTools {
  const tools = objectsOf(body['tools'])
  if (tools.some((tool) => tool['type'] === 'custom')) throw untranslatable('A custom tool')
  const functions = [
    ...tools.filter(isFunction).map((tool) => readFunction(objectOf(tool['function']), tool)),
    ...objectsOf(body['functions']).map((declared) => readFunction(declared, {})),
  ]
  const { choice, allowed } = readChoice(body['tool_choice'] ?? body['function_call'])
  return {
    functions: allowed === undefined ? functions : functions.filter(({ name }) => allowed.has(name)),
    own: tools.filter((tool) => !isFunction(tool)),
    choice,
    oneAtATime: body['parallel_tool_calls'] === false,
  }
}

function isFunction(tool: JsonObject): boolean {
  return tool['type'] === 'function' || isObject(tool['function'])
}

function readFunction(declared: JsonObject, source: JsonObject): ChatTool {
  return {
    name: textOf(declared['name']) ?? '',
    description: textOf(declared['description']),
    parameters: isObject(declared['parameters']) ? declared['parameters'] : undefined,
    strict: declared['strict'] === true,
    source,
  }
}

function readChoice(choice: unknown): { readonly choice: ToolChoice; readonly allowed?: ReadonlySet<string> } {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { choice: { kind: choice } }
  if (!isObject(choice)) return { choice: { kind: 'unset' } }
  if (choice['type'] === 'custom') throw untranslatable('The choice of a custom tool')
  if (choice['type'] === 'allowed_tools') {
    const { mode, tools } = objectOf(choice['allowed_tools'])
    const allowed = new Set(objectsOf(tools).map((tool) => textOf(objectOf(tool['function'])['name']) ?? ''))
    return { choice: { kind: mode === 'required' ? 'required' : 'auto' }, allowed }
  }
  const name = textOf(objectOf(choice['function'])['name']) ?? textOf(choice['name'])
  return { choice: name === undefined ? { kind: 'unset' } : { kind: 'function', name } }
}
