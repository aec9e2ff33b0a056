import { isRecord, type JsonObject } from '../../base/json-value.ts'
import { readBodyBy } from '../../formats/parse-json-object.ts'
import { objectShape } from '../../shapes/containers.ts'
import { plainValue } from '../../shapes/node.ts'
import { nullOr, refuseNode, textShape, type ValueShape } from '../../shapes/shape.ts'
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
    { method: 'POST', path: '/api/presets', isPublic: false, body: changeShape, handle: write },
  ]
}

const name = textShape({
  allowed: 'a text of 1 to 128 characters',
  pattern: /^(?!__proto__$)./s,
  lengthMax: 128,
})

const record: ValueShape<JsonObject> = {
  read(node, faults) {
    const value = plainValue(node)
    return isRecord(value) ? value : refuseNode(node, 'an object, or null to remove it', faults, true)
  },
  schema: () => ({ type: 'object' }),
}

const changeShape = objectShape(
  { version: name, name, before: name, preset: nullOr(record) },
  { isOpen: true, required: ['version', 'name', 'preset'] },
)

/** Reads the body of `POST /api/presets`, but not the preset in it. @throws {WireError} 400 */
export function parsePresetChange(body: Uint8Array): PresetChange {
  return readBodyBy(body, changeShape)
}
