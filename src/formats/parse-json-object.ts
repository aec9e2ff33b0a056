import { isRecord, type JsonObject } from '../base/json-value.ts'
import { valueNode } from '../shapes/node.ts'
import type { Faults, ValueShape } from '../shapes/shape.ts'
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

/** Reads a small body that is one JSON object of a shape. @throws {WireError} 400 for the first fault */
export function readBodyBy<Value>(body: Uint8Array, shape: ValueShape<Value>): Value {
  const value = shape.read(valueNode(parseJsonObject(body)), throwingFaults)
  // A shape gives a value, or has a fault.
  if (value === undefined) throw invalidRequest('invalid_value', 'The request body has a value that is not allowed.')
  return value
}

/** Values are not quoted: one may be a key. */
const throwingFaults: Faults = {
  add({ path }, found, allowed, isKind = false) {
    if (found === 'nothing') throw invalidRequest('missing_required_parameter', `'${path}' is required.`, path)
    const words = allowed.startsWith('"') ? `one of ${allowed}` : allowed
    const count = /^\d+ /.test(found) ? `; found ${found}` : ''
    throw invalidRequest(isKind ? 'invalid_type' : 'invalid_value', `'${path}' must be ${words}${count}.`, path)
  },
  lineOf: () => 1,
}
