/** A difference of times in milliseconds, without digits that no clock measures: they make records longer. */
export function wholeMicroseconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
