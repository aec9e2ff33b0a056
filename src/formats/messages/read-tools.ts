import type { JsonObject } from '../../base/json-value.ts'
import { cacheControlOf } from '../cache-control.ts'
import type { FunctionTool, ToolChoice, Tools } from '../conversation.ts'
import { isObject, objectOf, objectsOf, textOf } from '../exact-json.ts'
import { keepTools } from '../left-out.ts'
import { untranslatable } from '../untranslatable.ts'

/** Tools that only help: an answer is possible without them. */
const dispensable = /^(?:web_search|web_fetch|tool_search_tool)_/

/**
 * Reads `tools` and `tool_choice`. Tools of Anthropic that only help are left out unless the choice names them.
 *
 * @throws {UpstreamFailure} for other tools of Anthropic's own kinds, and for the choice of one that was left out
 */
export function readMessagesTools({ tools, tool_choice }: JsonObject): Tools {
  const declared = objectsOf(tools)
  const foreign = declared.find((tool) => !isFunction(tool) && !dispensable.test(typeOf(tool)))
  if (foreign !== undefined)
    throw untranslatable(`A tool of type '${typeOf(foreign).slice(0, 64)}'`, { field: 'tools' })
  const functions = declared.filter(isFunction).map(readFunction)
  keepTools(functions.length, declared.map(typeOf))
  const { disable_parallel_tool_use } = objectOf(tool_choice)
  const choice = readChoice(objectOf(tool_choice))
  if (choice?.kind === 'function' && functions.every(({ name }) => name !== choice.name))
    throw untranslatable('The choice of a tool that is not declared', { field: 'tool_choice' })
  return { functions, own: [], choice, oneAtATime: disable_parallel_tool_use === true }
}

function typeOf({ type }: JsonObject): string {
  return textOf(type) ?? 'custom'
}

function isFunction(tool: JsonObject): boolean {
  return typeOf(tool) === 'custom'
}

function readFunction(tool: JsonObject): FunctionTool {
  const { name, description, input_schema, strict } = tool
  return {
    name: textOf(name) ?? '',
    description: textOf(description),
    parameters: isObject(input_schema) ? withoutNulls(input_schema) : undefined,
    isStrict: strict === true,
    cacheControl: cacheControlOf(tool),
  }
}

/** Members of a schema whose values are data. */
const dataNames = new Set(['const', 'default', 'enum', 'examples'])

/** A schema without members that are null, such as `required`, at any depth: other vendors refuse them. */
function withoutNulls(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([name, value]) => value !== null || dataNames.has(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, dataNames.has(name) ? value : innerWithoutNulls(value)]))
}

function innerWithoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(innerWithoutNulls)
  return isObject(value) ? withoutNulls(value) : value
}

function readChoice({ type, name }: JsonObject): ToolChoice | undefined {
  switch (type) {
    case 'auto':
    case 'none':
      return { kind: type }
    case 'any':
      return { kind: 'required' }
    case 'tool':
      return { kind: 'function', name: textOf(name) ?? '' }
    default:
      return undefined
  }
}
