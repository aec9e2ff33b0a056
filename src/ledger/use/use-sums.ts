import type { RequestRecord } from '../../observe/record.ts'
import { addBuckets, addTime } from '../../observe/time-histogram.ts'
import { addCounters } from './counters.ts'
import { shortened } from './shortened.ts'
import type { ChargedRequest, ReadUse, SummedUse } from './use-batch.ts'
import type { FailureSum, SumPlace, TimesSum, UseSum, UseTotals } from './use-totals.ts'
import type { ZoneHours } from './zone-hours.ts'

/** Sums that merge. Their number is bounded by hours, keys, people, models and providers, not by requests. */
export interface UseSums {
  /** Adds requests, each in the hour of its end, or sums. */
  add(batch: Pick<ReadUse, 'requests'> | Pick<SummedUse, 'sums'>, hours: ZoneHours): void
  totals(): UseTotals
}

/** Makes empty sums. */
export function useSums(): UseSums {
  const use = new Map<string, UseSum>()
  const times = new Map<string, { readonly first: number[]; readonly total: number[] } & TimesSum>()
  const failures = new Map<string, { requests: number; attempts: number } & FailureSum>()

  function addUse(sum: UseSum): void {
    const { hour, line, person, team, model, provider, session, counters } = sum
    const key = JSON.stringify([hour, line, person?.id, team, model, provider, session])
    const known = use.get(key)
    if (known === undefined) use.set(key, { ...sum, counters: { ...counters } })
    else addCounters(known.counters, counters)
  }

  function timesAt(place: SumPlace): { readonly first: number[]; readonly total: number[] } {
    const { hour, day, model, provider } = place
    const key = JSON.stringify([hour, model, provider])
    const sum = times.get(key) ?? { hour, day, model, provider, first: [], total: [] }
    times.set(key, sum)
    return sum
  }

  function addFailure({ hour, day, model, provider, failure, requests, attempts }: FailureSum): void {
    const key = JSON.stringify([hour, model, provider, failure])
    const sum = failures.get(key) ?? { hour, day, model, provider, failure, requests: 0, attempts: 0 }
    sum.requests += requests
    sum.attempts += attempts
    failures.set(key, sum)
  }

  /** A client that left is no failure, and an answer with an error tells nothing of speed. */
  function addOutcome({ status, error, provider, firstTokenMs, totalMs, trail }: RequestRecord, place: SumPlace): void {
    if (error === undefined && provider !== undefined && status !== 499) {
      const { first, total } = timesAt(place)
      addTime(total, totalMs)
      if (firstTokenMs !== undefined) addTime(first, firstTokenMs)
    }
    if (error !== undefined && status !== 499)
      addFailure({ ...place, failure: shortened(error), requests: 1, attempts: 0 })
    for (const { name, failure } of trail)
      if (failure !== undefined)
        addFailure({ ...place, provider: shortened(name), failure: shortened(failure), requests: 0, attempts: 1 })
  }

  function addRequest({ record, charges }: ChargedRequest, hours: ZoneHours): void {
    const { start: hour, day } = hours.at(endOf(record))
    for (const charge of charges) addUse({ ...charge, hour, day })
    const [{ model, provider }] = charges
    addOutcome(record, { hour, day, model, provider })
  }

  function merge(totals: UseTotals): void {
    for (const sum of totals.use) addUse(sum)
    for (const sum of totals.times) {
      const { first, total } = timesAt(sum)
      addBuckets(first, sum.first)
      addBuckets(total, sum.total)
    }
    for (const sum of totals.failures) addFailure(sum)
  }

  return {
    add(batch, hours) {
      if ('sums' in batch) merge(batch.sums)
      else for (const request of batch.requests) addRequest(request, hours)
    },
    totals: () => ({ use: [...use.values()], times: [...times.values()], failures: [...failures.values()] }),
  }
}

/** Past hours never change: a request counts in the hour of its end, not of its arrival. */
function endOf({ time, totalMs }: RequestRecord): number {
  return Math.round(time + totalMs)
}
