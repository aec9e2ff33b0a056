import { lstat, stat } from 'node:fs/promises'
import { jsonShape, namedShape } from '../../shapes/containers.ts'
import { memberNode, type ValuePlace, type ShapeNode } from '../../shapes/node.ts'
import { refuseNode, type ValueShape } from '../../shapes/shape.ts'
import { ConfigError } from '../config.ts'
import { readVariable, type Environment } from './environment.ts'
import { collectFindings } from './fault-lines.ts'
import { FileNode, parseJsonTree } from './json-tree.ts'
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
  const whole = new FileNode(root)
  const unset = new Map<string, string>()
  const values: Record<string, unknown> = {}
  const members = namedShape<ShapeNode>({ read: (node) => node, schema: () => ({}) }).read(whole, findings)
  for (const [name, node] of members ?? []) {
    const value = resolvedShape(environment, (variable) => unset.set(name, variable)).read(node, findings)
    if (value !== undefined) values[name] = value
  }
  findings.throwIfAny()
  return {
    values,
    unset,
    fault(field, found, allowed) {
      const faulty = collectFindings(file, text)
      faulty.add({ offset: placeOf(field.split('.'), whole).offset, path: field }, found, allowed)
      return faulty.toError()
    },
  }
}

/** Any value, with `$NAME` resolved at any depth. Values of unset variables are left out. */
function resolvedShape(environment: Environment, onUnset: (variable: string) => void): ValueShape<unknown> {
  const text: ValueShape<unknown> = {
    read(node, faults) {
      const { value } = node
      if (typeof value !== 'string' || !value.startsWith('$')) return value
      const variable = variablePattern.exec(value)?.[1]
      const allowed = '"$NAME" of an environment variable, or a string that does not begin with "$"'
      // A text that begins with `$` but names no variable may be a secret, so it is not shown.
      if (variable === undefined) return refuseNode(node.asSecret(), allowed, faults)
      const resolved = readVariable(environment, variable)
      if (resolved === undefined) onUnset(variable)
      return resolved
    },
    schema: () => ({}),
  }
  const any: ValueShape<unknown> = {
    read(node, faults) {
      if (node.kind === 'string') return text.read(node, faults)
      if (node.kind === 'object') return Object.fromEntries(namedShape(any).read(node, faults) ?? [])
      if (node.kind !== 'array') return jsonShape.read(node, faults)
      const items = node.elements().map((item) => any.read(item, faults))
      return items.filter((item) => item !== undefined)
    },
    schema: () => ({}),
  }
  return any
}

/** The place of a field, or of the nearest value around it. */
function placeOf(names: readonly string[], root: ShapeNode): ValuePlace {
  let node = root
  for (const name of names) {
    const member = memberNode(node, name)
    if (member === undefined) break
    node = member
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
  // Of a file of root, as Kubernetes mounts secrets, svc is one of the group or could not read it at all.
  const readers = uid === own ? 0o044 : 0o004
  return (mode & readers) === 0 ? undefined : 'others can read it'
}
