import { WireError } from '../../formats/error.ts'
import type { Format } from '../../formats/format.ts'
import type { RequestSettings } from '../../formats/request-settings.ts'
import { servedUsage, type Usage } from '../../formats/usage.ts'
import type { BookedAttempt, Booking } from '../../gateway/booking.ts'
import type { Gateway, ServedReply } from '../../gateway/gateway.ts'
import type { LimitAdmission } from '../../limits/admission.ts'
import { trailEntries, type RecordedAttempt, type RequestRecord } from '../../observe/record.ts'
import type { RequestTrace } from '../../observe/trace.ts'
import type { RunningRequest } from '../../observe/under-way.ts'
import type { Cost, CostOf } from '../../prices/cost.ts'
import { credibleUsage } from '../../prices/estimated-usage.ts'
import { DeadlineExceeded } from '../../service/deadline-exceeded.ts'
import type { Tokens } from '../../service/tokens.ts'
import { type Attempt, type Trail, wholeMicroseconds } from '../../service/trail.ts'
import type { HandlerContext } from '../handler-context.ts'
import { ClientLeft } from './read-body.ts'

const modelLengthMax = 128
const none: readonly never[] = []

/** How a request ended. */
export interface Outcome {
  readonly status: number
  readonly error?: string
  /** The last counts of the provider. */
  readonly usage?: Usage | undefined
  /** The answer ended before the provider had counted it. */
  readonly isCut?: boolean
  /** Of the text of the answer. Absent: its tokens are not estimated. */
  readonly answerBytes?: number
  /** The cause of an internal error, for the log. */
  readonly cause?: unknown
}

/** The turn of a provider. */
export interface ProviderTurn {
  readonly provider: string
  /** Of the monotonic clock, in milliseconds. */
  readonly since: number
}

/** State of a request that is being answered. */
export interface Progress {
  readonly context: HandlerContext
  readonly format: Format
  readonly trail: Trail
  readonly time: number
  /**
   * Empty until the body was read. Only this and the next fact are kept of the request, since its bytes may be released
   * before its answer ends.
   */
  model: string
  stream: boolean
  served: ServedReply | undefined
  /** The last one. Absent: no provider was asked. */
  turn: ProviderTurn | undefined
  firstTokenMs: number | undefined
  /** The session that it belongs to, as an agent named it. */
  readonly session: string | undefined
  /** The request's part of limits. Absent: no limit names its caller. */
  readonly admission?: LimitAdmission | undefined
  readonly booking: Booking
  /** Absent: it is not traced. */
  readonly trace?: RequestTrace | undefined
  /** Absent: its spans are not exported. */
  readonly settings?: RequestSettings | undefined
}

/** Maps any error to the client's error. Internal errors become a generic 500. */
export function describe(error: unknown, { model, trail }: Progress): WireError {
  if (error instanceof WireError) return error
  if (error instanceof ClientLeft)
    return new WireError(499, 'invalid_request_error', 'client_left', 'The client closed the connection')
  if (error instanceof DeadlineExceeded) {
    const tried = trail.map(({ name, reason }) => `${name}: ${reason ?? 'no answer'}`).join('; ')
    return new WireError(
      504,
      'api_error',
      'provider_error',
      `All providers failed for model '${model}': ${tried === '' ? 'request deadline exceeded' : tried}`,
      {
        headers: { 'x-should-retry': 'true' },
        cause: error,
      },
    )
  }
  return new WireError(500, 'api_error', 'internal_error', 'Internal error; see the service log for this request id', {
    cause: error,
  })
}

/** Returns the error for the record, with the cause of an internal error only. */
export function outcomeOfError(sent: WireError | undefined, cause: unknown): Pick<Outcome, 'error' | 'cause'> {
  if (sent === undefined) return {}
  return sent.status === 500 ? { error: sent.code, cause } : { error: sent.code }
}

/**
 * Returns the record of an ended request.
 *
 * @param gateway the one that was asked; absent when none was
 * @param usage counted or estimated
 */
export function recordOf(
  progress: Progress,
  gateway: Pick<Gateway, 'listedName' | 'costAt'> | undefined,
  { status, error }: Outcome,
  usage: Usage | undefined,
): RequestRecord {
  const { context, format, trail, time, model, stream, served, firstTokenMs, session, booking, trace, settings } =
    progress
  const { name: user, person, key } = context.caller
  const answered = attemptOfAnswer(progress)
  const cost = costOf(progress, servedUsage(usage, answered?.served))
  return {
    time,
    id: context.id,
    api: format.name,
    model: model.slice(0, modelLengthMax).toWellFormed(),
    listedAs: gateway?.listedName(model),
    stream,
    status,
    error,
    provider: served?.provider,
    upstream: served?.model,
    served: answered?.served,
    isOtherModel: answered?.isOtherModel,
    trail: gateway === undefined ? trail : withCosts(progress, (id) => gateway.costAt(model, id)),
    firstTokenMs,
    totalMs: wholeMicroseconds(performance.now() - context.started),
    user,
    person,
    line: key?.line,
    team: key?.team,
    session,
    usage,
    cost,
    ...limitsMet(progress),
    unrecorded: unrecorded(booking, cost && served?.provider),
    trace: trace?.facts,
    settings,
  }
}

/** The attempt that became the answer. */
export function attemptOfAnswer({ trail, served }: Pick<Progress, 'trail' | 'served'>): Attempt | undefined {
  return trail.findLast(({ name }) => name === served?.provider)
}

/** The cost of the answer. An estimate is the one that limits of money booked, if they count the answer. */
function costOf({ served, booking }: Progress, usage: Usage | undefined): Cost | undefined {
  const cost = served?.costOf?.(usage)
  if (served === undefined || cost === undefined || usage?.isEstimated !== true) return cost
  return { ...cost, nanoUsd: booking.answered(served.provider) ?? cost.nanoUsd }
}

/** The limits that the request met, each once. Most meet none. */
function limitsMet({ admission, booking: { met: passedOver } }: Progress): Pick<RequestRecord, 'limits' | 'waitedMs'> {
  const met = admission?.met() ?? none
  if (met.length + passedOver.length === 0) return {}
  const distinct = new Map([...met, ...passedOver].map((limit) => [JSON.stringify(limit), limit]))
  return { limits: [...distinct.values()], waitedMs: admission?.waited?.ms }
}

/**
 * Booked costs that no attempt of the trail has.
 *
 * @param answered the provider whose cost the record has
 */
function unrecorded({ attempts }: Booking, answered: string | undefined): RequestRecord['unrecorded'] {
  const others = attempts.filter(({ place, provider }) => place === undefined && provider !== answered)
  return others.length === 0 ? undefined : others.map(({ provider, nanoUsd }) => ({ provider, nanoUsd }))
}

/** The facts of a request under way. */
export function runningOf({
  context,
  format,
  trail,
  time,
  model,
  stream,
  served,
  turn,
  firstTokenMs,
}: Progress): RunningRequest {
  const { name: user, person, key } = context.caller
  const isAsking = turn !== undefined && turn.provider !== served?.provider
  return {
    time,
    id: context.id,
    api: format.name,
    model: model.slice(0, modelLengthMax).toWellFormed(),
    stream,
    user,
    person,
    line: key?.line,
    firstTokenMs,
    trail: trailEntries(trail),
    asking: isAsking ? { provider: turn.provider, ms: Math.round(performance.now() - turn.since) } : undefined,
  }
}

/** Adds the costs of attempts that did not become the answer: booked, or of the tokens that they reported. */
function withCosts(
  { trail, served, booking: { attempts } }: Progress,
  costAt: (provider: string) => CostOf | undefined,
): readonly RecordedAttempt[] {
  // Few trails have any.
  if (attempts.length === 0 && trail.every(({ tokens }) => tokens === undefined)) return trail
  return trail.map((attempt, index) => {
    const { tokens, name, failure } = attempt
    const isOther = tokens !== undefined && (name !== served?.provider || failure === 'other_model')
    return {
      ...attempt,
      ...(isOther ? { cost: costOfTokens(tokens, attempt.served, costAt(name)) } : {}),
      ...bookedOf(attempts, index),
    }
  })
}

function bookedOf(attempts: readonly BookedAttempt[], index: number): Pick<RecordedAttempt, 'bookedNanoUsd'> {
  const booked = attempts.findLast(({ place }) => place === index)
  return booked === undefined ? {} : { bookedNanoUsd: booked.nanoUsd }
}

function costOfTokens(tokens: Tokens, model: string | undefined, costOf: CostOf | undefined): Cost | undefined {
  const usage = servedUsage({ totalTokens: undefined, ...tokens }, model)
  return costOf?.(credibleUsage({ usage, isCut: false, hasContent: false, costOf }))
}
