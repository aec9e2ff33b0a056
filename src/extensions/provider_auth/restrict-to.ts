import type { AllowList } from './settings.ts'

/** Separators and blanks, of whatever script. */
const separators = /[,\s]+/

/** An allow-list, and whether there is anybody on it. */
export interface ParsedAllowList extends AllowList {
  /** With nobody on it, nobody may sign in. */
  readonly isEmpty: boolean
}

/**
 * Reads `restrict_to` (docs/sign-in.md): user names separated by commas or blanks, each with or without a leading `@`;
 * `id:583231` stands for a user id. Names are compared without regard to the case of ASCII letters and of no others:
 * `\u212A` (the Kelvin sign) is not `k`. Ids are compared exactly.
 */
export function parseAllowList(texts: readonly string[]): ParsedAllowList {
  const names = new Set<string>()
  const ids = new Set<string>()
  for (const entry of texts.flatMap((text) => text.split(separators))) {
    const id = /^id:(.*)$/is.exec(entry)?.[1]
    const name = id === undefined ? entry.replace(/^@/, '') : ''
    if (id !== undefined && id !== '') ids.add(id)
    if (name !== '') names.add(foldCase(name))
  }
  return {
    isEmpty: names.size === 0 && ids.size === 0,
    allows: ({ userId, userName }) => ids.has(userId) || names.has(foldCase(userName)),
  }
}

function foldCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
