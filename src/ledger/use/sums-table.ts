import type { Database } from 'bun:sqlite'
import type { UseKey } from './charges.ts'
import { counterNames } from './counters.ts'
import type { NamesTable } from './names-table.ts'
import type { UseSum } from './use-totals.ts'

/** The columns of the names that a sum is kept by. */
export const sumKeyColumns = ['line', 'person', 'team', 'model', 'provider'] as const
const keyColumns = sumKeyColumns.join(', ')

/** A sum in the order of its columns, with the ids of its names. */
export interface IdentifiedSum {
  readonly hour: number
  readonly day: number
  /** Values of {@link sumKeyColumns}, then of the counters. */
  readonly values: readonly number[]
}

/** The sum with the ids of its names. */
export function identifiedSum({ hour, day, counters, ...key }: UseSum, names: NamesTable): IdentifiedSum {
  return { hour, day, values: [...keyValues(key, names), ...counterNames.map((name) => counters[name] ?? 0)] }
}

/** Values of {@link sumKeyColumns}. */
export function keyValues({ line, person, team = '', model, provider }: UseKey, names: NamesTable): readonly number[] {
  return [
    line,
    names.idOfPerson(person),
    names.idOf('team', team),
    names.idOf('model', model),
    names.idOf('provider', provider),
  ]
}

/** Adds sums to the hours and days of a database, within a transaction. */
export function sumsTable(database: Database): (sums: Iterable<IdentifiedSum>) => void {
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

  return function add(sums) {
    for (const { hour, day, values } of sums) {
      hours.run(hour, ...values)
      days.run(day, ...values)
    }
  }
}
