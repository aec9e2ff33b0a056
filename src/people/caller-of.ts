import type { Visitor } from '../extensions/extension.ts'
import type { Caller, Person } from './person.ts'

/** The caller that an extension has found: each request has one, which all parts of the service use. */
export function callerOf(visitor: Visitor): Caller & { readonly person: Person } {
  const { user, userId, subject, hasCaselessName = false, profile, access } = visitor
  const person = {
    id: subject ?? profile?.id ?? userId ?? user,
    name: user,
    ...(userId === undefined ? {} : { accountId: userId }),
    ...(hasCaselessName ? { isCaseless: true } : {}),
  }
  const facts = { name: user, person, ...(access === undefined ? {} : { access }) }
  return profile === undefined ? facts : { ...facts, profile }
}
