/** One measurement. */
export interface Sample {
  readonly atSeconds: number
  readonly value: number
}

/** How fast a value rises. */
export interface Slope {
  readonly anHour: number
  /** Standard error of the slope, for independent samples. */
  readonly errorAnHour: number
}

/** Slope of the straight line through samples (least squares); 0 for fewer than three. */
export function slopeOf(samples: readonly Sample[]): Slope {
  const count = samples.length,
    at = sumOf(samples.map(({ atSeconds }) => atSeconds)) / count,
    middle = sumOf(samples.map(({ value }) => value)) / count
  const spread = sumOf(samples.map(({ atSeconds }) => (atSeconds - at) ** 2))
  if (count < 3 || spread === 0) return { anHour: 0, errorAnHour: 0 }
  const slope = sumOf(samples.map(({ atSeconds, value }) => (atSeconds - at) * (value - middle))) / spread
  const rest = sumOf(samples.map(({ atSeconds, value }) => (value - middle - slope * (atSeconds - at)) ** 2))
  return { anHour: slope * 3_600, errorAnHour: Math.sqrt(rest / (count - 2) / spread) * 3_600 }
}

/** Values of several processes at one moment, by process id. */
export interface Measured {
  readonly atSeconds: number
  readonly values: ReadonlyMap<number, number>
}

/**
 * Floor of a fluctuating value: for each window of time the minimum of each process, summed. Garbage makes memory rise
 * and fall by more in a second than a leak adds in an hour; only the minima show the leak. The last window, which may
 * be incomplete, and windows without a measurement are left out.
 */
export function floorOf(measured: readonly Measured[], windowSeconds: number): readonly Sample[] {
  const windows = Map.groupBy(measured, ({ atSeconds }) => Math.floor(atSeconds / windowSeconds))
  return [...windows].slice(0, -1).map(([window, inside]) => ({
    atSeconds: (window + 0.5) * windowSeconds,
    value: sumOf(leastOfEach(inside).values()),
  }))
}

function leastOfEach(measured: readonly Measured[]): ReadonlyMap<number, number> {
  const least = new Map<number, number>()
  for (const { values } of measured)
    for (const [name, value] of values) least.set(name, Math.min(value, least.get(name) ?? Infinity))
  return least
}

/** Sum of values; 0 without values. */
export function sumOf(values: Iterable<number>): number {
  return Iterator.from(values).reduce((total, value) => total + value, 0)
}
