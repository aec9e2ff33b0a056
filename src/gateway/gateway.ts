import type { Access } from '../formats/access.ts'
import type { Ask } from '../formats/ask.ts'
import { parseJsonBytes } from '../formats/exact-json.ts'
import { formats } from '../formats/format-list.ts'
import type { ListedModel } from '../formats/model.ts'
import type { PartStream, Reply, WholeReply } from '../formats/reply.ts'
import type { Budgets } from '../limits/budgets/budgets.ts'
import { anonymous } from '../people/person.ts'
import type { CostOf } from '../prices/cost.ts'
import { Changes } from '../service/changes.ts'
import { AllFailed, failover, type CandidateReply, type CandidateWalk } from '../service/failover.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call, CallSignal } from '../service/service.ts'
import { Affinity } from './affinity.ts'
import {
  allFailed,
  CannotCount,
  lackEndpoint,
  modelNotAllowed,
  modelNotFound,
  notServed,
  overloaded,
  policyViolation,
} from './all-failed.ts'
import { budgeted, isUnpriced } from './budgeted.ts'
import { directory, type ModelCandidates } from './directory.ts'
import type { GatewayCall } from './gateway-call.ts'
import type { ModelCandidate, Provider } from './provider.ts'
import { resumable, type ContinuedAnswer, type ResumeOptions } from './resume.ts'

/*
 * The providers of a request, and what joins them. `directory.ts` finds the candidates for a model in the order of the
 * file: exactly, ignoring case, as `provider-id/model`, then those whose lists are unknown. With limits of money,
 * `budgeted.ts` wraps each candidate: it holds the cost before an attempt and settles it at its end, and `booking.ts`
 * is the one home of these costs until the record has them. `service/failover.ts` asks the candidates.
 *
 * Around a provider stand `commit.ts`, which turns a stream without content into a failure while another provider may
 * answer, and conversions between whole answers and streams. Behind the commit `resume.ts` continues a cut stream at
 * the candidates that are left. If all failed, `all-failed.ts` writes the error with every reason.
 */

/** How long a request for an unknown model waits for the first fetch of model lists. */
const firstListsMs = 5_000

export interface GatewayOptions {
  /** In try-order; enabled and usable ones only. */
  readonly providers: readonly Provider[]
  /** Name clients use → model name. */
  readonly aliases: Readonly<Record<string, string>>
  readonly onContentPolicy: 'stop' | 'next'
  readonly onCut: 'resume' | 'error'
  /** Calls of a stream wait until they are complete while another provider could take over, or pass at once. */
  readonly hold: 'calls' | 'none'
  /** Requests that may have been billed are repeated at the next provider. */
  readonly retryBilled: boolean
  /** Limits of money. Absent or `undefined`: none. */
  readonly budgets?: (() => Budgets | undefined) | undefined
}

/** An answer, and the provider that serves it. */
export interface ServedReply {
  readonly reply: WholeReply | PartStream
  /** Changes when another provider resumes a stream. */
  readonly provider: string
  /** The upstream's name for the model; changes with the provider. */
  readonly model: string
  /** Cost of the answer at the provider; changes with the provider. Absent: not known. */
  readonly costOf?: CostOf | undefined
  /** The provider has answered with the rest of another one's answer only. Absent: with the whole answer. */
  readonly continued?: ContinuedAnswer | undefined
  /** Bytes of content of the provider that wait, or were dropped at a cut. Absent: none. */
  readonly unseenBytes?: (() => number) | undefined
  /** The fields of the request that this provider was not sent. */
  readonly dropped?: readonly string[] | undefined
  /** The fields of the request that this provider was sent in another form. */
  readonly adjusted?: readonly string[] | undefined
}

/** All providers as one service. */
export interface Gateway {
  /**
   * Finds the providers that offer the model and fails over between them (docs/api.md).
   *
   * @param releaseRequest called when a stream can no longer be resumed, so that the bytes of its request can be freed
   * @throws {WireError} model_not_found, model_not_allowed, provider_error, content_policy_violation, overloaded; the
   *   call's abort reason when the caller has left
   * @throws {CannotCount} the request is to count tokens
   */
  answer(request: Ask, call: GatewayCall, releaseRequest?: () => void): Promise<ServedReply>
  models(): readonly ListedModel[]
  model(name: string): ListedModel | undefined
  /** `listedAs` of {@link ModelCandidates}. */
  listedName(name: string): string | undefined
  /** All names of the model that is asked for by this one: those of aliases, of lists and of providers. */
  namesOf(name: string): readonly string[]
  /** Cost of an answer of a provider to a request for this model. @param provider id */
  costAt(name: string, provider: string): CostOf | undefined
  readonly providers: readonly Provider[]
}

/** Creates a gateway to these providers. A new configuration needs a new gateway. */
export function gateway(options: GatewayOptions): Gateway {
  const { providers, aliases, onContentPolicy, onCut, hold, retryBilled, budgets } = options
  const models = directory(providers, aliases)
  const ask = onContentPolicy === 'next' ? askPastPolicy : askCandidate
  const affinity = new Affinity()
  const failoverOptions = { isEmpty, release, isDeferred }
  const cautious = { ...failoverOptions, stopsInDoubt: true }

  function areListsPending(): boolean {
    return providers.some(({ models: { pending } }) => pending !== undefined)
  }

  /** Finds the candidates, after the initial model lists that could change the result have loaded. */
  async function find(name: string, { signal }: Call): Promise<ModelCandidates> {
    const known = models.find(name)
    const pending = decisiveProviders(known).flatMap(({ models: { pending } }) => pending ?? [])
    if (pending.length === 0) return known
    await settledOrLate(pending, signal)
    if (signal.aborted) throw signal.reason
    return models.find(name)
  }

  /**
   * The providers whose model lists could change the first candidate: all of them for a model that no list has, else
   * those before the first candidate.
   */
  function decisiveProviders({ candidates, isListed, isPinned }: ModelCandidates): readonly Provider[] {
    if (!isListed) return providers
    return isPinned
      ? []
      : providers.slice(
          0,
          providers.findIndex(({ id }) => id === candidates[0]?.name),
        )
  }

  function withinBudgets(
    candidates: readonly ModelCandidate[],
    { caller = anonymous, booking }: GatewayCall,
    { listedNames, listedAs }: ModelCandidates,
  ): readonly ModelCandidate[] {
    const active = budgets?.()
    return active === undefined
      ? candidates
      : budgeted(candidates, { budgets: active, caller, listedNames, listedAs, booking })
  }

  async function answer(request: Ask, call: GatewayCall, releaseRequest?: () => void): Promise<ServedReply> {
    const found = areListsPending() ? await find(request.model, call) : models.find(request.model)
    const { needsSameModel, stopsInDoubt = false } = formats[request.format]
    const offered = needsSameModel ? found.sameModel : found.candidates
    const offering = call.access === undefined ? offered : permitted(call.access, offered, request, found)
    const spoken = speaking(offering, request)
    if (spoken.length === 0) throw unserved(request, offering.length > 0)
    const session = cachedSession(call, request, spoken)
    const candidates = withinBudgets(affinity.order(session, spoken), call, found)
    const walk: CandidateWalk<ModelCandidate, Reply> = failover(
      candidates,
      stopsInDoubt && !retryBilled ? cautious : failoverOptions,
    )
    try {
      const changes = new Changes()
      const noting = { ...call, changes, isLast: false }
      const first = await walk.next((each, isLast) => {
        changes.clear()
        call.onTurn?.(each.name)
        noting.isLast = isLast
        return ask(each, request, noting)
      }, noting)
      const served = servedBy(first, changes)
      affinity.note(session, first.candidate, spoken[0]?.name === served.provider, request.body.length)
      if (first.reply.kind === 'whole') return served
      const isResumable = onCut === 'resume' && !noting.isLast
      const holdsCalls = isResumable && hold === 'calls' && hasTools(request)
      return resumed(served, { first: first.reply, request, call, walk, isResumable, holdsCalls, releaseRequest })
    } catch (error) {
      throw wireErrorOf(error, request)
    }
  }

  return {
    answer,
    models: () => models.list(),
    model: (name) => models.get(name),
    listedName: (name) => models.find(name).listedAs,
    namesOf: (name) => models.find(name).names,
    costAt: (name, provider) => models.find(name).candidates.find((each) => each.name === provider)?.costOf,
    providers,
  }
}

/** The session whose prompt may be in a cache. Undefined: none was named, or there is no choice. */
function cachedSession({ session }: GatewayCall, { model }: Ask, { length }: readonly unknown[]): string | undefined {
  return session === undefined || length < 2 ? undefined : `${session} ${model}`
}

/**
 * The candidates that the caller may use. The model must be allowed by the name that was asked for; a provider in front
 * of it does not count.
 *
 * @throws {WireError} 403 when the caller may not use the model, or none of its providers
 */
function permitted(
  access: Access,
  candidates: readonly ModelCandidate[],
  request: Ask,
  { isPinned }: ModelCandidates,
): readonly ModelCandidate[] {
  const { model: asked } = request
  const [first] = candidates
  const isNamedAt = isPinned && first !== undefined && asked.startsWith(`${first.name}/`)
  const isAllowed = access.mayUseModel(asked) || (isNamedAt && access.mayUseModel(asked.slice(asked.indexOf('/') + 1)))
  const mayUse = ({ name }: ModelCandidate): boolean => access.mayUseProvider(name)
  const allowed = !isAllowed ? [] : candidates.every(mayUse) ? candidates : candidates.filter(mayUse)
  if (!isAllowed || (allowed.length === 0 && candidates.length > 0)) throw modelNotAllowed(asked)
  checkFurtherModels(access, request)
  return allowed
}

function servedBy(
  { candidate, reply }: CandidateReply<ModelCandidate, Reply>,
  { dropped, adjusted }: Changes,
): Mutable<ServedReply> {
  const { name: provider, model, costOf } = candidate
  return { reply, provider, model, costOf, dropped, adjusted }
}

/** Makes a stream resumable. (Closures of the async `answer` would keep the request in memory until its end.) */
function resumed(served: Mutable<ServedReply>, options: Omit<ResumeOptions, 'format' | 'onResumed'>): ServedReply {
  const { stream: format } = formats[options.request.format]
  if (format === undefined) return served
  const stream = resumable({
    ...options,
    format,
    onResumed(other, continued) {
      served.provider = other.name
      served.model = other.model
      served.costOf = other.costOf
      served.continued = continued
    },
  })
  served.reply = stream
  if (options.holdsCalls === true) served.unseenBytes = () => stream.unseenBytes
  return served
}

/** Members that list tools, in every format. Of lists that are written without blanks, empty ones have 2 bytes. */
function hasTools({ members }: Ask): boolean {
  return members.some(({ name, valueStart, end }) => (name === 'tools' || name === 'functions') && end - valueStart > 2)
}

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] }

/** The candidates that serve the request's format; usually all of them. */
function speaking(candidates: readonly ModelCandidate[], { format }: Ask): readonly ModelCandidate[] {
  return candidates.every(({ speaks }) => speaks(format))
    ? candidates
    : candidates.filter(({ speaks }) => speaks(format))
}

function askCandidate(candidate: ModelCandidate, request: Ask, call: Call): Promise<Reply> {
  return candidate.answer(request, call)
}

/** With `onContentPolicy: 'next'`: a rejection by one provider's policy is not final. */
async function askPastPolicy(candidate: ModelCandidate, request: Ask, call: Call): Promise<Reply> {
  try {
    return await candidate.answer(request, call)
  } catch (error) {
    throw error instanceof UpstreamFailure && error.failure === 'content_policy' ? notFinal(error) : error
  }
}

/** @param isOffered providers have the model, but none serves the format */
function unserved({ format, model }: Ask, isOffered: boolean): Error {
  const { unserved: does, estimate } = formats[format]
  if (isOffered && estimate !== undefined) return new CannotCount()
  return isOffered && does !== undefined ? notServed(model, does) : modelNotFound(model)
}

function wireErrorOf(error: unknown, { format, model }: Ask): unknown {
  if (error instanceof AllFailed)
    return formats[format].estimate !== undefined && lackEndpoint(error) ? new CannotCount() : allFailed(model, error)
  if (!(error instanceof UpstreamFailure)) return error
  return error.failure === 'content_policy'
    ? policyViolation(error)
    : overloaded('The service is out of resources; try again shortly', error)
}

function notFinal(error: UpstreamFailure): UpstreamFailure {
  return new UpstreamFailure(error.failure, error.message, { status: error.status, cause: error })
}

/** Whether a candidate that was passed over may be asked last: it would have answered. */
function isDeferred(failure: UpstreamFailure): boolean {
  return failure.failure === 'other_model' || isUnpriced(failure)
}

function isEmpty(reply: Reply): boolean {
  return reply.isEmpty
}

function release(reply: Reply): void {
  if (reply.kind === 'stream') reply.cancel()
}

/** Waits for lists, for 5 s at most, and not after the caller has left. */
async function settledOrLate(pending: readonly Promise<void>[], signal: CallSignal): Promise<void> {
  const { promise: enough, resolve: stopWaiting } = Promise.withResolvers<void>()
  const timer = setTimeout(stopWaiting, firstListsMs)
  signal.addEventListener('abort', stopWaiting)
  await Promise.race([Promise.all(pending), enough])
  signal.removeEventListener('abort', stopWaiting)
  clearTimeout(timer)
}

/** Members by which OpenRouter, LiteLLM and others get the models to ask if the first one fails. */
const naming: ReadonlySet<string> = new Set([
  ...['models', 'fallbacks', 'fallback_models', 'model_list', 'context_window_fallbacks', 'content_policy_fallbacks'],
])

/**
 * Checks models that a request names beside its own: the provider may answer with them.
 *
 * @throws {WireError} 403 when the caller may not use one of them
 */
function checkFurtherModels(access: Access, { body, members }: Ask): void {
  for (const { name, valueStart, end } of members) {
    if (!naming.has(name)) continue
    const refused = textsIn(parseJsonBytes(body.subarray(valueStart, end))).find((model) => !access.mayUseModel(model))
    if (refused !== undefined) throw modelNotAllowed(refused)
  }
}

/** All texts of a value, and names of its members, which may be models, too. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [...(Array.isArray(value) ? [] : [name]), ...textsIn(inner)])
}
