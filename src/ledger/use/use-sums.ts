import type { RequestRecord } from '../../observe/record.ts'
import { chargesOf, type UseKey } from './charges.ts'
import { addCounters, type Counters } from './counters.ts'
import type { ZoneHours } from './zone-hours.ts'

/** The use in one hour, by all names it is kept by. */
export interface UseSum extends UseKey {
  /** Start of the local hour, Unix milliseconds. */
  readonly hour: number
  /** The local date, such as 20261123. */
  readonly day: number
  readonly counters: Counters
}

/** Sums that merge. Their number is bounded by hours, keys, people, models and providers, not by requests. */
export interface UseSums {
  /** Adds a request, in the hour of its end. */
  add(record: RequestRecord, hours: ZoneHours): void
  merge(sums: Iterable<UseSum>): void
  list(): UseSum[]
}

/** Makes empty sums. */
export function useSums(): UseSums {
  const all = new Map<string, UseSum>()

  function addSum(sum: UseSum): void {
    const { hour, line, person, model, provider, counters } = sum
    const key = JSON.stringify([hour, line, person?.subject, model, provider])
    const known = all.get(key)
    if (known === undefined) all.set(key, { ...sum, counters: { ...counters } })
    else addCounters(known.counters, counters)
  }

  return {
    add(record, hours) {
      const { start: hour, day } = hours.at(endOf(record))
      for (const charge of chargesOf(record)) addSum({ ...charge, hour, day })
    },
    merge(sums) {
      for (const sum of sums) addSum(sum)
    },
    list: () => [...all.values()],
  }
}

/** Past hours never change: a request counts in the hour of its end, not of its arrival. */
function endOf({ time, totalMs }: RequestRecord): number {
  return Math.round(time + totalMs)
}
