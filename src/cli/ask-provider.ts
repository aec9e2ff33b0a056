import type { OfferedModel, Provider } from '../gateway/provider.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { parseChatRequest } from '../wire/chat-request.ts'
import { firstChatModel, modelsListed } from './gateway-access.ts'

/** What came of asking a provider for one token. */
export interface Asked {
  /** The model it was asked for, by the provider's name. */
  readonly model: string
  readonly ms: number
  /** Absent: it answered. */
  readonly failure?: AskedFailure
}

/** Why a provider did not answer. */
export interface AskedFailure {
  /** HTTP status it sent, else the class of the failure. */
  readonly status: string
  readonly reason: string
  readonly error: unknown
}

/**
 * A provider that lists no models is asked for this one: whatever it says of it shows whether it can be reached and
 * takes the key.
 */
const unlisted = 'svc-check'

/**
 * Asks one provider for one token, apart from all others and whatever is known of its health, which is told what came
 * of it. Never rejects.
 *
 * @param wanted the model, by any of its names at this provider; default: the first that answers chats
 */
export async function askProvider(provider: Provider, signal: AbortSignal, wanted?: string): Promise<Asked> {
  await modelsListed([provider], signal)
  const model = upstreamName(provider.models.current() ?? [], wanted)
  const start = performance.now()
  // Reasoning models of some makers refuse max_tokens; they need more than one for their thoughts.
  for (const limit of [{ max_tokens: 1 }, { max_completion_tokens: 16 }]) {
    try {
      const body = new TextEncoder().encode(
        JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], ...limit }),
      )
      const reply = await provider.candidate(model).chat(parseChatRequest(body), { signal, trail: [] })
      if (reply.kind === 'stream') reply.cancel()
      return { model, ms: performance.now() - start }
    } catch (error) {
      if ('max_tokens' in limit && error instanceof UpstreamFailure && error.failure === 'bad_request') continue
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
