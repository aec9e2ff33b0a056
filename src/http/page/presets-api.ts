import { isRecord, type JsonObject } from '../../base/json-value.ts'
import { invalidRequest } from '../../formats/error.ts'
import { parseJsonObject } from '../../formats/parse-json-object.ts'
import { readControlBody, type BodyTimes } from '../entrance/read-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { checkOwner, type OwnerCheck } from './owner-check.ts'
import type { PresetChange, PresetsAnswer } from './page-api.ts'

/** Two texts of 32,000 characters, escaped. */
const bodyBytesMax = 512 * 1024

/** Options of {@link presetsApi}. All functions may throw {@link WireError}. */
export interface PresetsApiOptions {
  /** The full state, as owners see it. */
  readonly state: () => Promise<PresetsAnswer>
  readonly change: (change: PresetChange, user: string | undefined) => Promise<PresetsAnswer>
  readonly isOwner: OwnerCheck
  /** Time limits of request bodies. */
  readonly bodyTimes: BodyTimes
}

/** `GET /api/presets`: the presets of presets.json. `POST /api/presets`: one change, by owners. */
export function presetsApi({ state, change, isOwner, bodyTimes }: PresetsApiOptions): readonly Route[] {
  async function read(context: HandlerContext): Promise<Response> {
    const answer = await state()
    return jsonResponse(isOwner(context) ? answer : { presets: answer.presets }, context.id)
  }

  async function write(context: HandlerContext): Promise<Response> {
    checkOwner(isOwner, context)
    const body = await readControlBody(context.request, { bytesMax: bodyBytesMax, ...bodyTimes })
    return jsonResponse(await change(parsePresetChange(body), context.caller.name), context.id)
  }

  return [
    { method: 'GET', path: '/api/presets', isPublic: false, handle: read },
    { method: 'POST', path: '/api/presets', isPublic: false, handle: write },
  ]
}

/** Reads the body of `POST /api/presets`, but not the preset in it. @throws {WireError} 400 */
export function parsePresetChange(body: Uint8Array): PresetChange {
  const fields = parseJsonObject(body)
  const preset = valueOf(fields, 'preset')
  if (preset !== null && !isRecord(preset))
    throw invalidRequest('invalid_type', "'preset' must be an object, or null to remove it.", 'preset')
  const before = valueOf(fields, 'before')
  return {
    version: textOf(fields, 'version'),
    name: textOf(fields, 'name'),
    preset,
    ...(before === undefined || before === null ? {} : { before: textOf(fields, 'before') }),
  }
}

function valueOf(fields: JsonObject, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function textOf(fields: JsonObject, name: string): string {
  const value = valueOf(fields, name)
  if (typeof value === 'string' && value !== '' && value.length <= 128 && value !== '__proto__') return value
  throw invalidRequest('invalid_value', `'${name}' must be a text of 1 to 128 characters.`, name)
}
