import type { RequestScope } from '../../ledger/use/request-question.ts'
import type { HandlerContext } from '../handler-context.ts'
import type { OwnerCheck } from './owner-check.ts'

/** The ledger has as many characters of an id. */
const subjectLengthMax = 128

/** Whose use a request may see: a key that of its line, also one with other scopes of owners; a person the own one. */
export function ledgerScope(context: HandlerContext, isOwner: OwnerCheck): RequestScope {
  const { visitor } = context
  if (visitor?.access !== undefined) return { line: visitor.key?.line ?? -1 }
  return isOwner(context) ? {} : { people: subjectsOf(context) }
}

/**
 * The names of a signed-in person in the ledger. Earlier versions of svc knew people by their user ids alone; only who
 * was not there since then is still known so.
 */
export function subjectsOf({ visitor, user = '' }: Pick<HandlerContext, 'visitor' | 'user'>): readonly string[] {
  const { subject, userId = user } = visitor ?? {}
  return [...(subject === undefined ? [] : [subject]), userId].map((id) => id.slice(0, subjectLengthMax).toWellFormed())
}
