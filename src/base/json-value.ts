/** A JSON object whose members are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether it is an object, and neither null nor an array. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
