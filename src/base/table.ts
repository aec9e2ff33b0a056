/**
 * A look-up table that holds nothing but what is put in: no `constructor`, no `toString`. Its keys may come from
 * anywhere.
 */
export function table<Value>(entries: Iterable<readonly [string, Value]> = []): Record<string, Value> {
  const values: Record<string, Value> = {}
  Object.setPrototypeOf(values, null)
  for (const [key, value] of entries) values[key] = value
  return values
}
