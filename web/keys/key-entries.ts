import type { KeyEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'

/** Names of models as they are typed: separated by commas, blanks or lines. */
export function modelsIn(text: string): readonly string[] {
  return [...new Set(text.split(/[,\s]+/).filter((name) => name !== ''))]
}

/** The grants of a key, in words. */
export function grantsOf({ models, scopes, kind }: Pick<KeyEntry, 'models' | 'scopes' | 'kind'>): string {
  if (kind === 'management') return say.keys.grants.management
  const asked = models === null || models.includes('*') ? say.keys.grants.allModels : models.join(', ')
  const others = scopes.flatMap((scope) => otherScopes[scope] ?? [])
  return [scopes.includes('chat') ? asked : say.keys.grants.noModels, ...others].join(', ')
}

const otherScopes: Readonly<Record<string, string>> = say.keys.grants.others

/** The keys with all words of a text in their name, person, team, beginning, end or state. Case does not count. */
export function foundKeys(keys: readonly KeyEntry[], text: string): readonly KeyEntry[] {
  const words = text.toLowerCase().split(/\s+/)
  return keys.filter(({ name, person, team, made_by, hint, state, models }) => {
    const all = [name, person, team, made_by, hint, state, say.keys.states[state], ...(models ?? [])]
      .join('\n')
      .toLowerCase()
    return words.every((word) => all.includes(word))
  })
}

/** Keys that can be used come first, then the newest. */
export function inOrder(keys: readonly KeyEntry[]): readonly KeyEntry[] {
  return keys.toSorted((one, other) => Number(isOver(one)) - Number(isOver(other)) || other.id - one.id)
}

/** The keys that can get a successor: they work, are the newest of their lines, and belong to no person. */
export function rotatableOf(keys: readonly KeyEntry[]): ReadonlySet<KeyEntry> {
  const newest = new Map<number, number>()
  for (const { line, id } of keys) newest.set(line, Math.max(id, newest.get(line) ?? 0))
  return new Set(keys.filter((key) => key.person === null && !isOver(key) && newest.get(key.line) === key.id))
}

/** Whether a key cannot be used again. */
export function isOver({ state }: Pick<KeyEntry, 'state'>): boolean {
  return state === 'ended' || state === 'expired'
}
