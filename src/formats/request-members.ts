import type { JsonCursor } from '../bytes/json-cursor.ts'
import type { Member } from './ask.ts'
import { invalidRequest } from './error.ts'

/** Names longer than this are not decoded. */
const nameBytesMax = 1024

/** The name of the member last entered; empty when it is very long. */
export function memberName(cursor: JsonCursor): string {
  return cursor.nameEnd - cursor.nameStart <= nameBytesMax ? cursor.name() : ''
}

/** Adds a member of the top-level object. @throws {WireError} beyond `membersMax`, since offsets are kept in memory */
export function addMember(members: Member[], member: Member, membersMax: number): void {
  if (members.length === membersMax)
    throw invalidRequest('invalid_value', `The request body has more than ${membersMax} members.`)
  members.push(member)
}
