import { lstat, stat } from 'node:fs/promises'
import type { Node } from 'jsonc-parser'
import { ConfigError } from './config.ts'
import { readItems, readMembers, refuse, rootField, type Field } from './fields.ts'
import { collectFindings, type Findings } from './findings.ts'
import { parseJsonTree } from './json-tree.ts'
import { readConfigText } from './load-config.ts'
import { readJson } from './read-json.ts'
import { readVariable, type Environment } from './resolve-provider.ts'
import { variablePattern } from './rules.ts'

/**
 * An extension's configuration file, read: values as JSON, `$NAME` resolved. What the values mean is the extension's
 * business.
 */
export interface ExtensionFile {
  readonly values: Readonly<Record<string, unknown>>
  /** Members left out because their variable is not set, or empty: member → variable. */
  readonly unset: ReadonlyMap<string, string>
  /** The error of a field, such as `user_fields.id`, with its place in the file. */
  fault(field: string, found: string, allowed: string): ConfigError
}

/**
 * Reads an extension's file: JSON, comments and trailing commas allowed; `undefined` when there is none.
 *
 * @throws {ConfigError} when it cannot be read, or is no JSON object
 */
export async function readExtensionFile(file: string, environment: Environment): Promise<ExtensionFile | undefined> {
  const text = await readConfigText(file)
  if (text === undefined) {
    // A link to a place that is not there yet was meant to be a file: taken for none, it would switch the extension off.
    if (await exists(file))
      throw new ConfigError([{ file, field: '', found: 'a link that leads nowhere', allowed: 'a readable file' }])
    return undefined
  }
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

/** A value with `$NAME` resolved, however deep it stands. */
function readResolved(field: Field, resolving: Resolving): unknown {
  const { node } = field
  if (node.type === 'array')
    return (readItems(field, resolving.findings) ?? [])
      .map((item) => readResolved(item, resolving))
      .filter((item) => item !== undefined)
  if (node.type === 'object') {
    const members = Array.from(
      readMembers(field, resolving.findings) ?? [],
      ([name, member]) => [name, readResolved(member, resolving)] as const,
    )
    return Object.fromEntries(members.filter(([, value]) => value !== undefined))
  }
  if (node.type === 'string') return readText(field, resolving)
  return readJson(field, resolving.findings)
}

function readText(field: Field, { environment, findings, onUnset }: Resolving): string | undefined {
  const text = String(field.node.value)
  if (!text.startsWith('$')) return text
  const variable = variablePattern.exec(text)?.[1]
  // What is no name of a variable may be a secret that begins so: it is not shown.
  if (variable === undefined)
    return refuse(
      { ...field, isSecret: true },
      '"$NAME" of an environment variable, or a text that does not begin with "$"',
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

/** Whether anything has this name, be it a link that leads nowhere. */
export async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file)
    return true
  } catch {
    // No such name, or a folder on the way that is none: nothing is there that could be read.
    return false
  }
}

/**
 * Why others than its owner can get at a file that may hold a secret; `undefined`: they cannot, or the system has no
 * such bits.
 */
export async function exposureOf(file: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  const { mode, uid } = await stat(file)
  const own = process.getuid?.()
  if ((mode & 0o022) !== 0) return 'others can write to it'
  if (uid !== own && uid !== 0) return 'it belongs to another user'
  return (mode & 0o044) === 0 ? undefined : 'others can read it'
}
