import { editConfig, valueAt, type ConfigEdit } from './edit-config.ts'

/**
 * The text of an extension's file with these members. Other members and comments stay.
 *
 * @param members `undefined`: the member is removed
 * @throws {ConfigError} when the text is not JSON
 */
export function withMembers(text: string | undefined, members: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(members)
  if (text === undefined) return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`
  const edits = entries.flatMap(([name, value]): readonly ConfigEdit[] => {
    if (value !== undefined) return [{ kind: 'set', path: [name], value }]
    return valueAt(text, [name]) === undefined ? [] : [{ kind: 'remove', path: [name] }]
  })
  return editConfig(text, edits)
}

/**
 * The text of providers.json with one more owner, and more extensions to run. Those that are there stay.
 *
 * @throws {ConfigError} when the text is not JSON
 */
export function withSignIn(
  text: string,
  { owner, extensions }: { readonly owner: string; readonly extensions: readonly string[] },
): string {
  return withEntries(withEntries(text, 'owners', [owner]), 'auth', extensions)
}

function withEntries(text: string, name: string, entries: readonly string[]): string {
  const present = valueAt(text, [name])
  if (!Array.isArray(present))
    return entries.length === 0 ? text : editConfig(text, [{ kind: 'set', path: [name], value: entries }])
  const added = entries.filter((entry) => !present.includes(entry))
  return editConfig(
    text,
    added.map((value): ConfigEdit => ({ kind: 'insert', path: [name, -1], value })),
  )
}
