import type { JsonCursor } from '../bytes/json-cursor.ts'
import type { Member } from './ask.ts'
import type { CheckedNames } from './checked-names.ts'
import { invalidRequest } from './error.ts'

/** Names longer than this are not decoded. */
const nameBytesMax = 1024

/** The name of the member last entered; empty when it is very long. */
export function memberName(cursor: JsonCursor): string {
  return cursor.nameEnd - cursor.nameStart <= nameBytesMax ? cursor.name() : ''
}

/** Collects the members of the top-level object. */
export class MemberList {
  readonly members: Member[] = []
  readonly #checked: CheckedNames
  readonly #most: number
  readonly #seen = new Set<string>()

  /** @param most members, since their offsets are kept in memory */
  constructor(checked: CheckedNames, most: number) {
    this.#checked = checked
    this.#most = most
  }

  /** @throws {WireError} 400 for a name that other programs read in another way, and for too many members */
  add(member: Member): void {
    this.#checked.add(member.name, this.#seen)
    if (this.members.length === this.#most)
      throw invalidRequest('invalid_value', `The request body has more than ${this.#most} members.`)
    this.members.push(member)
  }
}
