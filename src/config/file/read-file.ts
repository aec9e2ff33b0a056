import type { ShapeNode } from '../../shapes/node.ts'
import { textShape, type ValueShape } from '../../shapes/shape.ts'
import { collectFindings } from './fault-lines.ts'
import { FileNode, parseJsonTree } from './json-tree.ts'

/** The member `$schema`, which is for editors. */
export const schemaAddress = textShape({ allowed: 'the address of a JSON Schema', pattern: /^/, lengthMax: 2048 })

/**
 * Reads a file of the configuration: JSON with comments and trailing commas.
 *
 * @param shape of the whole file, or makes it from the root of the file
 * @throws {ConfigError} with all faults, in the order of the file
 */
export function readFileBy<Value>(
  text: string,
  file: string,
  shape: ValueShape<Value> | ((root: ShapeNode) => ValueShape<Value>),
): Value {
  const findings = collectFindings(file, text)
  const { root, isSound } = parseJsonTree(text, findings)
  if (root === undefined || !isSound) throw findings.toError()
  const node = new FileNode(root)
  const value = (typeof shape === 'function' ? shape(node) : shape).read(node, findings)
  findings.throwIfAny()
  // A shape gives a value, or adds a fault.
  if (value === undefined) throw findings.toError()
  return value
}
