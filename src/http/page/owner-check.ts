import type { Visitor } from '../../extensions/extension.ts'
import { WireError } from '../../formats/error.ts'
import type { HandlerContext } from '../handler-context.ts'

/** Whether a request is from an owner, who may change providers, and see the metrics and the requests of all users. */
export type OwnerCheck = (context: HandlerContext) => boolean

/**
 * Without guards, every request is from an owner. On a route, a key with its scope has the rights of an owner.
 *
 * @param mayOwn decides for a request that the guards let pass; `undefined`: they named no user
 */
export function ownerCheck(
  isGuarded: () => boolean,
  mayOwn: (visitor: Partial<Visitor> | undefined) => boolean,
): OwnerCheck {
  return ({ visitor }) => !isGuarded() || visitor?.access !== undefined || mayOwn(visitor)
}

/** @throws {WireError} 403 unless the request is from an owner */
export function checkOwner(isOwner: OwnerCheck, context: HandlerContext): void {
  if (isOwner(context)) return
  throw new WireError(403, 'permission_error', 'owners_only', 'Only owners of this service may do this')
}
