import type { Identity } from '../oauth/identity-provider.ts'
import type { AllowList } from './settings.ts'

/** Commas and white space of any script. */
const separators = /[,\s]+/

/** An allow-list that knows whether it is empty. */
export interface ParsedAllowList extends AllowList {
  /** An empty list allows no user. */
  readonly isEmpty: boolean
}

/**
 * Parses `restrict_to` (docs/sign-in.md): user names, with or without a leading `@`, and user ids such as `id:583231`.
 * Ids are compared exactly, and so are names unless `isCaseless`.
 *
 * @param given a text with entries separated by commas or white space, or a list of entries, which may contain both
 * @param isCaseless ignores the case of ASCII letters only: `\u212A` (the Kelvin sign) does not equal `k`
 */
export function parseAllowList(given: string | readonly string[], isCaseless: boolean): ParsedAllowList {
  const keyOf = nameKey(isCaseless)
  const names = new Set<string>()
  const ids = new Set<string>()
  for (const entry of typeof given === 'string' ? given.split(separators) : given) {
    const { userId, userName } = parsePerson(entry)
    if (userId.trim() !== '') ids.add(userId)
    if (userName.trim() !== '') names.add(keyOf(userName))
  }
  return {
    isEmpty: names.size === 0 && ids.size === 0,
    allows: ({ userId, userName }) => ids.has(userId) || names.has(keyOf(userName)),
  }
}

/** Parses one entry: `id:VALUE` is a user id, anything else a user name, with or without a leading `@`. */
export function parsePerson(text: string): Pick<Identity, 'userId' | 'userName'> {
  const userId = /^id:(.*)$/is.exec(text)?.[1]
  return userId === undefined ? { userId: '', userName: text.replace(/^@/, '') } : { userId, userName: '' }
}

/**
 * `restrict_to`, as the file has it, with a user or without.
 *
 * @returns `undefined`: it cannot be changed, since a variable has it, or it is no list
 */
export function changeAllowList(
  value: unknown,
  { userId, userName }: Pick<Identity, 'userId' | 'userName'>,
  { isAllowed, isCaseless }: { readonly isAllowed: boolean; readonly isCaseless: boolean },
): string | readonly string[] | undefined {
  const keyOf = nameKey(isCaseless)
  const isOther = (entry: string): boolean => {
    const named = parsePerson(entry)
    return named.userId === '' ? keyOf(named.userName) !== keyOf(userName) : named.userId !== userId
  }
  // Other names would be read as something else.
  const entry = /^(?!id:)[^\s,$@][^\s,]*$/i.test(userName) ? userName : `id:${userId}`
  if (typeof value === 'string') {
    if (value.startsWith('$') || value.trim() === '') return undefined
    if (isAllowed) return separators.test(entry) ? undefined : `${value}, ${entry}`
    const others = value.split(separators).filter((each) => each !== '' && isOther(each))
    // An empty text would let in everyone.
    return others.length === 0 ? [] : others.join(', ')
  }
  if (!Array.isArray(value)) return undefined
  const texts = value.filter((each) => typeof each === 'string')
  return isAllowed ? [...texts, entry] : texts.filter(isOther)
}

/** Returns the function that maps user names to the key they are compared by. */
export function nameKey(isCaseless: boolean): (name: string) => string {
  return isCaseless ? foldCase : (name) => name
}

function foldCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
