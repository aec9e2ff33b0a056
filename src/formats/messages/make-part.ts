import type { JsonObject } from '../../base/json-value.ts'
import { encodeJson } from '../exact-json.ts'
import { emptyPart, type Part } from '../part.ts'

/** An event as a part. */
export function messagePart(event: JsonObject, facts: Partial<Part> = {}): Part {
  return emptyPart(facts, encodeJson(event), String(event['type']))
}
