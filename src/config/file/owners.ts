import type { TextRule } from '../../base/text-rule.ts'
import type { Owners } from '../../people/owners.ts'
import { listShape } from '../../shapes/containers.ts'
import { textShape } from '../../shapes/shape.ts'
import { readVariable, type Environment } from './environment.ts'
import { variablePattern } from './rules.ts'

/** A user name of the identity provider, or `$NAME` of a variable. */
const ownerRule: TextRule = {
  allowed: 'a user name without commas and blanks, or "$NAME" of an environment variable that holds user names',
  pattern: /^(?:\$[A-Za-z_][A-Za-z0-9_]*|(?!\$)[^\s,\u0000-\u001f\u007f]+)$/,
  lengthMax: 256,
}

export const ownersShape = listShape(textShape(ownerRule), { max: 1_000, allowed: 'at most 1000 user names' })

/** Separators of names in a variable: commas, and blanks of all scripts. */
const separators = /[,\s]+/

/**
 * The owners of `owners`: each entry is a user name with or without a leading `@`, `id:VALUE` for a user id, or
 * `id:VALUE@URL` with its identity provider. The variable of a `$NAME` may contain several, separated by commas or
 * blanks. An unset variable contains none.
 */
export function ownersOf(texts: readonly string[], environment: Environment): Owners {
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
