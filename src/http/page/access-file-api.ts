import { invalidRequest } from '../../formats/error.ts'
import { parseJsonObject } from '../../formats/parse-json-object.ts'
import { readControlBody, type BodyTimes } from '../entrance/read-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { checkEditor, type EditorCheck } from './owner-check.ts'
import type { AccessCheckAnswer, AccessFileAnswer, AccessFileChange } from './page-api.ts'

/** A file of 1 MiB, with its quotes and line breaks escaped. */
const bodyBytesMax = 3 * 1024 * 1024
const versionLengthMax = 128

/** Options of {@link accessFileApi}. All functions may throw {@link WireError}. */
export interface AccessFileApiOptions extends EditorCheck {
  readonly read: () => Promise<AccessFileAnswer>
  readonly check: (text: string) => Promise<AccessCheckAnswer>
  /** Resolves when the change has been applied. */
  readonly change: (change: AccessFileChange, user: string | undefined) => Promise<AccessFileAnswer>
  /** Time limits of request bodies. */
  readonly bodyTimes: BodyTimes
}

/** `/api/limits/file` and `/api/limits/check`: owners read, check and replace access.json (docs/limits.md). */
export function accessFileApi(options: AccessFileApiOptions): readonly Route[] {
  const { read, check, change, bodyTimes } = options
  const checkMayEdit = (context: HandlerContext): void =>
    checkEditor(options, context, 'Limits are changed', 'access.json')
  const bodyOf = async ({ request }: HandlerContext) =>
    parseJsonObject(await readControlBody(request, { bytesMax: bodyBytesMax, ...bodyTimes }))

  return [
    {
      method: 'GET',
      path: '/api/limits/file',
      isPublic: false,
      async handle(context) {
        checkMayEdit(context)
        return jsonResponse(await read(), context.id)
      },
    },
    {
      method: 'POST',
      path: '/api/limits/file',
      isPublic: false,
      async handle(context) {
        checkMayEdit(context)
        const { version, text } = await bodyOf(context)
        if (typeof version !== 'string' || version.length > versionLengthMax)
          throw invalidRequest(
            'invalid_value',
            "'version' must be the fingerprint of the text that was read.",
            'version',
          )
        return jsonResponse(await change({ version, text: textOf(text) }, context.caller.name), context.id)
      },
    },
    {
      method: 'POST',
      path: '/api/limits/check',
      isPublic: false,
      async handle(context) {
        checkMayEdit(context)
        const { text } = await bodyOf(context)
        return jsonResponse(await check(textOf(text)), context.id)
      },
    },
  ]
}

/** A lone surrogate would be written as another character. @throws {WireError} 400 */
function textOf(value: unknown): string {
  if (typeof value === 'string' && value.isWellFormed()) return value
  throw invalidRequest('invalid_value', "'text' must be the text of the file, in Unicode.", 'text')
}
