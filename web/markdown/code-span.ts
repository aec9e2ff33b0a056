import type { Found } from './inline-token.ts'

/** Reads a span of code behind its opening back-ticks (CommonMark 0.31, section 6.1). @param last of `lastTicks` */
export function readCodeSpan(
  text: string,
  start: number,
  length: number,
  last: ReadonlyMap<number, number>,
): Found | undefined {
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

/** Where the last run of so many back-ticks begins, by their number. With it nothing is sought in vain. */
export function lastTicks(text: string): ReadonlyMap<number, number> {
  return new Map([...text.matchAll(/`+/g)].map(({ 0: ticks, index }) => [ticks.length, index]))
}

/** One space at each end is there so that code can begin with a back-tick. */
function withoutMargin(code: string): string {
  return code.startsWith(' ') && code.endsWith(' ') && /[^ ]/.test(code) ? code.slice(1, -1) : code
}
