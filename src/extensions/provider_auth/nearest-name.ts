/**
 * The one of `names` that `written` most likely means; `undefined` when more than a third of its letters would have to
 * change. Case, `-` and `_` do not count.
 */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  const wanted = plain(written).slice(0, 64)
  const most = Math.max(1, Math.floor(wanted.length / 3))
  const [nearest] = names
    .map((name) => ({ name, changes: changesBetween(wanted, plain(name)) }))
    .filter(({ changes }) => wanted !== '' && changes <= most)
    .toSorted((one, other) => one.changes - other.changes)
  return nearest?.name
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, '')
}

/** Letters to insert, delete or replace (Levenshtein's distance). */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, letter] of Array.from(one).entries()) {
    const next = [index + 1]
    for (let column = 1; column <= other.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (letter === other[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
