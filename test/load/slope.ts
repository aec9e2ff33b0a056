/** One measurement: when, in seconds, and what. */
export interface Sample {
  readonly atSeconds: number
  readonly value: number
}

/** How fast a value rises. */
export interface Slope {
  readonly anHour: number
  /** The standard error of that, were the samples independent of each other. */
  readonly errorAnHour: number
}

/** The straight line through samples, by least squares; flat where there are fewer than three. */
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

/** What several things measured at one moment, by name. */
export interface Measured {
  readonly atSeconds: number
  readonly values: ReadonlyMap<number, number>
}

/**
 * The floor of what breathes: in each whole window of time the least of each thing, summed. The memory of a process
 * that collects its garbage rises and falls by more in a second than a leak adds in an hour; what it cannot give back
 * is where it falls to. The last window, which the end may have cut short, is left out, and so are those without a
 * measurement.
 */
export function floorOf(measured: readonly Measured[], windowSeconds: number): readonly Sample[] {
  const windows = Map.groupBy(measured, ({ atSeconds }) => Math.floor(atSeconds / windowSeconds))
  return [...windows]
    .slice(0, -1)
    .map(([window, inside]) => ({
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

/** What all of them come to; 0 of none. */
export function sumOf(values: Iterable<number>): number {
  return Iterator.from(values).reduce((total, value) => total + value, 0)
}
