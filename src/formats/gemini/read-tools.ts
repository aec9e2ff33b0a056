import type { JsonObject } from '../../base/json-value.ts'
import type { FunctionTool, ToolChoice, Tools } from '../conversation.ts'
import { isObject, listOf, objectOf, objectsOf, textOf } from '../exact-json.ts'
import { keepTools } from '../left-out.ts'
import { untranslatable } from '../untranslatable.ts'
import { readSchema } from './read-schema.ts'
import { memberOf, snakeCase } from './spelling.ts'

/** Tools that only help: an answer is possible without them. */
const dispensable: ReadonlySet<string> = new Set(
  ['googleSearch', 'googleSearchRetrieval', 'googleMaps', 'urlContext'].flatMap((name) => [name, snakeCase(name)]),
)
const declarations: ReadonlySet<string> = new Set(['functionDeclarations', 'function_declarations'])

/**
 * Reads `tools` and `toolConfig`. Tools of Google that only help are left out. If only some functions may be called,
 * the others are left out.
 *
 * @throws {UpstreamFailure} for other tools of Google's own kinds, and for the choice of a function that is not
 *   declared
 */
export function readGeminiTools(tools: unknown, toolConfig: JsonObject): Tools {
  const kinds = objectsOf(tools).flatMap((tool) => Object.keys(tool).filter((name) => tool[name] !== null))
  const foreign = kinds.find((name) => !declarations.has(name) && !dispensable.has(name))
  if (foreign !== undefined) throw untranslatable(`A tool of the kind '${foreign.slice(0, 64)}'`, { field: 'tools' })
  const calling = objectOf(memberOf(toolConfig, 'functionCallingConfig'))
  const mode = textOf(calling['mode'])
  const allowed = new Set(listOf(memberOf(calling, 'allowedFunctionNames')).filter((name) => typeof name === 'string'))
  const declared = objectsOf(tools)
    .flatMap((tool) => objectsOf(memberOf(tool, 'functionDeclarations')))
    .map((each) => readFunction(each, mode === 'VALIDATED'))
  keepTools(declared.length, kinds)
  const names = new Set(declared.map(({ name }) => name))
  if (!allowed.isSubsetOf(names))
    throw untranslatable('The choice of a function that is not declared', { field: 'toolConfig' })
  const functions = allowed.size === 0 ? declared : declared.filter(({ name }) => allowed.has(name))
  return { functions, own: [], choice: readChoice(mode, [...allowed]), oneAtATime: false }
}

function readFunction(declared: JsonObject, isStrict: boolean): FunctionTool {
  const { name, description, parameters } = declared
  const schema = memberOf(declared, 'parametersJsonSchema')
  const read = isObject(parameters) ? readSchema(parameters) : undefined
  return {
    name: textOf(name) ?? '',
    description: textOf(description),
    parameters: isObject(schema) ? schema : read,
    isStrict,
    cacheControl: undefined,
  }
}

function readChoice(mode: string | undefined, [first, ...others]: readonly string[]): ToolChoice | undefined {
  switch (mode) {
    case 'AUTO':
    case 'VALIDATED':
      return { kind: 'auto' }
    case 'NONE':
      return { kind: 'none' }
    case 'ANY':
      return first !== undefined && others.length === 0 ? { kind: 'function', name: first } : { kind: 'required' }
    default:
      return undefined
  }
}
