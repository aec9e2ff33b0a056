import type { JsonCursor } from '../bytes/json-cursor.ts'
import type { Member } from './ask.ts'
import { SeenNames, type CheckedNames } from './checked-names.ts'
import { invalidRequest } from './error.ts'

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
