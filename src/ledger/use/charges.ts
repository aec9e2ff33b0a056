import type { RecordedAttempt, RequestRecord } from '../../observe/record.ts'
import type { HeldCost } from '../../observe/under-way.ts'
import type { Person } from '../../people/person.ts'
import type { Cost } from '../../prices/cost.ts'
import { freeApis } from '../../prices/free-apis.ts'
import { measureUnits, type Units } from '../../prices/units.ts'
import type { Counters } from './counters.ts'
import { shortened } from './shortened.ts'

/** The names that a sum of use is kept by. */
export interface UseKey {
  /** The line of the key; 0: no key. */
  readonly line: number
  /** Absent: no person signed in. */
  readonly person?: Person | undefined
  /** Name of the team that the key belongs to. Absent: none. */
  readonly team?: string | undefined
  /** Empty: no model of this service was asked for. */
  readonly model: string
  /** Empty: no provider answered. */
  readonly provider: string
  /** The session of an agent. Absent: none was named. */
  readonly session?: string | undefined
}

/** Use of one model at one provider by one request. */
export interface Charge extends UseKey {
  readonly counters: Counters
}

/** At least one: that of the answer, or of no answer. */
export type Charges = readonly [answer: Charge, ...others: Charge[]]

/**
 * The use by one request: of the provider that answered, and of each provider whose attempt cost or may have cost
 * something without becoming the answer.
 */
export function chargesOf(record: RequestRecord): Charges {
  const { provider = '', trail, line = 0, team, session } = record
  const by = {
    ...{ line, person: storedPerson(record.person), team: team && shortened(team), model: modelOf(record) },
    ...(session === undefined ? {} : { session }),
  }
  const charges: [Charge, ...Charge[]] = [{ ...by, provider: shortened(provider), counters: countersOfAnswer(record) }]
  for (const attempt of trail) {
    // The use of an answer that was cut is in the record itself, but for a cost that only limits of money know.
    const isInRecord =
      attempt.name === record.provider &&
      attempt.failure !== 'other_model' &&
      (record.cost !== undefined || attempt.bookedNanoUsd === undefined)
    const counters = isInRecord ? undefined : countersOfAttempt(attempt)
    if (counters !== undefined) charges.push({ ...by, provider: shortened(attempt.name), counters })
  }
  for (const { provider, nanoUsd } of record.unrecorded ?? [])
    charges.push({ ...by, provider: shortened(provider), counters: bookedCounters(nanoUsd) })
  return charges
}

/** The sum that holds count in when their process has died: see {@link unsettledCounters}. */
export function useKeyOf({ line, person, team, model, provider }: HeldCost): UseKey {
  return {
    line,
    person: storedPerson(person),
    team: team && shortened(team),
    model: shortened(model),
    provider: shortened(provider),
  }
}

/** Of holds whose process has died. */
export function unsettledCounters(attempts: number, nanoUsd: number): Counters {
  return { attempts, estimated: attempts, unsettled: attempts, cost: nanoUsd, cost_estimated: nanoUsd }
}

/** Of an attempt that limits of money booked at its estimate. */
function bookedCounters(nanoUsd: number): Counters {
  return { attempts: 1, estimated: 1, cost: nanoUsd, cost_estimated: nanoUsd }
}

function countersOfAnswer({ api, status, error, provider, usage, cost }: RequestRecord): Counters {
  const outcome: Counters = { requests: 1 }
  if (status === 499) outcome.left_early = 1
  else if (error !== undefined) outcome.errors = 1
  if (provider === undefined) return outcome
  const isEstimated = usage?.isEstimated === true
  const counters = { ...outcome, ...tokensOf(measureUnits(usage).units), ...costOf(cost, isEstimated) }
  if (cost === undefined && !freeApis.has(api)) counters.unpriced = 1
  if (isEstimated) counters.estimated = 1
  return counters
}

/** `undefined`: the attempt certainly cost nothing. */
function countersOfAttempt(attempt: RecordedAttempt): Counters | undefined {
  const { failure, status, ambiguous, tokens, cost, bookedNanoUsd } = attempt
  if (bookedNanoUsd !== undefined) return bookedCounters(bookedNanoUsd)
  if (failure === undefined && ambiguous !== true) return undefined
  if (tokens !== undefined) {
    const { units } = measureUnits({ totalTokens: undefined, ...tokens })
    const isEstimated = tokens.isEstimated === true
    const priced = cost === undefined ? { unpriced: 1 } : costOf(cost, isEstimated)
    return { attempts: 1, ...tokensOf(units), ...priced, ...(isEstimated ? { estimated: 1 } : {}) }
  }
  // After a status of 200 the work was done, at least in part.
  return ambiguous === true || status === 200 ? { attempts: 1, estimated: 1 } : undefined
}

function tokensOf(units: Units): Counters {
  const { input, audioIn, imageIn, cached, write5, write60, output, audioOut, imageOut, reasoning } = units
  return { input: input + audioIn + imageIn, cached, write5, write60, output: output + audioOut + imageOut, reasoning }
}

function costOf(cost: Cost | undefined, isEstimated: boolean): Counters {
  if (cost === undefined) return {}
  const { nanoUsd, source, savedNanoUsd: saved } = cost
  if (isEstimated) return { cost: nanoUsd, cost_estimated: nanoUsd }
  if (source === 'reported') return { cost: nanoUsd, cost_reported: nanoUsd }
  return saved === undefined ? { cost: nanoUsd } : { cost: nanoUsd, saved }
}

/** A person as the database has them. */
export function storedPerson(person: Person | undefined): Person | undefined {
  if (person === undefined) return undefined
  const { id, name, accountId = id } = person
  const kept = { id: shortened(id), name: shortened(name) }
  return accountId === id ? kept : { ...kept, accountId: shortened(accountId) }
}

/** Only listed names, and names to which a provider answered, are kept: callers can send any name. */
function modelOf({ listedAs, upstream }: RequestRecord): string {
  return shortened(listedAs ?? upstream ?? '')
}
