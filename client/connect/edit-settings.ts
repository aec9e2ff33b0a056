import { parse as parseJson, type ParseError } from 'jsonc-parser/lib/esm/main.js'
import { isRecord, type JsonObject } from '../../src/base/json-value.ts'
import type { JsonEdit, JsonEditor } from '../host.ts'

/** The language of a settings file. `env` has lines of `NAME=value`. */
export type SettingsLanguage = 'json' | 'toml' | 'yaml' | 'env'

/** One value of a settings file. In TOML the names before the last are a table; YAML and `env` have one name. */
export interface Setting {
  readonly path: readonly [string, ...string[]]
  /** A list of objects only in JSON, a list of texts also in TOML. */
  readonly value: string | number | readonly string[] | Readonly<Record<string, string | number>>[]
}

/** A settings file that is not valid, or in which a value cannot be set without a change of others. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/**
 * Sets values in the text of a settings file. Other values and lines stay: the result is parsed and compared.
 *
 * @param text empty for a new file
 * @throws {SettingsError} whose message goes on after the name of the file
 */
export function editSettings(
  language: SettingsLanguage,
  text: string,
  settings: readonly Setting[],
  editJson: JsonEditor,
): string {
  const { edit, parse } = languages[language]
  const before = attempt(() => parsed(parse, text), 'is not valid')
  const changed = attempt(() => edit(text, settings, editJson), unchangeable)
  const after = attempt(() => parsed(parse, changed), unchangeable)
  if (!Bun.deepEquals(after, settings.reduce(withSetting, before))) throw new SettingsError(unchangeable)
  return changed
}

const unchangeable = 'cannot be changed without a change of its other values'

interface Language {
  readonly parse: (text: string) => unknown
  readonly edit: (text: string, settings: readonly Setting[], editJson: JsonEditor) => string
}

const languages: Readonly<Record<SettingsLanguage, Language>> = {
  json: {
    parse(text) {
      const errors: ParseError[] = []
      const value: unknown = parseJson(text, errors, { allowTrailingComma: true })
      return errors.length === 0 ? value : undefined
    },
    edit(text, settings, editJson) {
      const edits = settings.map(({ path, value }): JsonEdit => ({ kind: 'set', path: [...path], value }))
      return editJson(text.trim() === '' ? '{}\n' : text, edits)
    },
  },
  toml: { parse: (text) => Bun.TOML.parse(text), edit: (text, settings) => settings.reduce(setInToml, text) },
  yaml: { parse: (text) => Bun.YAML.parse(text), edit: lineEditor(': ') },
  env: { parse: parseLines, edit: lineEditor('=') },
}

function attempt<Result>(act: () => Result, failure: string): Result {
  try {
    return act()
  } catch (cause) {
    throw new SettingsError(failure, { cause })
  }
}

/** Parses the text of a file; blank ones are empty. @throws for values other than objects */
function parsed(parse: Language['parse'], text: string): JsonObject {
  const value = text.trim() === '' ? {} : parse(text)
  if (!isRecord(value)) throw new SettingsError('is not an object')
  return value
}

/** Adds a setting. @throws when a value that is not an object stands in its path */
function withSetting(settings: JsonObject, { path: [name, next, ...rest], value }: Setting): JsonObject {
  if (next === undefined) return { ...settings, [name]: value }
  const inner = settings[name] ?? {}
  if (!isRecord(inner)) throw new SettingsError(`has '${name}' with another kind of value`)
  return { ...settings, [name]: withSetting(inner, { path: [next, ...rest], value }) }
}

/** Sets a value in its table, or makes the table at the end. */
function setInToml(text: string, { path, value }: Setting): string {
  const name = path.at(-1) ?? ''
  const table = path.slice(0, -1).join('.')
  const lines = text.split('\n')
  const isHeader = (line: string) => /^\s*\[/.test(line)
  if (table !== '' && !lines.some((line) => headerOf(line) === table))
    return `${text.trimEnd()}${text.trim() === '' ? '' : '\n\n'}[${table}]\n${name} = ${JSON.stringify(value)}\n`
  const start = table === '' ? 0 : lines.findIndex((line) => headerOf(line) === table) + 1
  const length = lines.slice(start).findIndex(isHeader)
  const end = length === -1 ? lines.length : start + length
  return setLine(lines, { start, end }, name, ' = ', value)
}

/** The name of the table that begins at a line, without its quotes. */
function headerOf(line: string): string | undefined {
  return /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1]?.replace(/["'\s]/g, '')
}

function lineEditor(separator: string): Language['edit'] {
  return (text, settings) =>
    settings.reduce((edited, { path, value }) => {
      const lines = edited.split('\n')
      return setLine(lines, { start: 0, end: lines.length }, path[0], separator, value)
    }, text)
}

/** Replaces the line of a name among these lines, or adds it: behind the last line that is not blank. */
function setLine(
  lines: readonly string[],
  { start, end }: { readonly start: number; readonly end: number },
  name: string,
  separator: string,
  value: Setting['value'],
): string {
  const line = `${name}${separator}${JSON.stringify(value)}`
  const named = new RegExp(String.raw`^\s*(?:export\s+)?${name}\s*${separator.trim()}`)
  const found = lines.findIndex((each, index) => index >= start && index < end && named.test(each))
  if (found !== -1) return lines.with(found, line).join('\n')
  const last = lines.findLastIndex((each, index) => index >= start && index < end && each.trim() !== '')
  const place = Math.max(last + 1, start)
  const changed = lines.toSpliced(place, 0, line).join('\n')
  return changed.endsWith('\n') ? changed : `${changed}\n`
}

/** Parses lines of `NAME=value`, as dotenv does; other lines are comments. */
function parseLines(text: string): JsonObject {
  return Object.fromEntries(
    Array.from(text.matchAll(/^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=[ \t]*(.*)$/gm), ([, name = '', value = '']) => [
      name,
      /^(["'])(.*)\1\s*$/.exec(value)?.[2] ?? value,
    ]),
  )
}
