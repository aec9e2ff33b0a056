import type { Database } from 'bun:sqlite'
import { counterNames } from './counters.ts'
import type { NamesTable } from './names-table.ts'
import type { UseSum } from './use-sums.ts'

/** The columns of the names that a sum is kept by. */
export const sumKeyColumns = ['line', 'person', 'team', 'model', 'provider'] as const
const keyColumns = sumKeyColumns.join(', ')

/** Values of {@link sumKeyColumns}, then of the counters. */
export function sumValues({ line, person, model, provider, counters }: UseSum, names: NamesTable): readonly number[] {
  return [
    line,
    names.idOfPerson(person),
    0,
    names.idOf('model', model),
    names.idOf('provider', provider),
    ...counterNames.map((name) => counters[name] ?? 0),
  ]
}

/** Adds sums to the hours and days of a database, within a transaction. */
export function sumsTable(database: Database): (sums: readonly UseSum[], names: NamesTable) => void {
  const addTo = (table: string, time: string) => {
    const places = Array.from({ length: 1 + sumKeyColumns.length + counterNames.length }, (_, index) => `?${index + 1}`)
    return database.query<unknown, number[]>(
      `INSERT INTO ${table} (${time}, ${keyColumns}, ${counterNames.join(', ')}) VALUES (${places.join(', ')})
       ON CONFLICT (${time}, ${keyColumns}) DO UPDATE SET
       ${counterNames.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
    )
  }
  const hours = addTo('usage_hour', 'hour')
  const days = addTo('usage_day', 'day')

  return function add(sums, names) {
    for (const sum of sums) {
      const values = sumValues(sum, names)
      hours.run(sum.hour, ...values)
      days.run(sum.day, ...values)
    }
  }
}
