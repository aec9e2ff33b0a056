/** A look-up table without inherited members such as `constructor` and `toString`, so keys may come from outside. */
export function table<Value>(entries: Iterable<readonly [string, Value]> = []): Record<string, Value> {
  const values: Record<string, Value> = {}
  Object.setPrototypeOf(values, null)
  for (const [key, value] of entries) values[key] = value
  return values
}
