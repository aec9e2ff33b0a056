import type { RequestScope } from '../../ledger/use/request-question.ts'
import type { Caller } from '../../people/person.ts'
import type { HandlerContext } from '../handler-context.ts'
import type { OwnerCheck } from './owner-check.ts'

/** Characters of an id that the ledger keeps. */
const idLengthMax = 128

/** Whose use a request may see: a key that of its line, also one with other scopes of owners; a person the own one. */
export function ledgerScope(context: HandlerContext, isOwner: OwnerCheck): RequestScope {
  const { access, key } = context.caller
  if (access !== undefined) return { line: key?.line ?? -1 }
  return isOwner(context) ? {} : { people: [ledgerId(context.caller)] }
}

/** The id of a caller's person in the ledger; empty: none. */
export function ledgerId({ person }: Caller): string {
  return (person?.id ?? '').slice(0, idLengthMax).toWellFormed()
}
