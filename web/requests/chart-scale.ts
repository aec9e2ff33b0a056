/** A place in a drawing, in pixels from the top left. */
export interface Point {
  readonly x: number
  readonly y: number
}

const steps = [1, 2, 5, 10]

/**
 * Round values from 0 to at least `max`, for the marks of an axis: steps of 1, 2 or 5 times a power of ten.
 *
 * @param most how many steps at most
 * @param stepLeast 1 for what is counted: there are no half requests
 */
export function axisTicks(max: number, most = 4, stepLeast = 0): readonly number[] {
  const top = max > 0 ? max : 1,
    needed = top / most
  const power = 10 ** Math.floor(Math.log10(needed))
  const step = Math.max(stepLeast, (steps.find((factor) => factor * power >= needed) ?? 10) * power)
  const count = Math.ceil(top / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

/** Translates values from 0 to `max` into places from `from` to `to`. */
export function linearScale(max: number, from: number, to: number): (value: number) => number {
  return (value) => from + (value / max) * (to - from)
}

/** The `d` of an SVG path through the points: a line wherever two follow each other, and a gap where there is none. */
export function linePath(points: readonly (Point | undefined)[]): string {
  return points
    .map((point, index) => {
      if (point === undefined || isAlone(points, index)) return ''
      return `${points[index - 1] === undefined ? 'M' : 'L'}${round(point.x)} ${round(point.y)}`
    })
    .join('')
}

/** The points that have no neighbour, and so no line: they are to be drawn as dots. */
export function lonePoints(points: readonly (Point | undefined)[]): readonly Point[] {
  return points.flatMap((point, index) => (point !== undefined && isAlone(points, index) ? [point] : []))
}

function isAlone(points: readonly (Point | undefined)[], index: number): boolean {
  return points[index - 1] === undefined && points[index + 1] === undefined
}

/** The index of the place that is nearest to `x`, of `count` places that share `width`. */
export function placeAt(x: number, width: number, count: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor((x / width) * count)))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
