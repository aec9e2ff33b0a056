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
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0), count = samples.length
  const at = sum(samples.map(({ atSeconds }) => atSeconds)) / count, middle = sum(samples.map(({ value }) => value)) / count
  const spread = sum(samples.map(({ atSeconds }) => (atSeconds - at) ** 2))
  if (count < 3 || spread === 0) return { anHour: 0, errorAnHour: 0 }
  const slope = sum(samples.map(({ atSeconds, value }) => (atSeconds - at) * (value - middle))) / spread
  const rest = sum(samples.map(({ atSeconds, value }) => (value - middle - slope * (atSeconds - at)) ** 2))
  return { anHour: slope * 3_600, errorAnHour: Math.sqrt(rest / (count - 2) / spread) * 3_600 }
}
