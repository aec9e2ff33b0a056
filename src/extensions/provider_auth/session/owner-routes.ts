import { invalidRequest } from '../../../formats/error.ts'
import { parseJsonObject } from '../../../formats/parse-json-object.ts'
import type { ExtensionLog, ExtensionRoute, RouteContext } from '../../extension.ts'
import { jsonWithCookies, withStore } from '../responses.ts'
import type { Sessions } from './sessions.ts'

const bodyBytesMax = 4_096
const userLengthMax = 256

/** `POST /api/sessions/end`: lets an owner end all sessions of a user (docs/sign-in.md). */
export function ownerRoutes(sessions: Sessions, log: ExtensionLog): readonly ExtensionRoute[] {
  async function end({ body, id, caller }: RouteContext): Promise<Response> {
    const person = parseUser(await body(bodyBytesMax))
    const ended = await withStore(() => sessions.endAllOfPerson(person))
    log.info('sessions ended by an owner', { request: id, user: person, by: caller.name, sessions: ended })
    return jsonWithCookies({ ended })
  }

  return [{ method: 'POST', path: '/api/sessions/end', isForOwners: true, handle: end }]
}

/** @throws {WireError} 400 */
function parseUser(body: Uint8Array): string {
  const { user } = parseJsonObject(body)
  if (user === undefined || user === null)
    throw invalidRequest('missing_required_parameter', "'user' is required.", 'user')
  if (typeof user !== 'string') throw invalidRequest('invalid_type', "'user' must be a string.", 'user')
  if (/^[^\0-\x20\x7f]+$/.test(user) && user.length <= userLengthMax) return user
  throw invalidRequest('invalid_value', "'user' must be a user name or id:VALUE.", 'user')
}
