import { isLoopbackHost } from '../../base/this-machine.ts'
import { WireError } from '../../formats/error.ts'
import type { Person } from '../../people/person.ts'
import type { HandlerContext } from '../handler-context.ts'

/** Whether a request is from an owner, who may change providers, and see the metrics and the requests of all users. */
export type OwnerCheck = (context: HandlerContext) => boolean

/**
 * Without guards, every request is from an owner. On a route, a key with its scope has the rights of an owner.
 *
 * @param mayOwn decides for a request that the guards let pass; `undefined`: they named no user
 */
export function ownerCheck(isGuarded: () => boolean, mayOwn: (person: Person | undefined) => boolean): OwnerCheck {
  return ({ caller }) => !isGuarded() || caller.access !== undefined || mayOwn(caller.person)
}

/** @throws {WireError} 403 unless the request is from an owner */
export function checkOwner(isOwner: OwnerCheck, context: HandlerContext): void {
  if (isOwner(context)) return
  throw new WireError(403, 'permission_error', 'owners_only', 'Only owners of this service may do this')
}

/**
 * A typed secret must not cross a network in the open. Browsers send the origin of the page, whose scheme a proxy has
 * not changed.
 *
 * @param wayOut how to do without the page, such as `write the key into keys.env`
 * @throws {WireError} 403
 */
export function checkEncrypted(request: Request, wayOut: string): void {
  const origin = request.headers.get('origin') ?? ''
  const { protocol, hostname } = new URL(URL.canParse(origin) ? origin : request.url)
  if (protocol === 'https:' || isLoopbackHost(hostname)) return
  throw new WireError(
    403,
    'permission_error',
    'not_encrypted',
    `Keys are taken over https, or on the machine of svc, only: open the page there, or ${wayOut}`,
  )
}

/** Who may edit a configuration file as a whole, or entries that decide where prompts and keys go. */
export interface EditorCheck {
  readonly isOwner: OwnerCheck
  /** Without sign-in, every client is an owner: then only clients of this machine may edit. */
  readonly mayEdit: () => boolean
}

/**
 * @param what such as `Limits are changed`
 * @throws {WireError} 403 unless the request is from an owner who may edit the file
 */
export function checkEditor(
  { isOwner, mayEdit }: EditorCheck,
  context: HandlerContext,
  what: string,
  file: string,
): void {
  checkOwner(isOwner, context)
  if (mayEdit()) return
  throw new WireError(
    403,
    'permission_error',
    'not_from_here',
    `${what} on the page only with sign-in, or while svc listens on this machine alone: change ${file} by hand`,
  )
}
