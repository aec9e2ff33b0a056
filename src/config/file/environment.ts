import type { Lack } from '../config.ts'
import { apiKeyRule, variablePattern } from './rules.ts'

/*
 * Where `$NAME` and files stand for a value: variables of the process and of keys.env, and texts of files, in one
 * table.
 */

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Reads a variable without surrounding blanks; `undefined` when it is unset or empty. */
export function readVariable(environment: Environment, name: string): string | undefined {
  const value = Object.hasOwn(environment, name) ? environment[name]?.trim() : undefined
  return value === '' ? undefined : value
}

/** A value with `$NAME` resolved, or the setting that is missing. */
export type Resolved =
  | { readonly value: string; readonly name?: string; readonly lack?: never }
  | { readonly value?: never; readonly name?: string; readonly lack: Lack }

const fileMark = 'file:'

/** The name of a file's text in the environment. No variable has such a name. */
export function fileVariable(path: string): string {
  return `${fileMark}${path}`
}

/** The files among names in the environment. */
export function filesOf(names: readonly string[]): { readonly files?: readonly string[] } {
  const files = names.flatMap((name) => (name.startsWith(fileMark) ? [name.slice(fileMark.length)] : []))
  return files.length === 0 ? {} : { files }
}

/** Whether the text of a key file is a key. */
export function isKey(text: string): boolean {
  const key = text.trim()
  return key.length <= apiKeyRule.lengthMax && apiKeyRule.pattern.test(key) && !key.startsWith('$')
}

/** The path of a file. A name is of systemd's credentials. `undefined` without their folder. */
function pathOf(file: string, environment: Environment): string | undefined {
  if (file.startsWith('/')) return file
  const folder = readVariable(environment, credentialsFolder)
  return folder === undefined ? undefined : `${folder}/${file}`
}

const credentialsFolder = 'CREDENTIALS_DIRECTORY'

/** Resolves a file whose text is kept in the environment. */
export function resolveFile(file: string, environment: Environment, isUsable: (text: string) => boolean): Resolved {
  const path = pathOf(file, environment)
  if (path === undefined) return { lack: { code: 'unset', variables: [credentialsFolder] } }
  const name = fileVariable(path)
  const value = readVariable(environment, name)
  if (value === undefined) return { name, lack: { code: 'missing_file', variables: [path] } }
  return isUsable(value) ? { name, value } : { name, lack: { code: 'invalid_file', variables: [path] } }
}

/** Whether a text has blocks in PEM, the last of them whole. Notes may stand around them. */
export function isPem(text: string): boolean {
  const last = text.lastIndexOf('-----BEGIN ')
  return last !== -1 && /^-----BEGIN [A-Z0-9 ]+-----[^]*-----END [A-Z0-9 ]+-----/.test(text.slice(last))
}

/** Resolves `$NAME` as a whole value. @param pattern of values */
export function resolveText(text: string, environment: Environment, pattern: RegExp): Resolved {
  const name = variablePattern.exec(text)?.[1]
  if (name === undefined) return { value: text }
  const value = readVariable(environment, name)
  if (value === undefined) return { name, lack: { code: 'unset', variables: [name] } }
  // `$NAME` in a variable's value is not resolved again, so it must not pass for a value.
  const isUsable = pattern.test(value) && !value.startsWith('$')
  return isUsable ? { name, value } : { name, lack: { code: 'invalid', variables: [name] } }
}
