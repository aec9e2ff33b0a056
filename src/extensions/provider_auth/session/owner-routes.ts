import { readBodyBy } from '../../../formats/parse-json-object.ts'
import { objectShape } from '../../../shapes/containers.ts'
import { textShape } from '../../../shapes/shape.ts'
import type { ExtensionLog, ExtensionRoute, RouteContext } from '../../extension.ts'
import { jsonWithCookies, withStore } from '../responses.ts'
import type { Sessions } from './sessions.ts'

const bodyBytesMax = 4_096
const userShape = objectShape(
  {
    user: textShape({
      allowed: 'a user name or id:VALUE',
      pattern: /^[^\0-\x20\x7f]+$/,
      lengthMax: 256,
    }),
  },
  { isOpen: true, required: ['user'] },
)

/** `POST /api/sessions/end`: lets an owner end all sessions of a user (docs/sign-in.md). */
export function ownerRoutes(sessions: Sessions, log: ExtensionLog): readonly ExtensionRoute[] {
  async function end({ body, id, caller }: RouteContext): Promise<Response> {
    const { user: person } = readBodyBy(await body(bodyBytesMax), userShape)
    const ended = await withStore(() => sessions.endAllOfPerson(person))
    log.info('sessions ended by an owner', { request: id, user: person, by: caller.name, sessions: ended })
    return jsonWithCookies({ ended })
  }

  return [{ method: 'POST', path: '/api/sessions/end', isForOwners: true, handle: end }]
}
