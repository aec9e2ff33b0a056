import { type JsonCursor, nameTable, type NameTable } from '../bytes/json-cursor.ts'
import type { Member } from './ask.ts'
import { invalidRequest } from './error.ts'

/**
 * The names of members that a check reads. Programs read JSON in different ways: those in Go and .NET take a member
 * whose name differs in case, and the last of several. So that all read the same request, other spellings of a checked
 * name and repeats are refused (docs/api.md#one-reading). Names that are not checked are never refused.
 */
export class CheckedNames {
  readonly names: readonly string[]
  /** For `JsonCursor.nameCode`, which returns the index of a name in `names`. */
  readonly table: NameTable
  /** Of each name, the index of the first one that names the same. */
  readonly firsts: readonly number[]
  /** By the length of their keys. */
  private readonly byLength: readonly (readonly { readonly name: string; readonly key: string }[])[]
  private readonly hasTwoSpellings: boolean

  /**
   * @param names at most 64; of repeated ones the first counts
   * @param hasTwoSpellings `max_tokens` and `maxTokens` name the same, as at Google
   */
  constructor(names: readonly string[], hasTwoSpellings = false) {
    this.names = [...new Set(names)]
    if (this.names.length > namesMax) throw new Error(`more than ${namesMax} checked names`)
    this.table = nameTable(this.names)
    this.hasTwoSpellings = hasTwoSpellings
    const keys = this.names.map((name) => this.joined(name).toLowerCase())
    this.firsts = keys.map((key) => keys.indexOf(key))
    const named = keys.map((key, index) => ({ name: this.names[index] ?? '', key }))
    this.byLength = Array.from({ length: 64 }, (_, length) => named.filter(({ key }) => key.length === length))
  }

  private joined(name: string): string {
    return this.hasTwoSpellings && name.includes('_') ? name.replaceAll('_', '') : name
  }

  /**
   * Checks a name that is no checked one.
   *
   * @param shown as it was sent
   * @param within returns the path of the object, such as `generationConfig.`
   * @throws {WireError} 400 if programs take it for a checked one
   */
  refuseOther(name: string, shown = name, within = () => ''): void {
    const joined = this.joined(name)
    for (const { name: meant, key } of this.byLength[joined.length] ?? [])
      if (foldsTo(joined, key)) throw otherSpelling(within(), shown, meant)
  }
}

function otherSpelling(within: string, shown: string, meant: string): Error {
  const param = `${within}${meant}`
  const found = `'${within}${shown}' is another spelling of '${param}'`
  return invalidRequest('invalid_value', `${found}, which some programs take for it: send '${param}', once.`, param)
}

/** The checked names that an object has, while its members are read. */
export class SeenNames {
  private readonly checked: CheckedNames
  private readonly within: () => string
  /** A bit for each of the first 32 names. */
  private low = 0
  private high = 0

  /** @param within returns the path of the object, such as `generationConfig.` */
  constructor(checked: CheckedNames, within = () => '') {
    this.checked = checked
    this.within = within
  }

  /**
   * Adds the next member.
   *
   * @param code the index of its name among the checked ones; -1: it is not checked
   * @param name decoded
   * @throws {WireError} 400 for another spelling, and for a repeat
   */
  add(code: number, name: string): void {
    if (code === -1) return this.checked.refuseOther(name, name, this.within)
    const first = this.checked.firsts[code] ?? 0
    const bit = 1 << (first % 32)
    const seen = first < 32 ? this.low : this.high
    if ((seen & bit) !== 0) throw repeated(this.within(), name, this.checked.names[first] ?? name)
    if (first < 32) this.low = seen | bit
    else this.high = seen | bit
  }
}

const namesMax = 64

function repeated(within: string, name: string, first: string): Error {
  const param = `${within}${name}`
  const shown = name === first ? `'${param}'` : `'${within}${first}' or '${param}', which name the same,`
  const message = `The request has more than one ${shown} and programs take different ones: send one, once.`
  return invalidRequest('invalid_value', message, param)
}

/**
 * Whether a name is this key by the simple case folding of Unicode, where U+017F and U+212A are `s` and `k`.
 *
 * @param key ASCII without capitals
 */
export function foldsTo(name: string, key: string): boolean {
  if (name.length !== key.length) return false
  for (let index = 0; index < key.length; index++) {
    const code = name.charCodeAt(index)
    if (foldedCode(code) !== key.charCodeAt(index)) return false
  }
  return true
}

function foldedCode(code: number): number {
  if (code < 0x80) return code >= 0x41 && code <= 0x5a ? code + 0x20 : code
  if (code === 0x17f) return 0x73
  return code === 0x212a ? 0x6b : code
}

/** Names longer than this are not decoded. */
const nameBytesMax = 1024

/**
 * The name of the member last entered; empty when it is very long.
 *
 * @param code its index among names that need not be decoded; -1: it is none of them
 */
export function memberName(cursor: JsonCursor, names: readonly string[], code: number): string {
  if (code !== -1) return names[code] ?? ''
  return cursor.nameEnd - cursor.nameStart <= nameBytesMax ? cursor.name() : ''
}

/** Collects the members of the top-level object. */
export class MemberList {
  readonly members: Member[] = []
  private readonly seen: SeenNames
  private readonly most: number

  /** @param most members, since their offsets are kept in memory */
  constructor(checked: CheckedNames, most: number) {
    this.seen = new SeenNames(checked)
    this.most = most
  }

  /**
   * @param code the index of its name among the checked ones; -1: it is not checked
   * @throws {WireError} 400 for a name that other programs read in another way, and for too many members
   */
  add(member: Member, code: number): void {
    this.seen.add(code, member.name)
    if (this.members.length === this.most)
      throw invalidRequest('invalid_value', `The request body has more than ${this.most} members.`)
    this.members.push(member)
  }
}
