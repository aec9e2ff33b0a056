import { storedValue, type StoredValue, type ValueStorage } from '../stored-value.ts'

/** A list of names in local storage, shared by all tabs. */
export type StoredNames = StoredValue<readonly string[]>

const nameCharactersMax = 300

/** Opens the names stored under `key`, at most `limit`. Invalid content counts as empty. */
export function storedNames(key: string, limit: number, storage?: ValueStorage): StoredNames {
  const stored = storedValue(key, (text) => parseNames(text, limit), storage)
  return { ...stored, set: (names) => stored.set(cleanNames(names, limit)) }
}

/** Parses a JSON array of strings; anything else is an empty list. */
export function parseNames(text: string, limit: number): readonly string[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? cleanNames(value, limit) : []
  } catch {
    // Damaged, or not written by this page.
    return []
  }
}

function cleanNames(values: readonly unknown[], limit: number): readonly string[] {
  const names = values
    .filter((value) => typeof value === 'string')
    .filter((name) => name !== '' && name.length <= nameCharactersMax)
  return [...new Set(names)].slice(0, limit)
}
