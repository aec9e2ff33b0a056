import { isRecord, type JsonObject } from '../base/json-value.ts'
import { invalidRequest } from './error.ts'

/** Reads a small body that is one JSON object. @throws {WireError} 400 */
export function parseJsonObject(body: Uint8Array): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw invalidRequest('invalid_json', 'The request body is not valid JSON in UTF-8.')
  }
  if (!isRecord(value)) throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
  return value
}
