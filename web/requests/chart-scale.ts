/** A point in a drawing, in pixels from the top left. */
export interface Point {
  readonly x: number
  readonly y: number
}

const steps = [1, 2, 5, 10]

/**
 * Returns round values from 0 to at least `max`, for an axis. Steps are 1, 2 or 5 times a power of ten.
 *
 * @param stepsMax maximum number of steps
 * @param stepMin 1 for counts, which have no fractions
 */
export function axisTicks(max: number, stepsMax = 4, stepMin = 0): readonly number[] {
  const top = max > 0 ? max : 1,
    needed = top / stepsMax
  const power = 10 ** Math.floor(Math.log10(needed))
  const step = Math.max(stepMin, (steps.find((factor) => factor * power >= needed) ?? 10) * power)
  const count = Math.ceil(top / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

/** Maps values from 0 to `max` linearly to `from`…`to`. */
export function linearScale(max: number, from: number, to: number): (value: number) => number {
  return (value) => from + (value / max) * (to - from)
}

/** Returns the `d` of an SVG path: lines between consecutive points, with gaps for missing ones. */
export function linePath(points: readonly (Point | undefined)[]): string {
  return points
    .map((point, index) => {
      if (point === undefined || isAlone(points, index)) return ''
      return `${points[index - 1] === undefined ? 'M' : 'L'}${round(point.x)} ${round(point.y)}`
    })
    .join('')
}

/** Returns points without neighbours. They have no line, and are drawn as dots. */
export function lonePoints(points: readonly (Point | undefined)[]): readonly Point[] {
  return points.flatMap((point, index) => (point !== undefined && isAlone(points, index) ? [point] : []))
}

function isAlone(points: readonly (Point | undefined)[], index: number): boolean {
  return points[index - 1] === undefined && points[index + 1] === undefined
}

/** Returns the index of the column nearest to `x`, of `count` columns in `width`. */
export function columnAt(x: number, width: number, count: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor((x / width) * count)))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
