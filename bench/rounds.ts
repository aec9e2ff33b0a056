import {
  directName,
  serviceName,
  type Contender,
  type Measure,
  type Measurement,
  type MeasureSetting,
} from './measures/measure.ts'
import { progress, reasonOf } from './progress.ts'

/** Results of the rounds of a measure, and the reasons of omissions. */
export interface Outcome {
  readonly measurements: readonly Measurement[]
  readonly notes: readonly string[]
}

/**
 * Runs every round of one measure. A contender that fails is left out of the remaining rounds, with a note. @param say
 * prints progress
 */
export async function runMeasure(
  measure: Measure,
  field: readonly Contender[],
  rounds: number,
  setting: MeasureSetting,
  say = progress,
): Promise<Outcome> {
  const measurements: Measurement[] = []
  const failed = new Map<string, string>()
  const contenders = field.filter(
    ({ name, canStream }) =>
      (name !== directName || measure.includesDirect) &&
      (canStream || !measure.needsStreams) &&
      (measure.only?.includes(name) ?? true),
  )
  const last = Math.min(rounds, measure.roundsMax ?? rounds)
  for (let round = 1; round <= last; round++) {
    say(`${measure.name}, round ${round} of ${last}`)
    for (const contender of rotated(contenders, round)) {
      if (failed.has(contender.name)) continue
      if (measure.peersOnce && round > 1 && contender.name !== serviceName) continue
      try {
        if (measure.warmUp !== undefined) await setting.warmUp(measure.warmUp, contender)
        const figures = await measure.run(contender, round, setting)
        for (const [metric, value] of Object.entries(figures)) {
          measurements.push({ measure: measure.name, round, proxy: contender.name, metric, value })
        }
      } catch (error) {
        failed.set(contender.name, `${contender.name}, ${measure.name}, round ${round}: ${reasonOf(error)}`)
        say(`leaving out of ${measure.name}: ${reasonOf(error)}`)
      }
    }
  }
  return { measurements, notes: [...failed.values()] }
}

/** Rotates items by the round, so that each round begins with another item. */
export function rotated<Item>(items: readonly Item[], round: number): readonly Item[] {
  const by = round % Math.max(items.length, 1)
  return [...items.slice(by), ...items.slice(0, by)]
}
