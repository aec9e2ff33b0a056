import type { Ask } from '../formats/ask.ts'
import { formats } from '../formats/format-list.ts'
import { throughParts, type Reply, type StreamReply } from '../formats/reply.ts'
import { wholeAnswerBytes } from '../formats/size.ts'
import type { Usage } from '../formats/usage.ts'
import type { AttemptHold } from '../limits/budgets/attempt-hold.ts'
import { BudgetRefusal, type BudgetedAttempt, type Budgets } from '../limits/budgets/budgets.ts'
import type { Caller } from '../people/person.ts'
import type { CostOf } from '../prices/cost.ts'
import { mayHaveWorked, UpstreamFailure } from '../service/failure.ts'
import type { Unavailability } from '../service/health/health-state.ts'
import type { Call } from '../service/service.ts'
import type { Attempt, Trail } from '../service/trail.ts'
import { endedAtHold } from './end-at-hold.ts'
import type { Booking } from './gateway-call.ts'
import type { ModelCandidate } from './provider.ts'

export interface BudgetedOptions {
  readonly budgets: Budgets
  readonly caller: Caller
  readonly listedNames: readonly string[]
  readonly listedAs: string | undefined
  readonly booking: Booking | undefined
}

/**
 * The candidates, each of which holds its estimated cost in all budgets that count it before it is asked, and books its
 * real cost at its end, on every path. A candidate without room is passed over: it fails with the class `budget`, which
 * is in the trail, and not in its health (docs/decisions/0020-budgets.md). One without a price fails with `no_price`
 * the first time, and is asked the second time, without a hold ({@link isUnpriced}).
 */
export function budgeted(candidates: readonly ModelCandidate[], options: BudgetedOptions): readonly ModelCandidate[] {
  return candidates.map((candidate) => new BudgetedCandidate(candidate, options))
}

/**
 * A class: a copy of all members costs several times as much, and each request has one. `Required`: a member that is
 * not copied does not compile, also an optional one.
 */
class BudgetedCandidate implements Required<ModelCandidate> {
  readonly name: string
  readonly model: string
  readonly costOf: CostOf | undefined
  readonly maxOutput: ModelCandidate['maxOutput']
  readonly context: ModelCandidate['context']
  readonly speaks: ModelCandidate['speaks']
  readonly continues: boolean
  readonly #candidate: ModelCandidate
  readonly #options: BudgetedOptions
  #isDeferred = false

  constructor(candidate: ModelCandidate, options: BudgetedOptions) {
    this.name = candidate.name
    this.model = candidate.model
    this.costOf = candidate.costOf
    this.maxOutput = candidate.maxOutput
    this.context = candidate.context
    this.speaks = candidate.speaks
    this.continues = candidate.continues
    this.#candidate = candidate
    this.#options = options
  }

  unavailable(): Unavailability | undefined {
    return this.#candidate.unavailable()
  }

  async answer(ask: Ask, call: Call): Promise<Reply> {
    if (this.#isDeferred) return this.#candidate.answer(ask, call)
    try {
      return await answerWithin(this.#candidate, this.#options, ask, call)
    } catch (error) {
      this.#isDeferred = error instanceof UpstreamFailure && isUnpriced(error)
      throw error
    }
  }
}

/** Whether limits of money passed a candidate over only for a price that is not known: it may be asked last. */
export function isUnpriced({ cause }: UpstreamFailure): boolean {
  return cause instanceof BudgetRefusal && cause.kind === 'unpriced'
}

async function answerWithin(candidate: ModelCandidate, options: BudgetedOptions, ask: Ask, call: Call): Promise<Reply> {
  const { name } = candidate
  const { booking } = options
  const answer = options.budgets.hold(attemptOf(candidate, options, ask))
  const hold = answer instanceof Promise ? await answer : answer
  if (hold === undefined) return candidate.answer(ask, call)
  if (hold instanceof BudgetRefusal) {
    if (hold.limit !== undefined) booking?.addMet(hold.limit)
    throw passedOver(name, hold, call)
  }
  const sent = begin(hold, ask, call)
  if (booking === undefined) hold.recorded()
  else booking.addHold(hold)
  const { trail } = call
  const from = trail.length
  let reply: Reply
  try {
    reply = await candidate.answer(sent, call)
  } catch (error) {
    // Without a failure of the provider the caller has left, and the provider may go on.
    const { nanoUsd } = hold.fail(!(error instanceof UpstreamFailure) || mayHaveWorked(error))
    if (nanoUsd > 0 && !noteCost(trail, from, nanoUsd)) noteUnrecorded(booking, name, nanoUsd)
    throw error
  }
  const wholeBytes = reply.kind === 'stream' ? undefined : wholeAnswerBytes(formats[ask.format], reply)
  settleAtEnd(reply, hold, { name, trail, from, booking, isEmpty: reply.isEmpty, wholeBytes })
  if (sent !== ask) markLast(trail, from, { answerTokensMax: hold.answerTokensMax })
  return reply.kind === 'stream' ? streamWithin(reply, hold, { ask: sent, trail, from }) : reply
}

function attemptOf(candidate: ModelCandidate, options: BudgetedOptions, ask: Ask): BudgetedAttempt {
  return {
    ask,
    caller: options.caller,
    provider: candidate.name,
    model: candidate.model,
    listedNames: options.listedNames,
    listedAs: options.listedAs,
    costOf: candidate.costOf,
    maxOutput: candidate.maxOutput?.(),
    context: candidate.context?.(),
  }
}

/**
 * The request as it is sent, within what its hold pays for. If it is not sent, its hold costs nothing.
 *
 * @throws the call's abort reason when the caller has left while another process was asked for the hold
 */
function begin(hold: AttemptHold, ask: Ask, { signal }: Call): Ask {
  try {
    if (signal.aborted) throw signal.reason
    return limitedTo(ask, hold.answerTokensMax)
  } catch (error) {
    hold.fail(false)
    throw error
  }
}

const endedAtLimit = { isEndedAtLimit: true } as const

/** The stream, which is counted, and ended at a hard limit. Only then the request stays in memory. */
function streamWithin(reply: StreamReply, hold: AttemptHold, attempt: HeldAttempt): StreamReply {
  return (
    (hold.isHard ? endedStream(reply, hold, attempt) : undefined) ?? throughParts(reply, (parts) => hold.count(parts))
  )
}

interface HeldAttempt extends Pick<AttemptNotes, 'trail' | 'from'> {
  readonly ask: Ask
}

function endedStream(
  reply: StreamReply,
  hold: AttemptHold,
  { ask, trail, from }: HeldAttempt,
): StreamReply | undefined {
  return endedAtHold(reply, hold, ask, () => markLast(trail, from, endedAtLimit))
}

function limitedTo(ask: Ask, tokens: number | undefined): Ask {
  return (tokens === undefined ? undefined : formats[ask.format].limitAnswer?.(ask, tokens)) ?? ask
}

/** Notes facts about the last attempt at a provider in the trail. @param from the number of attempts before */
function markLast(trail: Trail, from: number, facts: Partial<Attempt>): void {
  const last = trail.length > from ? trail.at(-1) : undefined
  if (last !== undefined) trail[trail.length - 1] = { ...last, ...facts }
}

interface AttemptNotes {
  /** Id of the provider. */
  readonly name: string
  readonly trail: Trail
  /** Number of the attempts before. */
  readonly from: number
  readonly booking: Booking | undefined
  /** The answer is known to be empty. */
  readonly isEmpty: boolean
  /** Of the text of a whole answer. */
  readonly wholeBytes: number | undefined
}

/** Outside of `answerWithin`, since a closure inside it would keep the request in memory until the stream ends. */
function settleAtEnd(reply: Reply, hold: AttemptHold, notes: AttemptNotes): void {
  if (reply.kind === 'whole') settle(hold, notes, undefined, reply.usage)
  else reply.onEnd((failure, usage) => settle(hold, notes, failure, usage))
}

function settle(
  hold: AttemptHold,
  { name, trail, from, booking, isEmpty, wholeBytes }: AttemptNotes,
  failure: unknown,
  usage: Usage | undefined,
): void {
  const { nanoUsd, isEstimated } = hold.end(usage, failure === undefined, wholeBytes)
  if (failure !== undefined && noteCost(trail, from, nanoUsd)) return
  // The record of the request may have no cost of it: its provider counted nothing, or its client left.
  if (isEstimated || (failure !== undefined && nanoUsd > 0)) noteUnrecorded(booking, name, nanoUsd)
  // Another provider may answer.
  else if (isEmpty && nanoUsd > 0) markLast(trail, from, { bookedNanoUsd: nanoUsd })
}

function noteUnrecorded(booking: Booking | undefined, provider: string, nanoUsd: number): void {
  if (booking !== undefined) booking.unrecorded = [...(booking.unrecorded ?? []), { provider, nanoUsd }]
}

/**
 * Notes the cost of an attempt that failed, or was given up, in the trail, for the sums of use.
 *
 * @param from the number of attempts before those at this provider: the last of those is meant
 * @returns whether the trail has the attempt
 */
function noteCost(trail: Trail, from: number, nanoUsd: number): boolean {
  const name = trail[from]?.name
  const position = trail.findLastIndex((each, index) => index >= from && each.name === name)
  const last = trail[position]
  if (last === undefined || (last.failure === undefined && last.ambiguous !== true)) return false
  trail[position] = { ...last, bookedNanoUsd: nanoUsd }
  return true
}

function passedOver(name: string, refusal: BudgetRefusal, { trail }: Call): UpstreamFailure {
  const failure = new UpstreamFailure(refusal.kind === 'exhausted' ? 'budget' : 'no_price', refusal.message, {
    cause: refusal,
  })
  trail.push({ name, failure: failure.failure, reason: failure.summary, ms: 0 })
  return failure
}
