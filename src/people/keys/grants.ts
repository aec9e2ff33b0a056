import { parseNetwork } from '../../base/ip-address.ts'
import { isRecord, type JsonObject } from '../../base/json-value.ts'
import { didYouMean } from '../../base/nearest.ts'
import type { AccessScope } from '../../formats/access.ts'
import { listShape, objectShape } from '../../shapes/containers.ts'
import { valueNode } from '../../shapes/node.ts'
import { mapShape, refuseNode, textShape, type Faults, type ValueShape } from '../../shapes/shape.ts'
import type { KeyKind } from './key-form.ts'

/** Permissions of a key. */
export const keyScopes: readonly AccessScope[] = [
  'chat',
  'models:read',
  'usage:read',
  'log:read',
  'metrics:read',
  'keys:write',
]

/** The limits of a key. An absent list means no limit. */
export interface Grants {
  /** Names of models, or their beginning with `*`. */
  readonly models?: readonly string[]
  /** Ids of providers. */
  readonly providers?: readonly string[]
  /** Addresses of clients, in CIDR form. */
  readonly networks?: readonly string[]
  readonly scopes: readonly AccessScope[]
}

/** A value of a key or its grants is not allowed. */
export class KeyFault extends Error {
  override readonly name = 'KeyFault'
  /** Name of the member. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** The scopes of a key for which none were named. */
const defaultScopes: Readonly<Record<KeyKind, readonly AccessScope[]>> = {
  program: ['chat', 'models:read'],
  management: ['keys:write'],
}

/** An empty list is refused: it could be meant as everything, or as nothing. */
function entries<Entry extends string>(of: ValueShape<Entry>): ValueShape<readonly Entry[]> {
  const allowed = 'a list of 1 to 100 texts; without it there is no limit'
  return mapShape(listShape(of, { min: 1, max: 100, noun: 'texts', allowed }), (list) => [...new Set(list)])
}

const networkRule = { allowed: 'an address, or a network such as 10.0.0.0/8', pattern: /./, lengthMax: 64 }
const network = mapShape(textShape(networkRule), (text, node, faults) =>
  parseNetwork(text) === undefined ? refuseNode(node, networkRule.allowed, faults) : text,
)

const lists = {
  models: entries(
    textShape({
      allowed: 'a name of a model, or the beginning of names and one * at its end',
      pattern: /^(?!$)[^\u0000-\u0020\u007f*]*\*?$/,
      lengthMax: 256,
    }),
  ),
  providers: entries(
    textShape({ allowed: 'an id of a provider', pattern: /^[^\u0000-\u0020\u007f*/]+$/, lengthMax: 64 }),
  ),
  networks: entries(network),
}

function scopesOf(kind: KeyKind): ValueShape<readonly AccessScope[]> {
  const other = kind === 'program' ? 'keys:write' : 'chat'
  const allowed = keyScopes.filter((scope) => scope !== other)
  const scope: ValueShape<AccessScope> = {
    read(node, faults) {
      const hint = node.value === other ? `, at a ${kind} key` : didYouMean(node.value, allowed)
      return allowed.find((each) => each === node.value) ?? refuseNode(node, allowed.join(', ') + hint, faults)
    },
    schema: () => ({ enum: allowed }),
  }
  return mapShape(entries(scope), (list) => allowed.filter((each) => list.includes(each)))
}

/** The members of grants of programs, for tables. */
export const programGrants = { ...lists, scopes: scopesOf('program') }

const shapes = {
  program: objectShape(programGrants, { isOpen: true }),
  management: objectShape({ ...lists, scopes: scopesOf('management') }, { isOpen: true }),
}

/** Grants with the scopes of a key for which none were named. */
export function withScopes(given: Partial<Grants>, kind: KeyKind): Grants {
  return { ...given, scopes: given.scopes ?? defaultScopes[kind] }
}

/** Parses the members of grants of an object; others are left to the caller. @throws {KeyFault} */
export function parseGrants(value: JsonObject, kind: KeyKind): Grants {
  const given = shapes[kind].read(valueNode(value), throwingFaults) ?? {}
  if (kind === 'management')
    for (const field of ['models', 'providers'] as const)
      if (given[field] !== undefined)
        throw new KeyFault(field, `a management key calls no models, so it has no ${field}`)
  return withScopes(given, kind)
}

const throwingFaults: Faults = {
  add({ path }, found, allowed) {
    throw new KeyFault(/^\w*/.exec(path)?.[0] ?? '', `found ${found}, allowed: ${allowed}`)
  },
  lineOf: () => 1,
}

/** Parses stored grants. @throws {KeyFault} @throws {SyntaxError} */
export function parseStoredGrants(text: string, kind: KeyKind): Grants {
  const value: unknown = JSON.parse(text)
  if (!isRecord(value)) throw new KeyFault('grants', 'grants must be an object')
  return parseGrants(value, kind)
}
