import type { Database } from 'bun:sqlite'
import { counterNames } from './counters.ts'
import type { NamesTable } from './names-table.ts'
import type { UseSum } from './use-sums.ts'

const keyColumns = 'line, person, team, model, provider'
const keyCount = 5

/** Adds sums to the hours and days of a database, within a transaction. */
export function sumsTable(database: Database): (sums: readonly UseSum[], names: NamesTable) => void {
  const addTo = (table: string, time: string) => {
    const places = Array.from({ length: 1 + keyCount + counterNames.length }, (_, index) => `?${index + 1}`)
    return database.query<unknown, number[]>(
      `INSERT INTO ${table} (${time}, ${keyColumns}, ${counterNames.join(', ')}) VALUES (${places.join(', ')})
       ON CONFLICT (${time}, ${keyColumns}) DO UPDATE SET
       ${counterNames.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
    )
  }
  const hours = addTo('usage_hour', 'hour')
  const days = addTo('usage_day', 'day')

  return function add(sums, names) {
    for (const { hour, day, line, person, model, provider, counters } of sums) {
      const values = [
        line,
        names.idOfPerson(person),
        0,
        names.idOf('model', model),
        names.idOf('provider', provider),
        ...counterNames.map((name) => counters[name] ?? 0),
      ]
      hours.run(hour, ...values)
      days.run(day, ...values)
    }
  }
}
