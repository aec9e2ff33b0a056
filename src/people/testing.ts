import type { Visitor } from '../extensions/extension.ts'
import type { RequestRecord } from '../observe/record.ts'
import { callerOf } from './caller-of.ts'
import type { Person } from './person.ts'

/** The person of a visitor. For tests. */
export function personOf(visitor: Visitor): Person {
  return callerOf(visitor).person
}

/** What the record of a visitor's request has of the visitor. For tests. */
export function sentBy(visitor: Visitor): Pick<RequestRecord, 'user' | 'person'> {
  return { user: visitor.user, person: personOf(visitor) }
}

/** The person of a record that names a user, unless a program has sent it. For tests. */
export function personOfRecord({ user }: Partial<RequestRecord>): Pick<RequestRecord, 'person'> {
  return user === undefined || user.startsWith('key:') ? {} : { person: personOf({ user }) }
}
