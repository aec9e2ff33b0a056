import { parseNetwork } from '../../base/ip-address.ts'
import { isRecord, type JsonObject } from '../../base/json-value.ts'
import { didYouMean } from '../../base/nearest.ts'
import type { AccessScope } from '../../formats/access.ts'
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

const entriesMax = 100

/** The scopes of a key for which none were named. */
const defaultScopes: Readonly<Record<KeyKind, readonly AccessScope[]>> = {
  program: ['chat', 'models:read'],
  management: ['keys:write'],
}

/** Parses the members of grants of an object; others are left to the caller. @throws {KeyFault} */
export function parseGrants(value: JsonObject, kind: KeyKind): Grants {
  const models = parseList(value, 'models', modelRule)
  const providers = parseList(value, 'providers', providerRule)
  const networks = parseList(value, 'networks', networkRule)
  const scopes = parseScopes(value, kind)
  if (kind === 'management')
    for (const [field, list] of Object.entries({ models, providers }))
      if (list !== undefined) throw new KeyFault(field, `a management key calls no models, so it has no ${field}`)
  return {
    ...(models === undefined ? {} : { models }),
    ...(providers === undefined ? {} : { providers }),
    ...(networks === undefined ? {} : { networks }),
    scopes,
  }
}

/** Parses stored grants. @throws {KeyFault} @throws {SyntaxError} */
export function parseStoredGrants(text: string, kind: KeyKind): Grants {
  const value: unknown = JSON.parse(text)
  if (!isRecord(value)) throw new KeyFault('grants', 'grants must be an object')
  return parseGrants(value, kind)
}

interface EntryRule {
  readonly allowed: string
  isValid(entry: string): boolean
}

const modelRule: EntryRule = {
  allowed: 'a name of a model, or the beginning of names and one * at its end',
  isValid: (entry) => entry.length <= 256 && /^[^\0-\x20\x7f*]*\*?$/.test(entry),
}

const providerRule: EntryRule = {
  allowed: 'an id of a provider',
  isValid: (entry) => entry.length <= 64 && /^[^\0-\x20\x7f*/]+$/.test(entry),
}

const networkRule: EntryRule = {
  allowed: 'an address, or a network such as 10.0.0.0/8',
  isValid: (entry) => parseNetwork(entry) !== undefined,
}

function parseList(value: JsonObject, field: string, { allowed, isValid }: EntryRule): readonly string[] | undefined {
  const list = listOf(value, field)
  const faulty = list?.find((entry) => !isValid(entry))
  if (faulty !== undefined) throw new KeyFault(field, `found ${shown(faulty)}, allowed: ${allowed}`)
  return list
}

function parseScopes(value: JsonObject, kind: KeyKind): readonly AccessScope[] {
  const list = listOf(value, 'scopes')
  if (list === undefined) return defaultScopes[kind]
  const others = kind === 'program' ? 'keys:write' : 'chat'
  const allowed = keyScopes.filter((scope) => scope !== others)
  const faulty = list.find((entry) => !allowed.some((scope) => scope === entry))
  if (faulty === undefined) return allowed.filter((scope) => list.includes(scope))
  const hint = faulty === others ? `, at a ${kind} key` : didYouMean(faulty, allowed)
  throw new KeyFault('scopes', `found ${shown(faulty)}, allowed${hint}: ${allowed.join(', ')}`)
}

/** An empty list is refused: it could be meant as everything, or as nothing. */
function listOf(value: JsonObject, field: string): readonly string[] | undefined {
  const list = Object.hasOwn(value, field) ? value[field] : undefined
  if (list === undefined || list === null) return undefined
  const given: readonly unknown[] = Array.isArray(list) ? list : []
  const entries = given.filter((entry) => typeof entry === 'string' && entry !== '')
  if (entries.length === 0 || entries.length < given.length || given.length > entriesMax)
    throw new KeyFault(field, `allowed: a list of 1 to ${entriesMax} texts; without it there is no limit`)
  return [...new Set(entries.filter((entry) => typeof entry === 'string'))]
}

function shown(entry: string): string {
  return JSON.stringify(entry.slice(0, 64))
}
