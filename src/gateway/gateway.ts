import type { ChatReply } from '../protocols/protocol.ts'
import type { CallSignal } from '../service/call-controller.ts'
import { AllFailed, failover, type Answer, type Walk } from '../service/failover.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call } from '../service/service.ts'
import type { ChatRequest } from '../wire/chat-request.ts'
import { allFailed, modelNotFound, overloaded, policyViolation } from './all-failed.ts'
import { directory, type Finding, type ListedModel } from './directory.ts'
import type { ChatCandidate, ModelPrice, Provider } from './provider.ts'
import { resumable, type ResumeOptions } from './resume.ts'

/** How long a request for an unknown model waits for the model lists that are being fetched for the first time. */
const firstListsMs = 5_000

/** What {@link gateway} needs. */
export interface GatewayOptions {
  /** Array order is try-order. Enabled and usable ones only. */
  readonly providers: readonly Provider[]
  /** Name clients use → model name. */
  readonly aliases: Readonly<Record<string, string>>
  readonly onContentPolicy: 'stop' | 'next'
  readonly onCut: 'resume' | 'error'
}

/** An answer, and who serves it. */
export interface ServedReply {
  readonly reply: ChatReply
  /** Changes when another provider takes a stream up. */
  readonly provider: string
  /** The upstream's name for the model; changes with the provider. */
  readonly model: string
  /** What that provider takes; changes with the provider. */
  readonly price?: ModelPrice | undefined
}

/** The providers behind one door. */
export interface Gateway {
  /**
   * Finds the providers that offer the model and fails over between them (docs/api.md).
   *
   * @param letGo told when the bytes of the request are not needed any more although its stream goes on: nobody could
   *   resume it
   * @throws {WireError} model_not_found, provider_error, content_policy_violation, overloaded; the call's abort reason
   *   when the caller has left
   */
  chat(request: ChatRequest, call: Call, letGo?: () => void): Promise<ServedReply>
  models(): readonly ListedModel[]
  model(name: string): ListedModel | undefined
  readonly providers: readonly Provider[]
}

/** A gateway to these providers. Immutable: a new configuration makes a new one. */
export function gateway({ providers, aliases, onContentPolicy, onCut }: GatewayOptions): Gateway {
  const models = directory(providers, aliases)
  const ask = onContentPolicy === 'next' ? askPastPolicy : askCandidate
  const failoverOptions = { isPoor, release }

  function areListsPending(): boolean {
    return providers.some(({ models: { pending } }) => pending !== undefined)
  }

  /** Those to ask, when the lists that matter and are being fetched for the first time are there. */
  async function find(name: string, { signal }: Call): Promise<readonly ChatCandidate[]> {
    const known = models.find(name)
    const pending = mattering(known).flatMap(({ models: { pending } }) => pending ?? [])
    if (pending.length === 0) return known.candidates
    await settledOrLate(pending, signal)
    if (signal.aborted) throw signal.reason
    return models.find(name).candidates
  }

  /**
   * Those whose models could change who is asked, or who first: all where nobody is known to offer it, else those
   * before the first who does.
   */
  function mattering({ candidates, isListed, isPinned }: Finding): readonly Provider[] {
    if (!isListed) return providers
    return isPinned
      ? []
      : providers.slice(
          0,
          providers.findIndex(({ id }) => id === candidates[0]?.name),
        )
  }

  async function chat(request: ChatRequest, call: Call, letGo?: () => void): Promise<ServedReply> {
    const candidates = areListsPending() ? await find(request.model, call) : models.find(request.model).candidates
    if (candidates.length === 0) throw modelNotFound(request.model)
    const walk: Walk<ChatCandidate, ChatReply> = failover(candidates, failoverOptions)
    try {
      const answer = await walk.next((each) => ask(each, request, call), call)
      return servedBy(answer, { request, call, walk, isResumable: onCut === 'resume' && candidates.length > 1, letGo })
    } catch (error) {
      throw wireErrorOf(error, request.model)
    }
  }

  return { chat, models: () => models.list(), model: (name) => models.get(name), providers }
}

/**
 * An answer as it is handed on. (Made here, because closures of an async function would hold its request as long as a
 * stream lasts.)
 */
function servedBy(
  { candidate, reply }: Answer<ChatCandidate, ChatReply>,
  options: Omit<ResumeOptions, 'first' | 'onTakenUp'>,
): ServedReply {
  const served = { reply, provider: candidate.name, model: candidate.model, price: candidate.price }
  if (reply.kind === 'stream') {
    served.reply = resumable({
      ...options,
      first: reply,
      onTakenUp(other) {
        served.provider = other.name
        served.model = other.model
        served.price = other.price
      },
    })
  }
  return served
}

function askCandidate(candidate: ChatCandidate, request: ChatRequest, call: Call): Promise<ChatReply> {
  return candidate.chat(request, call)
}

/** As the owner wishes: what one provider's policy forbids may be asked of the next. */
async function askPastPolicy(candidate: ChatCandidate, request: ChatRequest, call: Call): Promise<ChatReply> {
  try {
    return await candidate.chat(request, call)
  } catch (error) {
    throw error instanceof UpstreamFailure && error.failure === 'content_policy' ? notFinal(error) : error
  }
}

function wireErrorOf(error: unknown, model: string): unknown {
  if (error instanceof AllFailed) return allFailed(model, error)
  if (!(error instanceof UpstreamFailure)) return error
  return error.failure === 'content_policy'
    ? policyViolation(error)
    : overloaded('The service is out of room; try again shortly', error)
}

function notFinal(error: UpstreamFailure): UpstreamFailure {
  return new UpstreamFailure(error.failure, error.message, { status: error.status, cause: error })
}

function isPoor(reply: ChatReply): boolean {
  return reply.isEmpty
}

function release(reply: ChatReply): void {
  if (reply.kind === 'stream') reply.cancel()
}

/** Waits for lists that are under way, but neither long nor for a caller who has left. */
async function settledOrLate(pending: readonly Promise<void>[], signal: CallSignal): Promise<void> {
  const { promise: enough, resolve: stopWaiting } = Promise.withResolvers<void>()
  const timer = setTimeout(stopWaiting, firstListsMs)
  signal.addEventListener('abort', stopWaiting)
  await Promise.race([Promise.all(pending), enough])
  signal.removeEventListener('abort', stopWaiting)
  clearTimeout(timer)
}
