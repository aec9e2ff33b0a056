import type { JsonObject } from '../../base/json-value.ts'
import { invalidRequest } from '../../formats/error.ts'
import { parseJsonObject } from '../../formats/parse-json-object.ts'
import type { ProviderChange, ProviderTestRequest } from './page-api.ts'

const changes: readonly ProviderChange['change'][] = ['enable', 'disable', 'up', 'down']
const versionLengthMax = 128
const idLengthMax = 64
const modelLengthMax = 256

/** Reads the body of `POST /api/providers`. @throws {WireError} 400 */
export function parseProviderChange(body: Uint8Array): ProviderChange {
  const fields = parseJsonObject(body)
  const version = requiredText(fields, 'version', versionLengthMax)
  const id = requiredText(fields, 'id', idLengthMax)
  const word = requiredText(fields, 'change', idLengthMax)
  const change = changes.find((each) => each === word)
  if (change === undefined)
    throw invalidRequest('invalid_value', `'change' must be one of ${changes.join(', ')}.`, 'change')
  return { version, id, change }
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
