import type { JsonObject } from '../../base/json-value.ts'
import { objectsOf, parseJsonBytes, textOf } from '../exact-json.ts'
import type { ResponsesRequest } from './request.ts'

/** A tool as the caller declared it. */
export interface DeclaredTool {
  readonly kind: 'function' | 'custom' | 'tool_search'
  readonly name: string
  readonly namespace: string | undefined
}

/** The names of a request's tools at providers of other formats, and back. */
export interface ToolNames {
  /** The name at the provider: `namespace__name`. A name that is not valid gets a hash. */
  wireName(name: string, namespace: string | undefined): string
  /** The tool with a name at the provider. A function with that name if none was declared. */
  find(wireName: string): DeclaredTool
}

/** A tool, with the namespace that it is in. */
export interface ToolEntry {
  readonly tool: JsonObject
  readonly namespace: string | undefined
}

/** The declared tools of a list, those in namespaces one by one. */
export function flatTools(list: readonly JsonObject[], namespace?: string): readonly ToolEntry[] {
  return list.flatMap((tool): readonly ToolEntry[] => {
    if (tool['type'] !== 'namespace') return [{ tool, namespace }]
    const { name, tools } = tool
    return flatTools(objectsOf(tools), textOf(name) ?? '')
  })
}

/** All lists of tools that a request declares. Reads nothing else of it. */
export function declaredTools({ body, toolLists }: ResponsesRequest): readonly ToolEntry[] {
  return toolLists.flatMap(({ start, end }) => flatTools(objectsOf(parseJsonBytes(body.subarray(start, end)))))
}

/** The table of names for these tools. */
export function toolNames(entries: readonly ToolEntry[]): ToolNames {
  const tools = new Map<string, DeclaredTool>()
  for (const { tool, namespace } of entries) {
    const declared = read(tool, namespace)
    if (declared !== undefined) tools.set(wireName(declared.name, declared.namespace), declared)
  }
  return { wireName, find: (name) => tools.get(name) ?? { kind: 'function', name, namespace: undefined } }
}

/** The name of the function in place of a client's own search for tools. */
export const toolSearch = 'tool_search'

function read({ type, name, execution }: JsonObject, namespace: string | undefined): DeclaredTool | undefined {
  if (type === 'tool_search') {
    return execution === 'client' ? { kind: 'tool_search', name: toolSearch, namespace: undefined } : undefined
  }
  if (type !== 'function' && type !== 'custom') return undefined
  return { kind: type, name: textOf(name) ?? '', namespace }
}

const charactersMax = 64
const separator = '__'

/** Names of functions have 1 to 64 of `[A-Za-z0-9_-]` in most formats. Other names get a hash, so that they differ. */
function wireName(name: string, namespace: string | undefined): string {
  if (namespace === undefined) return name
  const joined = `${namespace}${separator}${name}`
  if (/^[A-Za-z0-9_-]{1,64}$/.test(joined)) return joined
  const hash = `_${Bun.hash(joined).toString(36)}`
  return joined.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, charactersMax - hash.length) + hash
}
