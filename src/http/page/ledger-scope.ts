import type { RequestScope } from '../../ledger/use/request-question.ts'
import type { HandlerContext } from '../handler-context.ts'
import type { OwnerCheck } from './owner-check.ts'

/** Whose use a request may see: a key that of its line, also one with other scopes of owners; a person the own one. */
export function ledgerScope(context: HandlerContext, isOwner: OwnerCheck): RequestScope {
  const { visitor, user = '' } = context
  if (visitor?.access !== undefined) return { line: visitor.key?.line ?? -1 }
  return isOwner(context) ? {} : { people: [visitor?.userId ?? user] }
}
