import type { JsonObject } from '../../base/json-value.ts'
import type { FunctionTool, ToolChoice, Tools } from '../conversation.ts'
import { functionOfCustom } from '../custom-tool.ts'
import { isObject, listOf, objectOf, objectsOf, textOf } from '../exact-json.ts'
import { keepTools } from '../left-out.ts'
import { untranslatable } from '../untranslatable.ts'
import { toolSearch, type ToolEntry, type ToolNames } from './tool-names.ts'

/**
 * Reads the declared tools, `tool_choice` and `parallel_tool_calls`. A custom tool is a function with one string. With
 * `allowed_tools`, only allowed functions are kept. The vendor's search of the web is left out.
 *
 * @throws {UpstreamFailure} for other tools of a vendor
 */
export function readResponsesTools(declared: readonly ToolEntry[], names: ToolNames, fields: JsonObject): Tools {
  const functions = new Map<string, FunctionTool>()
  for (const { tool, namespace } of declared) {
    const read = readTool(tool, namespace, names)
    if (read !== undefined) functions.set(read.name, read)
  }
  keepTools(
    functions.size,
    declared.map(({ tool }) => textOf(tool['type']) ?? ''),
  )
  const { choice, allowed } = readChoice(fields['tool_choice'], names)
  return {
    functions: [...functions.values()].filter(({ name }) => allowed?.has(name) ?? true),
    own: [],
    choice,
    oneAtATime: fields['parallel_tool_calls'] === false,
  }
}

function readTool(tool: JsonObject, namespace: string | undefined, names: ToolNames): FunctionTool | undefined {
  const { type, description, parameters, execution } = tool
  const described = { description: textOf(description), cacheControl: undefined }
  const name = names.wireName(textOf(tool['name']) ?? '', namespace)
  switch (type) {
    case 'function': {
      const schema = isObject(parameters) ? parameters : undefined
      return { ...described, name, parameters: schema, isStrict: isStrict(tool) }
    }
    case 'custom':
      return functionOfCustom(name, tool)
    case 'tool_search':
      if (execution !== 'client') return undefined
      return {
        ...described,
        name: toolSearch,
        parameters: isObject(parameters) ? parameters : undefined,
        isStrict: false,
      }
    default:
      if (typeof type === 'string' && type.startsWith('web_search')) return undefined
      throw untranslatable(`The tool ${typeof type === 'string' ? type.slice(0, 64) : ''}`, { field: 'tools' })
  }
}

/** Where the field is absent, this format means "if the schema allows", and others mean no. */
export function isStrict({ strict, parameters }: JsonObject): boolean {
  return typeof strict === 'boolean' ? strict : isObject(parameters) && allowsStrict(parameters)
}

const schemasMax = 1_000

/** Whether each object in a schema has only required properties, and no others, as strict mode demands. */
function allowsStrict(schema: JsonObject): boolean {
  const open: JsonObject[] = [schema]
  for (let checked = 0; checked < schemasMax; checked++) {
    const next = open.pop()
    if (next === undefined) return true
    if (!isClosed(next)) return false
    const { properties, items, anyOf, $defs, definitions } = next
    for (const inner of [properties, $defs, definitions].map((each) => Object.values(objectOf(each))))
      for (const schema of inner) if (isObject(schema)) open.push(schema)
    for (const schema of objectsOf([items, ...listOf(anyOf)])) open.push(schema)
  }
  return false
}

function isClosed({ type, properties, required, additionalProperties }: JsonObject): boolean {
  if (type !== 'object' && properties === undefined) return true
  const names = listOf(required)
  return additionalProperties === false && Object.keys(objectOf(properties)).every((name) => names.includes(name))
}

interface Choice {
  readonly choice: ToolChoice | undefined
  /** Names of the only functions that may be called. */
  readonly allowed?: ReadonlySet<string>
}

function readChoice(choice: unknown, names: ToolNames): Choice {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { choice: { kind: choice } }
  if (!isObject(choice)) return { choice: undefined }
  const nameOf = ({ name, namespace }: JsonObject) => names.wireName(textOf(name) ?? '', textOf(namespace))
  switch (choice['type']) {
    case 'function':
    case 'custom':
      return { choice: { kind: 'function', name: nameOf(choice) } }
    case 'allowed_tools':
      return {
        choice: { kind: choice['mode'] === 'required' ? 'required' : 'auto' },
        allowed: new Set(objectsOf(choice['tools']).map(nameOf)),
      }
    default:
      throw untranslatable('The choice of this tool', { field: 'tool_choice' })
  }
}
