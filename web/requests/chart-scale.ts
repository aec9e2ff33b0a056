/** A place in a drawing, in pixels from the top left. */
export interface Point {
  readonly x: number
  readonly y: number
}

const steps = [1, 2, 5, 10]

/**
 * Round values from 0 to at least `max`, for the marks of an axis: steps of 1, 2 or 5 times a power of ten.
 * @param most how many steps at most
 * @param stepLeast 1 for what is counted: there are no half requests
 */
export function axisTicks(max: number, most = 4, stepLeast = 0): readonly number[] {
  const top = max > 0 ? max : 1, needed = top / most
  const power = 10 ** Math.floor(Math.log10(needed))
  const step = Math.max(stepLeast, (steps.find((factor) => factor * power >= needed) ?? 10) * power)
  const count = Math.ceil(top / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

/** Translates values from 0 to `max` into places from `from` to `to`. */
export function linearScale(max: number, from: number, to: number): (value: number) => number {
  return (value) => from + (value / max) * (to - from)
}

/** The `d` of an SVG path through the points: a line wherever two follow each other, a gap where there is none. A point alone is a line of no length, which round caps show as a dot. */
export function linePath(points: readonly (Point | undefined)[]): string {
  return points.map((point, index) => {
    if (point === undefined) return ''
    const place = `${round(point.x)} ${round(point.y)}`
    const isBegin = points[index - 1] === undefined, isAlone = isBegin && points[index + 1] === undefined
    return isAlone ? `M${place}h0` : `${isBegin ? 'M' : 'L'}${place}`
  }).join('')
}

/** The index of the place that is nearest to `x`, of `count` places that share `width`. */
export function placeAt(x: number, width: number, count: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor((x / width) * count)))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
