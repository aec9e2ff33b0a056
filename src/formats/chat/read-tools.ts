import type { JsonObject } from '../../base/json-value.ts'
import { cacheControlOf } from '../cache-control.ts'
import type { FunctionTool, ToolChoice, Tools } from '../conversation.ts'
import { functionOfCustom } from '../custom-tool.ts'
import { isObject, objectOf, objectsOf, textOf } from '../exact-json.ts'

/**
 * Reads `tools`, `tool_choice` and `parallel_tool_calls`, and their deprecated forms `functions` and `function_call`.
 * With `allowed_tools`, only allowed functions are kept. A custom tool is a function with one string, which
 * `customCalls` of `format.ts` gives back.
 */
export function readChatTools(body: JsonObject): Tools {
  const tools = objectsOf(body['tools'])
  const functions = [
    ...tools.filter(isFunction).map((tool) => readFunction(objectOf(tool['function']), cacheControlOf(tool))),
    ...tools.filter(isCustom).map(({ custom }) => functionOfCustom(nameOf(custom), objectOf(custom))),
    ...objectsOf(body['functions']).map((declared) => readFunction(declared, undefined)),
  ]
  const { choice, allowed } = readChoice(body['tool_choice'] ?? body['function_call'])
  return {
    functions: allowed === undefined ? functions : functions.filter(({ name }) => allowed.has(name)),
    own: tools.filter((tool) => !isFunction(tool) && !isCustom(tool)),
    choice,
    oneAtATime: body['parallel_tool_calls'] === false,
  }
}

function isFunction(tool: JsonObject): boolean {
  return tool['type'] === 'function' || isObject(tool['function'])
}

function isCustom({ type, custom }: JsonObject): boolean {
  return type === 'custom' && isObject(custom)
}

function nameOf(declared: unknown): string {
  return textOf(objectOf(declared)['name']) ?? ''
}

function readFunction(declared: JsonObject, cacheControl: JsonObject | undefined): FunctionTool {
  return {
    name: textOf(declared['name']) ?? '',
    description: textOf(declared['description']),
    parameters: isObject(declared['parameters']) ? declared['parameters'] : undefined,
    isStrict: declared['strict'] === true,
    cacheControl,
  }
}

interface Choice {
  readonly choice: ToolChoice | undefined
  /** Names of the only functions that may be called. */
  readonly allowed?: ReadonlySet<string>
}

function readChoice(choice: unknown): Choice {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { choice: { kind: choice } }
  if (!isObject(choice)) return { choice: undefined }
  if (choice['type'] === 'allowed_tools') {
    const { mode, tools } = objectOf(choice['allowed_tools'])
    const allowed = new Set(objectsOf(tools).map((tool) => nameOf(tool['function'] ?? tool['custom'])))
    return { choice: { kind: mode === 'required' ? 'required' : 'auto' }, allowed }
  }
  const name = textOf(objectOf(choice['function'] ?? choice['custom'])['name']) ?? textOf(choice['name'])
  return { choice: name === undefined ? undefined : { kind: 'function', name } }
}
