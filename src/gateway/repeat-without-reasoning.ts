import type { Ask } from '../formats/ask.ts'
import { formats } from '../formats/format-list.ts'
import { droppedReasoning } from '../formats/reasoning-spans.ts'
import type { Reply } from '../formats/reply.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call } from '../service/service.ts'
import type { AnswerService } from './provider.ts'

/**
 * Asks once more without the reasoning of earlier answers, where the upstream refuses it: after a failover the
 * reasoning may come from another account, and cannot be read (docs/decisions/0014-reasoning.md). A probe is not
 * repeated.
 */
export function repeatWithoutReasoning(inner: AnswerService): AnswerService {
  async function repeated(request: Ask, call: Call): Promise<Reply> {
    try {
      return await inner(request, call)
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || !error.refusesReasoning) throw error
      if (call.signal.aborted || call.isProbe === true) throw error
      const bare = formats[request.format].withoutReasoning?.(request)
      if (bare === undefined) throw error
      call.changes?.drop(droppedReasoning)
      return await inner(bare, call)
    }
  }
  return (request, call) => (request.hasReasoning === undefined ? inner(request, call) : repeated(request, call))
}
