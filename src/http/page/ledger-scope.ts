import type { RequestScope } from '../../ledger/use/request-question.ts'
import type { HandlerContext } from '../handler-context.ts'
import type { OwnerCheck } from './owner-check.ts'

/** The ledger has as many characters of a subject. */
const subjectLengthMax = 128

/** Whose use a request may see: a key that of its line, also one with other scopes of owners; a person the own one. */
export function ledgerScope(context: HandlerContext, isOwner: OwnerCheck): RequestScope {
  const { visitor } = context
  if (visitor?.access !== undefined) return { line: visitor.key?.line ?? -1 }
  return isOwner(context) ? {} : { people: [subjectOf(context)] }
}

/** The subject of a signed-in person in the ledger. */
export function subjectOf({ visitor, user = '' }: Pick<HandlerContext, 'visitor' | 'user'>): string {
  const { userId = user, subject = userId } = visitor ?? {}
  return subject.slice(0, subjectLengthMax).toWellFormed()
}
