import type { JsonObject } from '../base/json-value.ts'
import { didYouMean } from '../base/nearest.ts'
import type { TextRule } from '../base/text-rule.ts'
import { joinPath, type NodeMember, type ShapeNode } from './node.ts'
import { refuseNode, type Faults, type ValueOf, type ValueShape } from './shape.ts'

/** A list. Elements with faults are left out. @param noun names the elements in the fault of a longer list */
export function listShape<Value>(
  of: ValueShape<Value>,
  { min = 0, max = Infinity, noun = 'elements', allowed }: ListRules = {},
): ValueShape<readonly Value[]> {
  return {
    read(node, faults) {
      if (node.kind !== 'array') return refuseNode(node, 'an array', faults, true)
      const items = node.elements()
      if (items.length < min || items.length > max) {
        const found = items.length === 0 ? 'an empty array' : `${items.length} ${noun}`
        faults.add(node, found, allowed ?? (min === 0 ? `at most ${max}` : `${min} to ${max} ${noun}`))
      }
      return items.slice(0, max).flatMap((item) => of.read(item, faults) ?? [])
    },
    schema: (write) => ({
      type: 'array',
      ...(min === 0 ? {} : { minItems: min }),
      ...(max === Infinity ? {} : { maxItems: max }),
      items: write(of),
    }),
  }
}

interface ListRules {
  readonly min?: number
  readonly max?: number
  readonly noun?: string
  /** Of the number of elements. Default: `at most MAX`, or `MIN to MAX NOUN`. */
  readonly allowed?: string
}

/** The members of an object, without those whose names are repeated or `__proto__`, which are faults. */
function readMembers(node: ShapeNode, faults: Faults): ReadonlyMap<string, NodeMember> | undefined {
  if (node.kind !== 'object') return refuseNode(node, 'an object', faults, true)
  const members = new Map<string, NodeMember>()
  for (const member of node.members()) {
    const { name, at } = member
    const first = members.get(name)
    if (name === '__proto__') faults.add(at, 'the name "__proto__"', 'any other name')
    else if (first === undefined) members.set(name, member)
    else {
      const line = faults.lineOf(first.node.offset)
      faults.add(at, 'a duplicate field', `each field once (the first is on line ${line})`)
    }
  }
  return members
}

/** Rules for the names of an object with any names. */
interface NameRules {
  /** Adds a fault for a name that is not allowed. */
  readonly check?: (member: NodeMember, faults: Faults) => void
  /** Of the names. */
  readonly schema?: JsonObject
  readonly max?: number
  readonly noun?: string
}

/** Names that obey the rule. @param found describes others */
export function namesBy(rule: TextRule, found = 'an invalid name'): Pick<NameRules, 'check' | 'schema'> {
  return {
    check({ name, node }, faults) {
      if (name.length > rule.lengthMax || !rule.pattern.test(name)) faults.add(node, found, rule.allowed)
    },
    schema: { maxLength: rule.lengthMax, pattern: rule.pattern.source },
  }
}

/** An object with any names, by its names in their order. Values with faults are left out. */
export function namedShape<Value>(
  of: ValueShape<Value>,
  { check, schema, max = Infinity, noun = 'members' }: NameRules = {},
): ValueShape<ReadonlyMap<string, Value>> {
  return {
    read(node, faults) {
      const members = readMembers(node, faults)
      if (members === undefined) return undefined
      if (members.size > max) faults.add(node, `${members.size} ${noun}`, `at most ${max}`)
      const values = new Map<string, Value>()
      for (const [name, member] of members) {
        check?.(member, faults)
        const value = of.read(member.node, faults)
        if (value !== undefined) values.set(name, value)
      }
      return values
    },
    schema: (write) => ({
      type: 'object',
      ...(max === Infinity ? {} : { maxProperties: max }),
      propertyNames: { ...schema, not: schema?.['not'] ?? { const: '__proto__' } },
      ...withoutEmpty(write(of)),
    }),
  }
}

function withoutEmpty(schema: JsonObject): JsonObject {
  return Object.keys(schema).length === 0 ? {} : { additionalProperties: schema }
}

type ShapeMembers = Readonly<Record<string, ValueShape<unknown>>>

/** `connect_ms` as `connectMs`. */
type Camel<Name> = Name extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : Name

/** The value of an object: its members in camelCase. Those with faults are absent. */
type ObjectValue<Members extends ShapeMembers, Required> = {
  readonly [Name in keyof Members as Name extends Required ? Camel<Name> : never]: ValueOf<Members[Name]>
} & {
  readonly [Name in keyof Members as Name extends Required ? never : Camel<Name>]?: ValueOf<Members[Name]>
}

interface ObjectRules<Members extends ShapeMembers, Required> {
  /** Without a value for each of them there is no value of the object. */
  readonly required?: readonly Required[]
  /** Other gateways' names for these members: their name → ours. */
  readonly hints?: Readonly<Record<string, string>>
  /** Adds faults of several members together. Some may have had faults of their own. */
  readonly check?: (values: ObjectValue<Members, never>, node: ShapeNode, faults: Faults) => void
  /** Further keywords of its schema. */
  readonly schema?: JsonObject
  /** Members with other names pass, and `null` counts as absent: for bodies that programs send. */
  readonly isOpen?: boolean
}

/** An object with known names. Other names are faults, unless it is open. */
export function objectShape<const Members extends ShapeMembers, const Required extends keyof Members & string = never>(
  members: Members,
  rules: ObjectRules<Members, Required> = {},
): ValueShape<ObjectValue<Members, Required>> {
  const { required = [], check, schema, isOpen = false } = rules
  const names = Object.keys(members)
  const isAbsent = ({ kind }: ShapeNode, shape: ValueShape<unknown> | undefined): boolean =>
    isOpen && kind === 'null' && shape?.takesNull !== true
  /** The values were read by the shapes of the members. */
  const isRead = (values: object): values is ObjectValue<Members, never> => values !== null
  const isWhole = (values: object): values is ObjectValue<Members, Required> =>
    required.every((name) => Object.hasOwn(values, camelCase(name)))
  return {
    read(node, faults) {
      const given = readMembers(node, faults)
      if (given === undefined) return undefined
      if (!isOpen) refuseOthers(given, names, rules.hints, faults)
      for (const name of required) {
        const member = given.get(name)?.node
        if (member !== undefined && !isAbsent(member, members[name])) continue
        faults.add({ offset: node.offset, path: joinPath(node.path, name) }, 'nothing', 'this field is required')
      }
      const values: Record<string, unknown> = {}
      for (const [name, shape] of Object.entries(members)) {
        const member = given.get(name)?.node
        if (member === undefined || isAbsent(member, shape)) continue
        const value = shape.read(member, faults)
        if (value !== undefined) values[camelCase(name)] = value
      }
      if (isRead(values)) check?.(values, node, faults)
      return isWhole(values) ? values : undefined
    },
    schema: (write) => ({
      type: 'object',
      ...(isOpen ? {} : { additionalProperties: false }),
      ...(required.length === 0 ? {} : { required: [...required] }),
      properties: Object.fromEntries(Object.entries(members).map(([name, shape]) => [name, write(shape, name)])),
      ...schema,
    }),
  }
}

function refuseOthers(
  given: ReadonlyMap<string, NodeMember>,
  names: readonly string[],
  hints: Readonly<Record<string, string>> = {},
  faults: Faults,
): void {
  for (const [name, { at }] of given) {
    if (names.includes(name)) continue
    const hint = Object.hasOwn(hints, name) ? hints[name] : undefined
    // The fault is located at the name, and the value is not shown.
    faults.add(at, 'an unknown field', names.join(', ') + didYouMean(hint ?? name, names))
  }
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** Any JSON value, for sending. Repeated names, `__proto__` and numbers that JavaScript cannot represent are faults. */
export const jsonShape: ValueShape<unknown> = { read: readJson, schema: () => ({}) }

function readJson(node: ShapeNode, faults: Faults): unknown {
  switch (node.kind) {
    case 'object': {
      const members = readMembers(node, faults) ?? new Map<string, NodeMember>()
      return Object.fromEntries(Array.from(members, ([name, member]) => [name, readJson(member.node, faults)]))
    }
    case 'array':
      return node.elements().map((item) => readJson(item, faults))
    case 'number': {
      const { value } = node
      if (isExact(value)) return value
      faults.add(
        node,
        'a number that cannot be sent exactly',
        'integers up to 9007199254740991, and numbers below 1e308',
      )
      return undefined
    }
    case 'null':
      return null
    default:
      return node.value
  }
}

/** False for a number that overflowed, such as 1e999, for which a parser gives null. */
function isExact(value: unknown): boolean {
  return (
    typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
  )
}
