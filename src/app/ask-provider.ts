import { firstChatModel } from '../base/chat-model.ts'
import { parseChatRequest } from '../formats/chat/request.ts'
import type { OfferedModel } from '../formats/model.ts'
import { modelsListed } from '../gateway/models-listed.ts'
import type { Provider } from '../gateway/provider.ts'
import { UpstreamFailure } from '../service/failure.ts'

/** The outcome of a request for one token. */
export interface Asked {
  /** The provider's name of the requested model. */
  readonly model: string
  readonly ms: number
  /** Absent: the provider answered. */
  readonly failure?: AskedFailure
}

/** Why a request for one token failed. */
export interface AskedFailure {
  /** HTTP status, else the failure class. */
  readonly status: string
  readonly reason: string
  readonly error: unknown
}

/** Model for a provider that lists none: even a refusal shows that the provider is reachable and accepts the key. */
const unlisted = 'svc-check'

/** Some reasoning models refuse max_tokens, and need more than one token. */
const usualLimits = [{ max_tokens: 1 }, { max_completion_tokens: 16 }]

/**
 * Asks one provider for one token, even if it would be skipped, and counts the outcome for its health. Never rejects.
 *
 * @param wanted the model, by any of its names at this provider; default: the first chat model
 * @param limits one after the other, as long as they are refused
 */
export async function askProvider(
  provider: Provider,
  signal: AbortSignal,
  wanted?: string,
  limits: readonly object[] = usualLimits,
): Promise<Asked> {
  await modelsListed([provider], signal)
  const model = upstreamName(provider.models.current() ?? [], wanted)
  const start = performance.now()
  for (const limit of limits) {
    try {
      const body = new TextEncoder().encode(
        JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], ...limit }),
      )
      const reply = await provider.candidate(model).answer(parseChatRequest(body), { signal, trail: [] })
      if (reply.kind === 'stream') reply.cancel()
      return { model, ms: performance.now() - start }
    } catch (error) {
      const isRefused = error instanceof UpstreamFailure && error.failure === 'bad_request'
      if (isRefused && limit !== limits.at(-1)) continue
      return { model, ms: performance.now() - start, failure: describe(error, signal) }
    }
  }
  throw new Error('the last attempt returns')
}

function upstreamName(models: readonly OfferedModel[], wanted: string | undefined): string {
  if (wanted === undefined) return firstChatModel(models)?.upstream ?? unlisted
  return models.find(({ name, aliases }) => name === wanted || aliases.includes(wanted))?.upstream ?? wanted
}

function describe(error: unknown, signal: AbortSignal): AskedFailure {
  if (error instanceof UpstreamFailure)
    return {
      status: error.status === undefined || error.status === 200 ? error.failure : String(error.status),
      reason: error.message,
      error,
    }
  if (signal.aborted) return { status: 'timeout', reason: 'no answer in time', error }
  return { status: 'error', reason: error instanceof Error ? error.message : String(error), error }
}
