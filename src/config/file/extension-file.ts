import { lstat, stat } from 'node:fs/promises'
import type { Node } from 'jsonc-parser'
import { ConfigError } from '../config.ts'
import { readElements, readMembers, refuse, rootField, type Field } from './fields.ts'
import { collectFindings, type Findings } from './findings.ts'
import { parseJsonTree } from './json-tree.ts'
import { readJsonField } from './read-json-field.ts'
import { readVariable, type Environment } from './resolve-provider.ts'
import { variablePattern } from './rules.ts'

/** A parsed configuration file of an extension: JSON values with `$NAME` resolved, for the extension to check. */
export interface ExtensionFile {
  readonly values: Readonly<Record<string, unknown>>
  /** Members left out because their variable is unset or empty: member → variable. */
  readonly unset: ReadonlyMap<string, string>
  /** Makes the error of a field, such as `user_fields.id`, with its location in the file. */
  fault(field: string, found: string, allowed: string): ConfigError
}

/**
 * Parses the text of an extension's file: JSON with comments and trailing commas. `undefined` without a file.
 *
 * @throws {ConfigError} when the text is not a JSON object
 */
export async function parseExtensionFile(
  text: string | undefined,
  { file, environment }: { readonly file: string; readonly environment: Environment },
): Promise<ExtensionFile | undefined> {
  if (text === undefined) return undefined
  const findings = collectFindings(file, text)
  const { root, isSound } = parseJsonTree(text, findings)
  if (root === undefined || !isSound) throw findings.toError()
  const members = readMembers(rootField(root), findings) ?? new Map<string, Field>()
  const unset = new Map<string, string>()
  const values: Record<string, unknown> = {}
  for (const [name, field] of members) {
    const value = readResolved(field, { environment, findings, onUnset: (variable) => unset.set(name, variable) })
    if (value !== undefined) values[name] = value
  }
  findings.throwIfAny()
  return {
    values,
    unset,
    fault(field, found, allowed) {
      const place = placeOf(field.split('.'), members) ?? { offset: root.offset, path: field }
      const faulty = collectFindings(file, text)
      faulty.add({ offset: place.offset, path: field }, found, allowed)
      return faulty.toError()
    },
  }
}

interface Resolving {
  readonly environment: Environment
  readonly findings: Findings
  readonly onUnset: (variable: string) => void
}

/** Reads a value with `$NAME` resolved at any depth. */
function readResolved(field: Field, resolving: Resolving): unknown {
  const { node } = field
  if (node.type === 'array')
    return (readElements(field, resolving.findings) ?? [])
      .map((item) => readResolved(item, resolving))
      .filter((item) => item !== undefined)
  if (node.type === 'object') {
    const members = Array.from(
      readMembers(field, resolving.findings) ?? [],
      ([name, member]) => [name, readResolved(member, resolving)] as const,
    )
    return Object.fromEntries(members.filter(([, value]) => value !== undefined))
  }
  if (node.type === 'string') return readExpandedText(field, resolving)
  return readJsonField(field, resolving.findings)
}

function readExpandedText(field: Field, { environment, findings, onUnset }: Resolving): string | undefined {
  const text = String(field.node.value)
  if (!text.startsWith('$')) return text
  const variable = variablePattern.exec(text)?.[1]
  // A text that begins with `$` but names no variable may be a secret, so it is not shown.
  if (variable === undefined)
    return refuse(
      { ...field, isSecret: true },
      '"$NAME" of an environment variable, or a string that does not begin with "$"',
      findings,
    )
  const value = readVariable(environment, variable)
  if (value === undefined) onUnset(variable)
  return value
}

function placeOf(
  [first = '', ...rest]: readonly string[],
  members: ReadonlyMap<string, Field>,
): { readonly offset: number } | undefined {
  const field = members.get(first)
  if (field === undefined) return undefined
  let node: Node = field.node
  for (const name of rest) {
    const value = node.children?.find((property) => property.children?.[0]?.value === name)?.children?.[1]
    if (value === undefined) break
    node = value
  }
  return node
}

/** Whether the path exists, including dangling links. */
export async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file)
    return true
  } catch {
    // The path does not exist, or one of its folders is not a folder.
    return false
  }
}

/**
 * Why other users can read or write a file that may contain a secret; `undefined` when they cannot, or the system has
 * no permission bits.
 */
export async function exposureOf(file: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  const { mode, uid } = await stat(file)
  const own = process.getuid?.()
  if ((mode & 0o022) !== 0) return 'others can write to it'
  if (uid !== own && uid !== 0) return 'it belongs to another user'
  return (mode & 0o044) === 0 ? undefined : 'others can read it'
}
