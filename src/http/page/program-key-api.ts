import { WireError } from '../../formats/error.ts'
import { readBodyBy } from '../../formats/parse-json-object.ts'
import type { KeyLedger } from '../../people/keys/recorded-change.ts'
import { objectShape } from '../../shapes/containers.ts'
import { readControlBody, type BodyTimes } from '../entrance/read-body.ts'
import type { Route } from '../route.ts'
import { limitShape } from './access-file-api.ts'
import type { KeyMaking } from './make-program-key.ts'
import { checkEditor, checkOwner, type EditorCheck } from './owner-check.ts'

const bodyBytesMax = 64 * 1024
/** Members of both are texts, numbers, flags and lists. */
const bodyShape = objectShape({ key: limitShape, limit: limitShape }, { isOpen: true, required: ['key'] })

/** Options of {@link programKeyApi}. */
export interface ProgramKeyApiOptions extends EditorCheck, KeyMaking {
  /** `undefined`: the service has no keys. */
  readonly keys: () => KeyLedger | undefined
  /** Time limits of request bodies. */
  readonly bodyTimes: BodyTimes
}

/** `POST /api/program-keys`: owners make a key of a program with its limit, or neither (docs/keys.md). */
export function programKeyApi(options: ProgramKeyApiOptions): readonly Route[] {
  const { keys, bodyTimes, isOwner } = options
  return [
    {
      method: 'POST',
      path: '/api/program-keys',
      isPublic: false,
      body: bodyShape,
      async handle(context) {
        checkOwner(isOwner, context)
        const body = await readControlBody(context.request, { bytesMax: bodyBytesMax, ...bodyTimes })
        const { key, limit } = readBodyBy(body, bodyShape)
        if (limit !== undefined) checkEditor(options, context, 'Limits are changed', 'access.json')
        const ledger = keys()
        if (ledger === undefined) throw noKeys()
        // Without keys, the modules that make them are not loaded.
        const { makeProgramKey } = await import('./make-program-key.ts')
        return await makeProgramKey(context, { ...options, ledger, key, limit })
      },
    },
  ]
}

/** 404. */
function noKeys(): WireError {
  return new WireError(404, 'invalid_request_error', 'no_keys', 'The service has no keys: start it with --auth keys')
}
