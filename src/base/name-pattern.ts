/**
 * Whether a list of patterns has one of these names. Their case plays no part.
 *
 * @param patterns in lower case: names, or beginnings of names and `*`
 */
export function matchesAny(patterns: readonly string[], names: readonly string[]): boolean {
  return names.some((name) => {
    const folded = name.toLowerCase()
    return patterns.some((pattern) =>
      pattern.endsWith('*') ? folded.startsWith(pattern.slice(0, -1)) : folded === pattern,
    )
  })
}
