import type { Node } from 'jsonc-parser'
import { didYouMean } from '../../base/nearest.ts'
import type { TextRule } from '../../base/text-rule.ts'
import type { Findings, Location } from './findings.ts'
import { joinPath } from './json-tree.ts'

/** One value in the file, with its location. */
export interface Field extends Location {
  readonly node: Node
  /** The value may be a credential and is never quoted in a fault. */
  readonly isSecret: boolean
}

/** The allowed member names of an object. */
export interface MemberNames {
  readonly names: readonly string[]
  /** Other gateways' names for these fields: their name → ours. */
  readonly hints?: Readonly<Record<string, string>>
  readonly required?: readonly string[]
}

/** The root value of the file. */
export function rootField(node: Node): Field {
  return { node, offset: node.offset, path: '', isSecret: false }
}

/** Describes a value for a fault, such as `"text"`, `5` or `an object`: at most 60 characters, without secrets. */
export function describeFound({ node, isSecret }: Field): string {
  if (node.type === 'object') return 'an object'
  if (node.type === 'array') return 'an array'
  if (isSecret) return node.type === 'string' ? 'a string (not shown)' : `a value of type ${node.type} (not shown)`
  const shown = JSON.stringify(node.value) ?? 'nothing'
  return shown.length > 60 ? `${shown.slice(0, 57)}…${node.type === 'string' ? '"' : ''}` : shown
}

/** Adds a fault for a value that is not allowed. Returns `undefined`, for use in return statements. */
export function refuse(field: Field, allowed: string, findings: Findings): undefined {
  findings.add(field, describeFound(field), allowed)
  return undefined
}

/**
 * Reads the members of an object with any names. Duplicates and `__proto__` are faults and left out. `undefined` when
 * the value is not an object.
 */
export function readMembers(field: Field, findings: Findings): ReadonlyMap<string, Field> | undefined {
  if (field.node.type !== 'object') return refuse(field, 'an object', findings)
  const members = new Map<string, Field>()
  for (const property of field.node.children ?? []) {
    const [key, value] = property.children ?? []
    // A property without a value is a syntax error, which has been added already.
    if (key === undefined || value === undefined) continue
    const name = String(key.value)
    const path = joinPath(field.path, name)
    const first = members.get(name)
    if (name === '__proto__') {
      findings.add({ offset: key.offset, path }, 'the name "__proto__"', 'any other name')
    } else if (first !== undefined) {
      findings.add(
        { offset: key.offset, path },
        'a duplicate field',
        `each field once (the first is on line ${findings.lineOf(first.offset)})`,
      )
    } else {
      members.set(name, { node: value, offset: value.offset, path, isSecret: field.isSecret })
    }
  }
  return members
}

/** Reads the members of an object with known names. Unknown names and missing required ones are faults. */
export function readKnownMembers(field: Field, known: MemberNames, findings: Findings): ReadonlyMap<string, Field> {
  const members = readMembers(field, findings)
  if (members === undefined) return new Map()
  for (const [name, { node, path }] of members) {
    if (known.names.includes(name)) continue
    const hint = Object.hasOwn(known.hints ?? {}, name) ? known.hints?.[name] : undefined
    // The fault is located at the name, and the value is not shown.
    const offset = node.parent?.offset ?? node.offset
    findings.add({ offset, path }, 'an unknown field', known.names.join(', ') + didYouMean(hint ?? name, known.names))
  }
  for (const name of known.required ?? []) {
    if (members.has(name)) continue
    findings.add({ offset: field.offset, path: joinPath(field.path, name) }, 'nothing', 'this field is required')
  }
  return members
}

/** Reads the items of an array; `undefined` for other values. */
export function readElements(field: Field, findings: Findings): readonly Field[] | undefined {
  if (field.node.type !== 'array') return refuse(field, 'an array', findings)
  return (field.node.children ?? []).map((node, index) => ({
    node,
    offset: node.offset,
    path: joinPath(field.path, index),
    isSecret: field.isSecret,
  }))
}

/** The elements of an array that may have `max` of them. @param noun names the elements, such as `limits` */
export function readElementsTo(
  max: number,
  noun: string,
  field: Field | undefined,
  findings: Findings,
): readonly Field[] {
  if (field === undefined) return []
  const items = readElements(field, findings) ?? []
  if (items.length > max) findings.add(field, `${items.length} ${noun}`, `at most ${max}`)
  return items.slice(0, max)
}

/** Reads a string that obeys the rule. */
export function readTextField(field: Field | undefined, rule: TextRule, findings: Findings): string | undefined {
  if (field === undefined) return undefined
  const value: unknown = field.node.value
  if (field.node.type !== 'string' || typeof value !== 'string') return refuse(field, rule.allowed, findings)
  if (value.length > rule.lengthMax) {
    findings.add(field, `${value.length} characters`, `at most ${rule.lengthMax}`)
    return undefined
  }
  return rule.pattern.test(value) ? value : refuse(field, rule.allowed, findings)
}

/** Reads one of a few words. The fault for another value suggests the nearest word. */
export function readWord<Word extends string>(
  field: Field | undefined,
  words: readonly Word[],
  findings: Findings,
): Word | undefined {
  if (field === undefined) return undefined
  const value: unknown = field.node.value
  const word = words.find((candidate) => candidate === value)
  if (word !== undefined) return word
  const allowed = words.map((candidate) => `"${candidate}"`).join(', ')
  return refuse(field, allowed + didYouMean(value, words), findings)
}

/** Reads `true` or `false`. */
export function readBooleanField(field: Field | undefined, findings: Findings): boolean | undefined {
  if (field === undefined) return undefined
  const value: unknown = field.node.value
  return typeof value === 'boolean' ? value : refuse(field, 'true or false', findings)
}

/** Reads an integer from `minimum` to `maximum`. */
export function readIntegerField(
  field: Field | undefined,
  minimum: number,
  maximum: number,
  findings: Findings,
): number | undefined {
  if (field === undefined) return undefined
  const value: unknown = field.node.value
  const isRight =
    field.node.type === 'number' &&
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= minimum &&
    value <= maximum
  return isRight ? value : refuse(field, `an integer from ${minimum} to ${maximum}`, findings)
}

/** Reads a number from `minimum` to `maximum`. */
export function readNumber(
  field: Field | undefined,
  minimum: number,
  maximum: number,
  findings: Findings,
): number | undefined {
  if (field === undefined) return undefined
  const value: unknown = field.node.value
  const isRight = field.node.type === 'number' && typeof value === 'number' && value >= minimum && value <= maximum
  return isRight ? value : refuse(field, `a number from ${minimum} to ${maximum}`, findings)
}
