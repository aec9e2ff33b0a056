import { readKnownMembers, readTextField, rootField, type Field, type MemberNames } from './fields.ts'
import type { Findings } from './findings.ts'
import { parseJsonTree } from './json-tree.ts'

const schemaRule = { allowed: 'the address of a JSON Schema', pattern: /^/, lengthMax: 2048 }

/**
 * Reads the members of the object that a configuration file consists of, and checks `$schema`, which is for editors.
 *
 * @throws {ConfigError} when a syntax error affects the rest of the text
 */
export function readTopMembers(text: string, known: MemberNames, findings: Findings): ReadonlyMap<string, Field> {
  const { root, isSound } = parseJsonTree(text, findings)
  if (root === undefined || !isSound) throw findings.toError()
  const members = readKnownMembers(rootField(root), known, findings)
  readTextField(members.get('$schema'), schemaRule, findings)
  return members
}
