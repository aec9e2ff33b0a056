import type { Node } from 'jsonc-parser'
import type { Findings, Place } from './findings.ts'
import { joinPath } from './json-tree.ts'
import { nearestName } from './nearest.ts'

/** One value in the file: where it stands, and whether it may be shown. */
export interface Field extends Place {
  readonly node: Node
  /** A credential, or a place where one usually stands: never quoted in a fault. */
  readonly isSecret: boolean
}

/** What the members of an object may be called. */
export interface MemberNames {
  readonly names: readonly string[]
  /** Other gateways' names for these fields: theirs → ours. */
  readonly hints?: Readonly<Record<string, string>>
  readonly required?: readonly string[]
}

/** The value at the top of the file. */
export function rootField(node: Node): Field {
  return { node, offset: node.offset, path: '', isSecret: false }
}

/** `"text"`, `5`, `true`, `an object`: a value as a fault shows it, at most 60 characters, nothing of a secret. */
export function describeFound({ node, isSecret }: Field): string {
  if (node.type === 'object') return 'an object'
  if (node.type === 'array') return 'an array'
  if (isSecret) return node.type === 'string' ? 'a text (not shown)' : `a value of type ${node.type} (not shown)`
  const shown = JSON.stringify(node.value) ?? 'nothing'
  return shown.length > 60 ? `${shown.slice(0, 57)}…${node.type === 'string' ? '"' : ''}` : shown
}

/** Notes that a value is not what it may be. Returns `undefined`, so that a reader can end with it. */
export function refuse(field: Field, allowed: string, findings: Findings): undefined {
  findings.add(field, describeFound(field), allowed)
  return undefined
}

/**
 * The members of an object of free names. Doubles and `__proto__` are noted and left out; `undefined` when it is no
 * object.
 */
export function readMembers(field: Field, findings: Findings): ReadonlyMap<string, Field> | undefined {
  if (field.node.type !== 'object') return refuse(field, 'an object', findings)
  const members = new Map<string, Field>()
  for (const property of field.node.children ?? []) {
    const [key, value] = property.children ?? []
    // A property without a value is a fault of syntax, noted already.
    if (key === undefined || value === undefined) continue
    const name = String(key.value)
    const path = joinPath(field.path, name)
    const first = members.get(name)
    if (name === '__proto__') {
      findings.add({ offset: key.offset, path }, 'the name "__proto__"', 'any other name')
    } else if (first !== undefined) {
      findings.add(
        { offset: key.offset, path },
        'the same field again',
        `each field once (the first is on line ${findings.lineOf(first.offset)})`,
      )
    } else {
      members.set(name, { node: value, offset: value.offset, path, isSecret: field.isSecret })
    }
  }
  return members
}

/** The members of an object of known names. Unknown ones are noted with the nearest right one, missing ones too. */
export function readKnownMembers(field: Field, known: MemberNames, findings: Findings): ReadonlyMap<string, Field> {
  const members = readMembers(field, findings)
  if (members === undefined) return new Map()
  for (const [name, { node, path }] of members) {
    if (known.names.includes(name)) continue
    const hint = Object.hasOwn(known.hints ?? {}, name) ? known.hints?.[name] : undefined
    const nearest = hint ?? nearestName(name, known.names)
    const question = nearest === undefined ? '' : ` (did you mean "${nearest}"?)`
    // The fault is in the name, which stands before the value; its value is not shown, whatever it is.
    const offset = node.parent?.offset ?? node.offset
    findings.add({ offset, path }, 'a field of an unknown name', `${known.names.join(', ')}${question}`)
  }
  for (const name of known.required ?? []) {
    if (members.has(name)) continue
    findings.add({ offset: field.offset, path: joinPath(field.path, name) }, 'nothing', 'this field is required')
  }
  return members
}

/** The items of an array, or `undefined` when it is none. */
export function readItems(field: Field, findings: Findings): readonly Field[] | undefined {
  if (field.node.type !== 'array') return refuse(field, 'an array', findings)
  return (field.node.children ?? []).map((node, index) => ({
    node,
    offset: node.offset,
    path: joinPath(field.path, index),
    isSecret: field.isSecret,
  }))
}

/** Text that a rule accepts. */
export interface TextRule {
  /** Completes "allowed: …". */
  readonly allowed: string
  readonly pattern: RegExp
  /** Characters. */
  readonly lengthMax: number
}

/** A string that keeps to the rule. */
export function readText(field: Field | undefined, rule: TextRule, findings: Findings): string | undefined {
  if (field === undefined) return undefined
  const value: unknown = field.node.value
  if (field.node.type !== 'string' || typeof value !== 'string') return refuse(field, rule.allowed, findings)
  if (value.length > rule.lengthMax) {
    findings.add(field, `${value.length} characters`, `at most ${rule.lengthMax}`)
    return undefined
  }
  return rule.pattern.test(value) ? value : refuse(field, rule.allowed, findings)
}

/** One of a few words; anything else is noted with the nearest of them. */
export function readWord<Word extends string>(
  field: Field | undefined,
  words: readonly Word[],
  findings: Findings,
): Word | undefined {
  if (field === undefined) return undefined
  const value: unknown = field.node.value
  const word = words.find((candidate) => candidate === value)
  if (word !== undefined) return word
  const nearest = typeof value === 'string' ? nearestName(value, words) : undefined
  const question = nearest === undefined ? '' : ` (did you mean "${nearest}"?)`
  return refuse(field, `${words.map((candidate) => `"${candidate}"`).join(', ')}${question}`, findings)
}

/** `true` or `false`. */
export function readBoolean(field: Field | undefined, findings: Findings): boolean | undefined {
  if (field === undefined) return undefined
  const value: unknown = field.node.value
  return typeof value === 'boolean' ? value : refuse(field, 'true or false', findings)
}

/** A whole number from `minimum` to `maximum`. */
export function readInteger(
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

/** A number from `minimum` to `maximum`. */
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
