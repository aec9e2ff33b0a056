import { readItems, readText, refuse, type Field, type TextRule } from './fields.ts'
import type { Findings } from './findings.ts'
import { readVariable, type Environment } from './resolve-provider.ts'
import { variablePattern } from './rules.ts'

const ownersMost = 1_000

/** A user name as the identity provider knows it. What begins with `$` is meant as a variable. */
const ownerRule: TextRule = {
  allowed: 'a user name without commas and blanks, or "$NAME" of an environment variable that holds user names',
  pattern: /^(?:\$[A-Za-z_][A-Za-z0-9_]*|(?!\$)[^\s,\u0000-\u001f\u007f]+)$/,
  lengthMax: 256,
}

/** Separators and blanks, of whatever script, in a variable. */
const separators = /[,\s]+/

/**
 * Reads `owners`: at most 1,000 user names, each with or without a leading `@`. The variable of a `$NAME` may hold
 * several, separated by commas or blanks; one that is not set names nobody.
 *
 * @returns `undefined` when the field is absent; an empty list names nobody
 */
export function parseOwners(
  field: Field | undefined,
  environment: Environment,
  findings: Findings,
): readonly string[] | undefined {
  if (field === undefined) return undefined
  const items = readItems(field, findings) ?? []
  if (items.length > ownersMost) return refuse(field, `at most ${ownersMost} user names`, findings)
  const texts = items.flatMap((item) => readText(item, ownerRule, findings) ?? [])
  const names = texts.flatMap((text) => namesIn(text, environment)).map((name) => name.replace(/^@/, ''))
  return names.filter((name) => name !== '')
}

function namesIn(text: string, environment: Environment): readonly string[] {
  const variable = variablePattern.exec(text)?.[1]
  return variable === undefined ? [text] : (readVariable(environment, variable) ?? '').split(separators)
}

/**
 * Whether somebody may change the providers and see everybody's requests. Names are compared without regard to the case
 * of ASCII letters and of no others: `\u212A` (the Kelvin sign) is not `k`.
 *
 * @param owners `undefined`: everybody is one
 * @param userName `undefined`: nobody is signed in, and so it is nobody on a list
 */
export function isOwner(owners: readonly string[] | undefined, userName: string | undefined): boolean {
  if (owners === undefined) return true
  if (userName === undefined || userName === '') return false
  const folded = foldCase(userName)
  return owners.some((owner) => foldCase(owner) === folded)
}

function foldCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
