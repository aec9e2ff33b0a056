/** One measurement: when, in seconds, and what. */
export interface Sample {
  readonly atSeconds: number
  readonly value: number
}

/** How fast a value rises, an hour, by least squares; 0 of fewer than two samples. */
export function slopeAnHour(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const at = mean(samples.map(({ atSeconds }) => atSeconds)), middle = mean(samples.map(({ value }) => value))
  const together = samples.reduce((sum, { atSeconds, value }) => sum + (atSeconds - at) * (value - middle), 0)
  const spread = samples.reduce((sum, { atSeconds }) => sum + (atSeconds - at) ** 2, 0)
  return spread === 0 || samples.length < 2 ? 0 : together / spread * 3_600
}
