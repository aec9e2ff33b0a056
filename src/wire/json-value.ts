/** An object that came out of JSON. */
export type JsonObject = Record<string, unknown>

/** Whether it is an object, and neither null nor an array. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
