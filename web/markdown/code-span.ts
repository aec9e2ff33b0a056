import type { FoundToken } from './inline-token.ts'

/**
 * Parses a code span after its opening back-ticks (CommonMark 0.31, section 6.1).
 *
 * @param last of `lastTicks`
 */
export function readCodeSpan(
  text: string,
  start: number,
  length: number,
  last: ReadonlyMap<number, number>,
): FoundToken | undefined {
  if ((last.get(length) ?? -1) < start) return undefined
  const ticks = /`+/g
  ticks.lastIndex = start
  for (let match = ticks.exec(text); match !== null; match = ticks.exec(text)) {
    if (match[0].length === length)
      return {
        token: { kind: 'code', text: withoutMargin(text.slice(start, match.index).replaceAll('\n', ' ')) },
        end: ticks.lastIndex,
      }
  }
  return undefined
}

/**
 * Returns the offset of the last run of back-ticks, by length. Skipping searches without a match keeps the time linear.
 */
export function lastTicks(text: string): ReadonlyMap<number, number> {
  return new Map([...text.matchAll(/`+/g)].map(({ 0: ticks, index }) => [ticks.length, index]))
}

/** Strips one space at each end. The spaces allow code to begin or end with a back-tick. */
function withoutMargin(code: string): string {
  return code.startsWith(' ') && code.endsWith(' ') && /[^ ]/.test(code) ? code.slice(1, -1) : code
}
