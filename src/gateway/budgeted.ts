import type { Ask } from '../formats/ask.ts'
import { formats } from '../formats/format-list.ts'
import { throughParts, type Reply } from '../formats/reply.ts'
import { wholeAnswerBytes } from '../formats/size.ts'
import type { Usage } from '../formats/usage.ts'
import type { AnswerEnd, AttemptHold } from '../limits/budgets/attempt-hold.ts'
import { BudgetRefusal, type BudgetedAttempt, type Budgets } from '../limits/budgets/budgets.ts'
import type { Caller } from '../people/person.ts'
import type { CostOf } from '../prices/cost.ts'
import { mayHaveWorked, UpstreamFailure } from '../service/failure.ts'
import type { Unavailability } from '../service/health/health-state.ts'
import type { Call } from '../service/service.ts'
import type { Attempt, Trail } from '../service/trail.ts'
import type { Booking } from './booking.ts'
import { endedAtHold } from './end-at-hold.ts'
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
  readonly promptCache: ModelCandidate['promptCache']
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
    this.promptCache = candidate.promptCache
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
    if (hold.limit !== undefined) booking?.met.push(hold.limit)
    throw passedOver(name, hold, call)
  }
  const sent = begin(hold, ask, call)
  if (booking === undefined) hold.recorded()
  else booking.addHold(hold)
  const attempt = new HeldAttempt(name, hold, call.trail, booking)
  let reply: Reply
  try {
    reply = await candidate.answer(sent, call)
  } catch (error) {
    attempt.fail(error)
    throw error
  }
  attempt.settleAtEnd(reply, ask.format)
  if (sent !== ask) attempt.markLast({ answerTokensMax: hold.answerTokensMax })
  if (reply.kind === 'whole') return reply
  // Only for a hard limit the request stays in memory.
  const ended = hold.isHard ? endedAtHold(reply, hold, sent, () => attempt.markLast(endedAtLimit)) : undefined
  return ended ?? throughParts(reply, (parts) => hold.count(parts))
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

function limitedTo(ask: Ask, tokens: number | undefined): Ask {
  return (tokens === undefined ? undefined : formats[ask.format].limitAnswer?.(ask, tokens)) ?? ask
}

/** An attempt whose cost is held. It does not keep the request in memory until its stream ends. */
class HeldAttempt {
  readonly #provider: string
  readonly #hold: AttemptHold
  readonly #trail: Trail
  /** Number of the attempts before. */
  readonly #from: number
  readonly #booking: Booking | undefined

  constructor(provider: string, hold: AttemptHold, trail: Trail, booking: Booking | undefined) {
    this.#provider = provider
    this.#hold = hold
    this.#trail = trail
    this.#from = trail.length
    this.#booking = booking
  }

  /** There was no answer. Without a failure of the provider the caller has left, and the provider may go on. */
  fail(error: unknown): void {
    const { tokens } = error instanceof UpstreamFailure ? error : {}
    // The record computes the same cost of these counts.
    if (tokens !== undefined) return void this.#hold.end({ totalTokens: undefined, ...tokens }, true, this.#ending(1))
    const { nanoUsd } = this.#hold.fail(!(error instanceof UpstreamFailure) || mayHaveWorked(error))
    if (nanoUsd > 0) this.#book(nanoUsd, this.#failedPlace())
  }

  settleAtEnd(reply: Reply, format: Ask['format']): void {
    const { isEmpty } = reply
    if (reply.kind === 'whole')
      return this.#settle(undefined, reply.usage, isEmpty, this.#ending(wholeAnswerBytes(formats[format], reply)))
    const ending = this.#ending()
    reply.onEnd((failure, usage) => this.#settle(failure, usage, isEmpty, ending))
  }

  /** The end of the answer of the last attempt. */
  #ending(wholeBytes?: number): AnswerEnd {
    const place = this.#lastPlace()
    return { wholeBytes, model: place === undefined ? undefined : this.#trail[place]?.served }
  }

  #settle(failure: unknown, usage: Usage | undefined, isEmpty: boolean, ending: AnswerEnd): void {
    const { nanoUsd, isEstimated } = this.#hold.end(usage, failure === undefined, ending)
    if (failure !== undefined) {
      const place = this.#failedPlace()
      if (place !== undefined || nanoUsd > 0) this.#book(nanoUsd, place)
    } else if (isEstimated) this.#book(nanoUsd, undefined)
    // Another provider may answer.
    else if (isEmpty && nanoUsd > 0) this.#book(nanoUsd, this.#lastPlace())
  }

  #book(nanoUsd: number, place: number | undefined): void {
    this.#booking?.attempts.push({ provider: this.#provider, nanoUsd, place })
  }

  /** Notes facts about the last attempt at this provider in the trail. */
  markLast(facts: Partial<Attempt>): void {
    const place = this.#lastPlace()
    const last = place === undefined ? undefined : this.#trail[place]
    if (place !== undefined && last !== undefined) this.#trail[place] = { ...last, ...facts }
  }

  #lastPlace(): number | undefined {
    const last = this.#trail.length - 1
    return last < this.#from ? undefined : last
  }

  /** The position of the last attempt at this provider, if it failed or was given up. */
  #failedPlace(): number | undefined {
    const name = this.#trail[this.#from]?.name
    const place = this.#trail.findLastIndex((each, index) => index >= this.#from && each.name === name)
    const last = this.#trail[place]
    return last !== undefined && (last.failure !== undefined || last.ambiguous === true) ? place : undefined
  }
}

function passedOver(name: string, refusal: BudgetRefusal, { trail }: Call): UpstreamFailure {
  const failure = new UpstreamFailure(refusal.kind === 'exhausted' ? 'budget' : 'no_price', refusal.message, {
    cause: refusal,
  })
  trail.push({ name, failure: failure.failure, reason: failure.summary, ms: 0 })
  return failure
}
