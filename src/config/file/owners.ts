import { isNamedById, personEntry } from '../../base/person-entry.ts'
import type { TextRule } from '../../base/text-rule.ts'
import type { Owners } from '../config.ts'
import { readElements, readTextField, refuse, type Field } from './fields.ts'
import type { Findings } from './findings.ts'
import { readVariable, type Environment } from './resolve-provider.ts'
import { variablePattern } from './rules.ts'

const ownersMax = 1_000

/** A user name of the identity provider, or `$NAME` of a variable. */
const ownerRule: TextRule = {
  allowed: 'a user name without commas and blanks, or "$NAME" of an environment variable that holds user names',
  pattern: /^(?:\$[A-Za-z_][A-Za-z0-9_]*|(?!\$)[^\s,\u0000-\u001f\u007f]+)$/,
  lengthMax: 256,
}

/** Separators of names in a variable: commas, and blanks of all scripts. */
const separators = /[,\s]+/

/** The identity of a request, as determined by a guard. */
export interface VisitorIdentity {
  readonly user?: string
  readonly userId?: string
  /** Unique over all identity providers. */
  readonly subject?: string
  readonly hasCaselessName?: boolean
}

/**
 * Parses `owners`: at most 1,000 entries, each a user name with or without a leading `@`, `id:VALUE` for a user id, or
 * `id:VALUE@URL` with its identity provider. The variable of a `$NAME` may contain several, separated by commas or
 * blanks. An unset variable contains none.
 *
 * @returns `undefined` when the field is absent
 */
export function parseOwners(
  field: Field | undefined,
  environment: Environment,
  findings: Findings,
): Owners | undefined {
  if (field === undefined) return undefined
  const items = readElements(field, findings) ?? []
  if (items.length > ownersMax) return refuse(field, `at most ${ownersMax} user names`, findings)
  const texts = items.flatMap((item) => readTextField(item, ownerRule, findings) ?? [])
  const entries = texts.flatMap((text) => entriesIn(text, environment))
  const isId = (entry: string): boolean => /^id:/i.test(entry)
  return {
    names: entries
      .filter((entry) => !isId(entry))
      .map((name) => name.replace(/^@/, ''))
      .filter((name) => name !== ''),
    ids: entries
      .filter(isId)
      .map((entry) => entry.slice('id:'.length))
      .filter((id) => id !== ''),
  }
}

function entriesIn(text: string, environment: Environment): readonly string[] {
  const variable = variablePattern.exec(text)?.[1]
  return variable === undefined ? [text] : (readVariable(environment, variable) ?? '').split(separators)
}

/**
 * Whether a user may change the providers and see the requests of all users. Ids are compared exactly. Names are
 * compared exactly, or ignoring the case of ASCII letters if the identity provider does so. The case of other letters
 * always counts: `\u212A` (the Kelvin sign) is not `k`.
 *
 * @param owners `undefined`: every user is an owner
 * @param visitor `undefined` or without a name: no signed-in user
 */
export function isOwner(owners: Owners | undefined, visitor: VisitorIdentity | undefined): boolean {
  if (owners === undefined) return true
  const { user = '', userId, hasCaselessName = false } = visitor ?? {}
  if (visitor === undefined || user === '') return false
  if (userId !== undefined && owners.ids.some((id) => id.startsWith(userId) && isNamedBy(id, visitor))) return true
  const keyOf = hasCaselessName ? foldCase : (name: string): string => name
  return owners.names.some((name) => keyOf(name) === keyOf(user))
}

function isNamedBy(id: string, visitor: VisitorIdentity): boolean {
  const entry = personEntry(`id:${id}`)
  return entry.kind === 'id' && isNamedById(entry, visitor)
}

function foldCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
