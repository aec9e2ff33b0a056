import type { StoredAttempt, StoredRequest } from '../../ledger/use/request-question.ts'
import type { MinuteSums } from '../../observe/minute-sums.ts'
import type { RecentRequest, Remembered } from '../../observe/recent-requests.ts'
import { shownAmount, type RunningRequest } from '../../observe/record.ts'
import type { Cost } from '../../prices/cost.ts'
import { usdOf } from '../../prices/money.ts'
import type { AttemptEntry, MinuteEntry, RequestEntry, RequestsAnswer, RunningEntry, TokenKinds } from './page-api.ts'

/** The answer of `GET /api/requests`. */
export function requestsAnswer({ requests, minutes }: Remembered): RequestsAnswer {
  return { requests: requests.map(rememberedEntry), minutes: minutes.map(minuteEntry) }
}

/** A request under way. */
export function runningEntry({
  time,
  id,
  user,
  api,
  model,
  stream,
  firstTokenMs,
  providers,
}: RunningRequest): RunningEntry {
  return { time, id, user, api, model, stream, firstTokenMs, providers }
}

/** A request that is remembered. */
export function rememberedEntry({
  trail,
  firstTokenMs,
  totalMs,
  usage,
  cost,
  person,
  limits,
  waitedMs,
  ...facts
}: RecentRequest): RequestEntry {
  return {
    ...facts,
    ...limitFacts({ limits, waitedMs }),
    ...(person === undefined ? {} : { person: person.name }),
    trail: trail.map(trailEntry),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs: tenths(firstTokenMs) }),
    totalMs: tenths(totalMs),
    ...(usage?.promptTokens === undefined ? {} : { promptTokens: usage.promptTokens }),
    ...(usage?.completionTokens === undefined ? {} : { completionTokens: usage.completionTokens }),
    ...(cost === undefined ? {} : costFacts(cost)),
    ...(usage?.isEstimated === true ? { isEstimated: true } : {}),
  }
}

/** Limits that a request met, with amounts of money in USD. */
function limitFacts({
  limits = [],
  waitedMs,
}: Partial<Pick<RecentRequest, 'limits' | 'waitedMs'>>): Pick<RequestEntry, 'limits' | 'waitedMs'> {
  const shown = limits.map((met) => {
    const limit = shownAmount(met)
    return { ...met, ...(limit === undefined ? {} : { limit }) }
  })
  return {
    ...(shown.length === 0 ? {} : { limits: shown }),
    ...(waitedMs === undefined ? {} : { waitedMs: Math.round(waitedMs) }),
  }
}

function costFacts({ nanoUsd, source, hasConflict }: Cost): Pick<RequestEntry, 'cost' | 'costSource' | 'hasConflict'> {
  return { cost: usdOf(nanoUsd), costSource: source, ...(hasConflict === undefined ? {} : { hasConflict }) }
}

function trailEntry({
  name,
  status,
  failure,
  ms,
  tokens,
  cost,
  bookedNanoUsd,
  ambiguous,
}: RecentRequest['trail'][number]): AttemptEntry {
  return {
    provider: name,
    ...(status === undefined ? {} : { status }),
    ...(failure === undefined ? {} : { failure }),
    ms: tenths(ms),
    ...(tokens?.promptTokens === undefined ? {} : { promptTokens: tokens.promptTokens }),
    ...(tokens?.completionTokens === undefined ? {} : { completionTokens: tokens.completionTokens }),
    ...(cost === undefined ? {} : { cost: usdOf(cost.nanoUsd) }),
    ...(bookedNanoUsd === undefined ? {} : { bookedCost: usdOf(bookedNanoUsd) }),
    ...(ambiguous === true ? { mayBeBilled: true } : {}),
  }
}

function minuteEntry({ firstTokenP50, firstTokenP95, isEstimated, ...sums }: MinuteSums): MinuteEntry {
  return {
    ...sums,
    ...(isEstimated ? { isEstimated } : {}),
    ...(firstTokenP50 === undefined ? {} : { firstTokenP50: tenths(firstTokenP50) }),
    ...(firstTokenP95 === undefined ? {} : { firstTokenP95: tenths(firstTokenP95) }),
  }
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10
}

/** A request of the ledger. */
export function storedEntry(request: StoredRequest): RequestEntry {
  const { time, id, api, key, person, model, provider, status, error, ms, firstMs, cost, costSource } = request
  const user = key === '' ? person : `key:${key}`
  const kinds = kindsOf(request)
  // A provider that reported nothing, where nothing could be estimated.
  const isCounted = Object.values(kinds).some((count) => count > 0) || request.isEstimated || cost !== undefined
  return {
    time,
    id,
    api,
    model,
    stream: request.isStream,
    status,
    ...(user === '' ? {} : { user }),
    ...(key === '' || person === '' ? {} : { person }),
    ...(error === '' ? {} : { error }),
    ...(provider === '' ? {} : { provider }),
    ...limitFacts(request),
    trail: trailOf(request),
    ...(firstMs === undefined ? {} : { firstTokenMs: firstMs }),
    totalMs: ms,
    ...(isCounted
      ? {
          promptTokens: kinds.input + kinds.cached + kinds.cacheWrite,
          completionTokens: kinds.output + kinds.reasoning,
          tokens: kinds,
        }
      : {}),
    ...(cost === undefined ? {} : { cost: usdOf(cost) }),
    ...(costSource === undefined ? {} : { costSource }),
    ...(request.hasConflict ? { hasConflict: true } : {}),
    ...(request.isEstimated ? { isEstimated: true } : {}),
    isStored: true,
  }
}

function kindsOf({ tokens: { input, cached, write5, write60, output, reasoning } }: StoredRequest): TokenKinds {
  return { input, cached, cacheWrite: write5 + write60, output, reasoning }
}

/** A first attempt that was answered is not stored beside its request. */
function trailOf({ trail, attempts, provider, status, ms }: StoredRequest): readonly AttemptEntry[] {
  if (trail.length > 0) return trail.map(attemptEntry)
  return attempts === 0 || provider === '' ? [] : [{ provider, ...(status < 400 ? { status } : {}), ms }]
}

function attemptEntry(attempt: StoredAttempt): AttemptEntry {
  const { provider, status, failure, ms, input, output, cost, isBooked, mayBeBilled } = attempt
  return {
    provider,
    ...(status === 0 ? {} : { status }),
    ...(failure === '' ? {} : { failure }),
    ms,
    ...(input + output === 0 ? {} : { promptTokens: input, completionTokens: output }),
    ...(cost === undefined ? {} : { [isBooked ? 'bookedCost' : 'cost']: usdOf(cost) }),
    ...(mayBeBilled ? { mayBeBilled } : {}),
  }
}
