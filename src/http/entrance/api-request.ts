import type { Ask } from '../../formats/ask.ts'
import { askedTokens } from '../../formats/demand.ts'
import type { Envelope, Format } from '../../formats/format.ts'
import { readRequestSettings, type RequestSettings } from '../../formats/request-settings.ts'
import { usualTokens, type PromptSize } from '../../formats/size.ts'
import type { Usage } from '../../formats/usage.ts'
import { overloaded } from '../../gateway/all-failed.ts'
import { Booking } from '../../gateway/booking.ts'
import type { GatewayCall } from '../../gateway/gateway-call.ts'
import type { Gateway, ServedReply } from '../../gateway/gateway.ts'
import type { LimitAdmission } from '../../limits/admission.ts'
import type { RequestTrace } from '../../observe/trace.ts'
import type { RunningRequest } from '../../observe/under-way.ts'
import { senderId, type Caller } from '../../people/person.ts'
import type { Cost } from '../../prices/cost.ts'
import { credibleUsage, estimatedUsage, isCounted } from '../../prices/estimated-usage.ts'
import { countOf } from '../../prices/units.ts'
import { DeadlineExceeded } from '../../service/deadline-exceeded.ts'
import { callController } from '../../service/service.ts'
import { ownTimers, type SharedTimer, type SharedTimers } from '../../service/shared-timers.ts'
import type { Trail } from '../../service/trail.ts'
import type { HandlerContext } from '../handler-context.ts'
import type { OpenRequest, Stoppable } from './admission.ts'
import type { BodyReservation } from './body-budget.ts'
import type { EntranceOptions } from './entrance-options.ts'
import { limitReached } from './limit-answers.ts'
import { recordOf, runningOf, type Outcome, type Progress, type ProviderTurn } from './progress.ts'
import { ClientLeft } from './read-body.ts'
import type { ReplyHeaders } from './reply-headers.ts'
import { sessionOf, sessionOfBody } from './session-of.ts'
import { beginTaking, type TakingContent } from './taking-content.ts'

/**
 * Milliseconds after which the server's idle limit is suspended. Most requests end before, and never touch it. Less
 * than that limit.
 */
const lastingMs = 20_000
const clientLeftStatus = 499

/** An API request, from its acceptance to the last byte of its answer. A class: one object instead of many closures. */
export class ApiRequest implements Progress, Envelope, Stoppable {
  readonly context: HandlerContext
  readonly format: Format
  readonly options: EntranceOptions
  readonly replyHeaders: ReplyHeaders
  readonly trail: Trail = []
  readonly time = Date.now()
  model = ''
  stream = false
  served: ServedReply | undefined
  turn: ProviderTurn | undefined
  firstTokenMs: number | undefined
  session: string | undefined
  readonly booking = new Booking()
  readonly trace: RequestTrace | undefined
  settings: RequestSettings | undefined
  admission: LimitAdmission | undefined
  /** Its content is kept. */
  content: TakingContent | undefined
  /** Aborts the work for this request. */
  readonly controller = callController()
  #reservation: BodyReservation | undefined
  #gateway: Gateway | undefined
  #open: OpenRequest | undefined
  #timer: SharedTimer | undefined
  #isKeptOpen = false
  #askedPrompt = 0
  /** Until it was measured, or is no longer needed: requests may be large, and streams long. */
  #ask: Ask | undefined
  #prompt: PromptSize | undefined

  constructor(context: HandlerContext, format: Format, options: EntranceOptions, replyHeaders: ReplyHeaders) {
    this.replyHeaders = replyHeaders
    this.context = context
    this.format = format
    this.options = options
    this.trace = options
      .tracer?.()
      ?.begin(this.headers, context.started, options.trustsAll === true || isKnown(context))
    this.session = sessionOf(context.request.headers)
  }

  /** The sender, with the session that its headers name. */
  get caller(): Caller {
    const { caller } = this.context
    return this.session === undefined ? caller : { ...caller, session: this.session }
  }

  /** Begins the work for an admitted request. @returns its reservation for the body */
  begin(timers: SharedTimers): BodyReservation {
    const { options } = this
    this.#open = options.openRequests.begin(this)
    const intake = options.content?.()
    if (intake !== undefined) this.content = beginTaking(this.context, intake)
    this.#reservation = options.bodyBudget.reservation()
    // Never removed: after the end of the request it has nothing to abort.
    this.left.addEventListener('abort', this.#leave)
    this.#startDeadline(timers)
    return this.#reservation
  }

  /** Aborts when the client has left. */
  get left(): AbortSignal {
    return this.context.left ?? this.context.request.signal
  }

  get path(): string {
    return this.context.path
  }

  get headers(): Headers {
    return this.context.request.headers
  }

  parameter(name: string): string | null {
    return new URL(this.context.request.url).searchParams.get(name)
  }

  get id(): string {
    return this.context.id
  }

  peerPort(): number | undefined {
    return this.context.peerPort()
  }

  describe(): RunningRequest {
    return runningOf(this)
  }

  stop(): void {
    this.controller.abort(overloaded('The service is shutting down'))
  }

  /**
   * Counts the tokens and the model of the request in the limits of its caller. A promise when another process decides.
   *
   * @throws {WireError} 429
   */
  count(ask: Ask): void | Promise<void> {
    const { admission } = this
    if (admission?.needsBody !== true) return undefined
    this.model = ask.model
    const { prompt, answer } = askedTokens(this.format.demand(ask), this.format.isText)
    this.#askedPrompt = prompt
    const models = this.options.gateway().namesOf(ask.model)
    const counting = admission.ask({ models, tokens: prompt + answer })
    return counting === undefined ? refuseAtLimit(admission) : counting.then(() => refuseAtLimit(admission))
  }

  /** Asks the active gateway. */
  ask(ask: Ask): Promise<ServedReply> {
    this.model = ask.model
    this.stream = ask.stream
    this.session ??= sessionOfBody(ask)
    this.#ask = ask
    if (this.trace?.facts.isSampled === true) this.settings = readRequestSettings(ask)
    const { signal } = this.controller
    if (this.left.aborted) this.#leave()
    if (signal.aborted) return Promise.reject(signal.reason)
    this.content?.asked(ask.body)
    this.#gateway = this.options.gateway()
    const { caller } = this.context
    const callerId = () => senderId(caller)
    const call: GatewayCall = {
      signal,
      trail: this.trail,
      access: caller.access,
      caller,
      callerId,
      session: this.session && `${callerId()} ${this.session}`,
      booking: this.booking,
      trace: this.trace,
      onTurn: (provider) => {
        this.turn = { provider, since: performance.now() }
      },
    }
    return this.#gateway.answer(ask, call, () => this.releaseBody())
  }

  /** The tokens of its prompt, estimated by their size. */
  promptTokens(): number {
    return this.#ask === undefined ? 0 : usualTokens(this.format.demand(this.#ask).prompt)
  }

  /** The body is no longer needed for the answer. Kept content holds it until the end. */
  releaseBody(): void {
    this.#measure()
    if (this.content === undefined) this.#reservation?.release()
  }

  /** Ends the deadline: the answer is complete, and its delivery has a limit of its own. */
  endDeadline(): void {
    this.#timer?.stop()
  }

  /** Suspends the idle limit of the connection. */
  keepOpen(): void {
    if (this.#isKeptOpen) return
    this.#isKeptOpen = true
    this.context.keepOpen()
  }

  /** Ends the request and records it. @returns the cost of its answer; `undefined`: not known */
  settle(outcome: Outcome): Cost | undefined {
    this.#timer?.stop()
    this.#open?.end()
    this.#reservation?.release()
    const usage = this.#usageOf(outcome)
    this.#ask = undefined
    // If the counts of a whole answer are not credible, the estimate at its admission stands where it is larger.
    const isPart = outcome.isCut !== true && usage !== outcome.usage
    this.admission?.end(this.#tokensUsed(outcome.status, isPart ? outcome.usage : usage), isPart)
    if (this.#isKeptOpen) this.context.resetIdleLimit()
    const record = recordOf(this, this.#gateway, outcome, usage)
    this.options.record(record, outcome.cause)
    this.booking.recorded()
    this.context.onEnd?.(record.error)
    const intake = this.content && this.options.content?.()
    if (intake !== undefined) this.content?.end(record, intake)
    return record.cost
  }

  /** The usage that the provider counted, from which sizes of tokens are learned; else an estimate by these sizes. */
  #usageOf({ usage, isCut = false, answerBytes }: Outcome): Usage | undefined {
    const { served } = this
    if (served === undefined || answerBytes === undefined) return usage
    const bytes = bytesOf(served, answerBytes)
    const answer = { usage, isCut, hasContent: bytes > 0, costOf: served.costOf }
    if (usage !== undefined && (usage.isEstimated === true || isCounted(answer))) {
      // After a failover the provider may have counted a part of the answer only.
      if (usage.isEstimated !== true && this.trail.length === 1)
        this.#learn(served, usage, this.stream ? answerBytes : 0)
      return usage
    }
    const { continued } = served
    const prompt = continued?.prompt ?? this.#measure()
    if (prompt === undefined) return credibleUsage(answer)
    const { prompts, answers } = this.options.tokenSizes.of(served)
    return estimatedUsage(answer, {
      prompt: usualTokens(prompt, prompts.usual()),
      answer: Math.ceil(bytes / answers.usual()),
    })
  }

  /** @param answerBytes of the text of the answer; 0: not known */
  #learn(served: ServedReply, usage: Usage, answerBytes: number): void {
    const { tokenSizes } = this.options
    const most = this.#ask?.body.length ?? this.#prompt?.bytes ?? 0
    if (!tokenSizes.isDue(served, { prompt: most, answer: answerBytes })) return
    const prompt = this.#measure()
    if (prompt !== undefined)
      tokenSizes.learn(served, usage, { prompt: prompt.media === 0 ? prompt.bytes : 0, answer: answerBytes })
  }

  /** The size of the prompt, if tokens alone are billed. It is measured once, and only if it is needed. */
  #measure(): PromptSize | undefined {
    if (this.#ask !== undefined) {
      const { prompt, hasOtherUnits } = this.format.demand(this.#ask)
      if (!hasOtherUnits) this.#prompt = prompt
    }
    this.#ask = undefined
    return this.#prompt
  }

  /** The tokens that the request took; `undefined`: not known, so that the estimate stands. */
  #tokensUsed(status: number, usage: Usage | undefined): number | undefined {
    if (usage !== undefined || this.served !== undefined) return usage && countedTokens(usage)
    // A provider may be working for a client that has left.
    return status === clientLeftStatus ? this.#askedPrompt : 0
  }

  readonly #leave = (): void => this.controller.abort(new ClientLeft('the client left'))

  #startDeadline(timers: SharedTimers): void {
    const ms = Math.min(this.options.deadlineMs(), requestedTimeoutMs(this.headers))
    if (ms <= lastingMs) return this.#expireAfter(ms)
    this.#timer = timers.start(lastingMs, () => {
      this.keepOpen()
      this.#expireAfter(ms)
    })
  }

  /** @param ms from the start of the request */
  #expireAfter(ms: number): void {
    const expire = () => this.controller.abort(new DeadlineExceeded('the whole request took too long'))
    this.#timer = ownTimers.start(Math.max(1, ms - (performance.now() - this.context.started)), expire)
  }
}

/** The larger one of a total and its parts, if they contradict each other; `undefined`: no credible count is known. */
function countedTokens({ promptTokens, completionTokens, totalTokens }: Usage): number | undefined {
  const prompt = countOf(promptTokens)
  const completion = countOf(completionTokens)
  const parts = prompt === undefined || completion === undefined ? undefined : prompt + completion
  const total = countOf(totalTokens)
  return total === undefined || parts === undefined ? (total ?? parts) : Math.max(total, parts)
}

function isKnown({ caller: { key, person } }: HandlerContext): boolean {
  return key !== undefined || person !== undefined
}

function refuseAtLimit({ refused }: LimitAdmission): void {
  if (refused !== undefined) throw limitReached(refused)
}

/** `x-svc-timeout-ms` can only lower the deadline; invalid values are ignored. */
function requestedTimeoutMs(headers: Headers): number {
  const given = headers.get('x-svc-timeout-ms')
  return given !== null && /^[1-9]\d{0,8}$/.test(given) ? Number(given) : Number.POSITIVE_INFINITY
}

/** Bytes of content that the last provider wrote. @param sentBytes of all that was sent to the client */
function bytesOf({ continued, unseenBytes }: ServedReply, sentBytes: number): number {
  return sentBytes - (continued?.bytesBefore ?? 0) + (unseenBytes?.() ?? 0)
}
