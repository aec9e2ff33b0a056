/** One line that only one of two texts has. */
export interface LineChange {
  readonly kind: 'removed' | 'added'
  /** From 1, in the text that has it. */
  readonly line: number
  readonly text: string
}

/** Most changed lines that are compared one by one. */
const editsMax = 500

/**
 * The lines in which two texts differ, in their order, by the fewest changes (Myers, "An O(ND) Difference Algorithm").
 * Texts with more than 500 changed lines are shown as replaced from the first difference to the last.
 */
export function lineChanges(before: string, after: string): readonly LineChange[] {
  const old = linesOf(before)
  const now = linesOf(after)
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let oldEnd = old.length
  let nowEnd = now.length
  while (oldEnd > start && nowEnd > start && old[oldEnd - 1] === now[nowEnd - 1]) {
    oldEnd -= 1
    nowEnd -= 1
  }
  const shift = ({ line, ...change }: LineChange): LineChange => ({ ...change, line: line + start })
  return changesOf(old.slice(start, oldEnd), now.slice(start, nowEnd)).map(shift)
}

/** An empty text has no line. */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n')
}

function changesOf(old: readonly string[], now: readonly string[]): readonly LineChange[] {
  const rounds = furthestPaths(old, now)
  if (rounds === undefined) return [...old.map(removed), ...now.map(added)]
  const changes: LineChange[] = []
  let x = old.length
  let y = now.length
  for (let edits = rounds.length - 1; edits > 0; edits -= 1) {
    const reached = rounds[edits - 1] ?? new Map<number, number>()
    const diagonal = x - y
    const isAdded = cameFromAbove(reached, diagonal, edits)
    const from = isAdded ? diagonal + 1 : diagonal - 1
    x = reached.get(from) ?? 0
    y = x - from
    changes.push(isAdded ? added(now[y] ?? '', y) : removed(old[x] ?? '', x))
  }
  return changes.reverse()
}

/** How far each diagonal comes by 0, 1, 2 … changes, until all of both texts is reached. `undefined`: too many. */
function furthestPaths(
  old: readonly string[],
  now: readonly string[],
): readonly ReadonlyMap<number, number>[] | undefined {
  const rounds: ReadonlyMap<number, number>[] = []
  for (let edits = 0; edits <= editsMax; edits += 1) {
    const before = rounds.at(-1) ?? new Map([[1, 0]])
    const reached = new Map<number, number>()
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = cameFromAbove(before, diagonal, edits)
        ? (before.get(diagonal + 1) ?? 0)
        : (before.get(diagonal - 1) ?? 0) + 1
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1
      reached.set(diagonal, x)
      if (x >= old.length && x - diagonal >= now.length) return [...rounds, reached]
    }
    rounds.push(reached)
  }
  return undefined
}

/** Whether the furthest path to a diagonal ends with an added line, not with a removed one. */
function cameFromAbove(before: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true
  return diagonal !== edits && (before.get(diagonal - 1) ?? 0) < (before.get(diagonal + 1) ?? 0)
}

function removed(text: string, index: number): LineChange {
  return { kind: 'removed', line: index + 1, text }
}

function added(text: string, index: number): LineChange {
  return { kind: 'added', line: index + 1, text }
}
