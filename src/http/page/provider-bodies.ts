import { isRecord, type JsonObject } from '../../base/json-value.ts'
import { invalidRequest } from '../../formats/error.ts'
import { parseJsonObject } from '../../formats/parse-json-object.ts'
import type {
  ProviderChange,
  ProviderDraft,
  ProviderEdits,
  ProviderLookRequest,
  ProviderTestRequest,
  ProviderTimeouts,
} from './page-api.ts'

const changes = ['enable', 'disable', 'up', 'down', 'remove', 'move', 'add', 'edit'] as const
const protocols = ['openai', 'anthropic', 'gemini'] as const
const placesMax = 10_000
const modelsMax = 500
const urlLengthMax = 2_048
const versionLengthMax = 128
const idLengthMax = 64
const modelLengthMax = 256
const timeoutNames = ['connectMs', 'firstTokenMs', 'idleMs', 'attemptMs'] as const
const timeoutMsMax = 86_400_000

/** Reads the body of `POST /api/providers`. @throws {WireError} 400 */
export function parseProviderChange(body: Uint8Array): ProviderChange {
  const fields = parseJsonObject(body)
  const version = requiredText(fields, 'version', versionLengthMax)
  const id = requiredText(fields, 'id', idLengthMax)
  const word = requiredText(fields, 'change', idLengthMax)
  const change = changes.find((each) => each === word)
  if (change === undefined)
    throw invalidRequest('invalid_value', `'change' must be one of ${changes.join(', ')}.`, 'change')
  if (change === 'move') return { version, id, change, to: placeOf(fields) }
  if (change === 'add') return { version, id, change, entry: parseEntry(fields) }
  return change === 'edit' ? { version, id, change, edit: parseEdit(fields) } : { version, id, change }
}

/** Reads the body of `POST /api/providers/look`. @throws {WireError} 400 */
export function parseProviderLook(body: Uint8Array): ProviderLookRequest {
  const fields = parseJsonObject(body)
  const id = requiredText(fields, 'id', idLengthMax)
  return Object.hasOwn(fields, 'edit') ? { id, edit: parseEdit(fields) } : { id, entry: parseEntry(fields) }
}

/** Reads the query of `GET /api/providers/settings`. @throws {WireError} 400 */
export function parseSettingsId(target: URL): string {
  return requiredText({ id: target.searchParams.get('id') }, 'id', idLengthMax)
}

/** `null` for a key or models is a value of its own. */
function parseEdit({ edit }: JsonObject): ProviderEdits {
  if (!isRecord(edit)) throw invalidRequest('invalid_type', "'edit' must be an object.", 'edit')
  const baseUrl = optionalText(edit, 'baseUrl', urlLengthMax)
  const keyVariable = edit['keyVariable'] === null ? null : optionalText(edit, 'keyVariable', modelLengthMax)
  const models = edit['models'] === null ? null : modelsOf(edit, 'edit')
  const timeouts = timeoutsOf(edit, 'edit')
  return {
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(keyVariable === undefined ? {} : { keyVariable }),
    ...(models === undefined ? {} : { models }),
    ...(timeouts === undefined ? {} : { timeouts }),
  }
}

function placeOf({ to }: JsonObject): number {
  if (typeof to === 'number' && Number.isInteger(to) && to >= 0 && to <= placesMax) return to
  throw invalidRequest('invalid_value', `'to' must be an integer from 0 to ${placesMax}.`, 'to')
}

/** What a value means is checked where the entry is made. */
function parseEntry({ entry }: JsonObject): Omit<ProviderDraft, 'id'> {
  if (!isRecord(entry)) throw invalidRequest('invalid_type', "'entry' must be an object.", 'entry')
  const brand = optionalText(entry, 'brand', idLengthMax)
  const baseUrl = optionalText(entry, 'baseUrl', urlLengthMax)
  const keyVariable = optionalText(entry, 'keyVariable', modelLengthMax)
  const protocol = optionalText(entry, 'protocol', idLengthMax)
  const known = protocols.find((each) => each === protocol)
  if (protocol !== undefined && known === undefined)
    throw invalidRequest('invalid_value', `'entry.protocol' must be one of ${protocols.join(', ')}.`, 'entry.protocol')
  const models = modelsOf(entry)
  const timeouts = timeoutsOf(entry, 'entry')
  return {
    ...(brand === undefined ? {} : { brand }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(known === undefined ? {} : { protocol: known }),
    ...(keyVariable === undefined ? {} : { keyVariable }),
    ...(models === undefined ? {} : { models }),
    ...(timeouts === undefined ? {} : { timeouts }),
  }
}

function timeoutsOf({ timeouts }: JsonObject, where: 'edit' | 'entry'): ProviderTimeouts | undefined {
  if (timeouts === undefined || timeouts === null) return undefined
  if (!isRecord(timeouts))
    throw invalidRequest('invalid_type', `'${where}.timeouts' must be an object.`, `${where}.timeouts`)
  const found: Partial<Record<(typeof timeoutNames)[number], number>> = {}
  for (const name of timeoutNames) {
    const value = Object.hasOwn(timeouts, name) ? timeouts[name] : undefined
    if (value === undefined) continue
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > timeoutMsMax)
      throw invalidRequest(
        'invalid_value',
        `'${where}.timeouts.${name}' must be an integer from 1 to ${timeoutMsMax}, in milliseconds.`,
        `${where}.timeouts.${name}`,
      )
    found[name] = value
  }
  return found
}

function modelsOf(entry: JsonObject, where = 'entry'): readonly string[] | undefined {
  const { models } = entry
  if (models === undefined || models === null) return undefined
  if (!Array.isArray(models) || models.length === 0 || models.length > modelsMax)
    throw invalidRequest(
      'invalid_value',
      `'${where}.models' must be a list of 1 to ${modelsMax} names.`,
      `${where}.models`,
    )
  return models.map((model: unknown) => requiredText({ model }, 'model', modelLengthMax))
}

/** Reads the body of `POST /api/providers/test`. @throws {WireError} 400 */
export function parseProviderTest(body: Uint8Array): ProviderTestRequest {
  const fields = parseJsonObject(body)
  const id = requiredText(fields, 'id', idLengthMax)
  const model = optionalText(fields, 'model', modelLengthMax)
  return model === undefined ? { id } : { id, model }
}

function requiredText(fields: JsonObject, name: string, lengthMax: number): string {
  const text = optionalText(fields, name, lengthMax)
  if (text === undefined) throw invalidRequest('missing_required_parameter', `'${name}' is required.`, name)
  return text
}

/** Text without control characters; `null` means absent. */
function optionalText(fields: JsonObject, name: string, lengthMax: number): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalidRequest('invalid_type', `'${name}' must be a string.`, name)
  if (value === '' || value.length > lengthMax || /[\0-\x1f\x7f]/.test(value) || !value.isWellFormed()) {
    throw invalidRequest(
      'invalid_value',
      `'${name}' must be text of 1 to ${lengthMax} characters, none of them a control character.`,
      name,
    )
  }
  return value
}
