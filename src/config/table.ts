/**
 * A look-up table that holds nothing but what is put in: no `constructor`, no `toString`. Its keys may come from
 * anywhere.
 */
export function table<Value>(entries: Iterable<readonly [string, Value]> = []): Record<string, Value> {
  const empty: Record<string, Value> = Object.create(null)
  for (const [key, value] of entries) empty[key] = value
  return empty
}
