/**
 * Finds the name that is most similar to a mistyped one. `undefined` when more than a third of the letters differ.
 * Case, blanks, `-` and `_` are ignored.
 */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  const wanted = plain(written).slice(0, 64)
  if (wanted === '') return undefined
  let nearest: string | undefined
  let nearestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const name of names) {
    const distance = editDistance(wanted, plain(name))
    if (distance >= nearestDistance) continue
    nearest = name
    nearestDistance = distance
  }
  return nearest
}

/** The question that ends a fault: ` (did you mean "name"?)`. Empty without a similar name, or for another value. */
export function didYouMean(written: unknown, names: readonly string[]): string {
  const nearest = typeof written === 'string' ? nearestName(written, names) : undefined
  return nearest === undefined ? '' : ` (did you mean "${nearest}"?)`
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '')
}

/** Number of letters to insert, delete, replace or swap with their neighbour to change one word into the other. */
function editDistance(one: string, other: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const replaced = (previous[column - 1] ?? 0) + (isSame ? 0 : 1)
      const best = Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1)
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current.push(isSwap ? Math.min(best, (beforePrevious[column - 2] ?? 0) + 1) : best)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[other.length] ?? 0
}
