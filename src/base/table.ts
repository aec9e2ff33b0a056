/**
 * A look-up table that holds nothing but what is put in: no `constructor`, no `toString`. Its keys may come from
 * anywhere.
 */
export function table<Value>(entries: Iterable<readonly [string, Value]> = []): Record<string, Value> {
  const empty = Object.create(null) as Record<string, Value>
  for (const [key, value] of entries) empty[key] = value
  return empty
}
