import type { Provider } from '../gateway/provider.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { parseChatRequest } from '../wire/chat-request.ts'
import { firstChatModel, modelsListed } from './gateway-access.ts'

/** What came of asking a provider for one token. */
export interface Asked {
  /** The model it was asked for, by the provider's name. */
  readonly model: string
  readonly ms: number
  /** Absent: it answered. */
  readonly failure?: { readonly status: string; readonly reason: string }
}

/** A provider that lists no models is asked for this one: whatever it says of it shows whether it can be reached and takes the key. */
const unlisted = 'svc-check'

/** Asks one provider for one token, apart from all others. Never rejects. */
export async function askProvider(provider: Provider, signal: AbortSignal): Promise<Asked> {
  await modelsListed([provider], signal)
  const model = firstChatModel(provider.models.current() ?? [])?.upstream ?? unlisted
  const start = performance.now()
  // Reasoning models of some makers refuse max_tokens; they need more than one for their thoughts.
  for (const limit of [{ max_tokens: 1 }, { max_completion_tokens: 16 }]) {
    try {
      const body = new TextEncoder().encode(JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], ...limit }))
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

function describe(error: unknown, signal: AbortSignal): { readonly status: string; readonly reason: string } {
  if (error instanceof UpstreamFailure) return { status: error.status === undefined || error.status === 200 ? error.failure : String(error.status), reason: error.message }
  if (signal.aborted) return { status: 'timeout', reason: 'no answer in time' }
  return { status: 'error', reason: error instanceof Error ? error.message : String(error) }
}
