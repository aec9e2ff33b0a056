import type { TextRule } from '../../base/text-rule.ts'
import type { Owners } from '../../people/owners.ts'
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
