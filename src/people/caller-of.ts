import type { Visitor } from '../extensions/extension.ts'
import type { Caller, Person } from './person.ts'

/** The caller that a guard has found: each request has one, which all parts of the service use. */
export function callerOf(visitor: Visitor): Caller & { readonly person: Person } {
  const { user, userId, subject, hasCaselessName = false, profile } = visitor
  const person = {
    id: subject ?? profile?.id ?? userId ?? user,
    name: user,
    ...(userId === undefined ? {} : { accountId: userId }),
    ...(hasCaselessName ? { isCaseless: true } : {}),
  }
  return profile === undefined ? { name: user, person } : { name: user, person, profile }
}
