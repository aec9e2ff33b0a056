import type { MeasureName, Measurement } from './measures/measure.ts'
import { stageNames, stages, type StageName } from './stage-names.ts'
import { summarize } from './statistics.ts'
import { formatSummary, markdownTable } from './table.ts'
import { perRound, ratio, type RoundLookup } from './targets.ts'

/** Formats the table of one measure: a row for each stage, with its CPU time and the cost it adds. */
export function stageTable(measure: MeasureName, each: string, measurements: readonly Measurement[]): string {
  const cell = (figure: (of: RoundLookup) => number | undefined): string =>
    formatSummary(summarize(perRound(measure, measurements, figure)))
  const rows = stageNames.map((name, at) => {
    const before = stageNames[at - 1]
    return [
      name,
      cell((of) => of(name, 'cpuUs')),
      cell((of) => of(name, 'userUs')),
      cell((of) => of(name, 'kernelUs')),
      cell((of) => ratio(of(name, 'cpuUs'), of('raw', 'cpuUs'))),
      before === undefined ? '' : cell((of) => less(of, 'cpuUs', name, before)),
      before === undefined ? '' : cell((of) => less(of, 'userUs', name, before)),
      stages[name],
    ]
  })
  return markdownTable([`µs a ${each}`, 'CPU', 'user', 'kernel', '× raw', 'adds', 'adds, user', 'stage'], rows)
}

function less(of: RoundLookup, metric: string, name: StageName, before: StageName): number | undefined {
  const own = of(name, metric)
  const other = of(before, metric)
  return own === undefined || other === undefined ? undefined : own - other
}
