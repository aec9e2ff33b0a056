import type { Ask } from '../formats/ask.ts'
import type { Reply } from '../formats/reply.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call, Layer } from '../service/service.ts'

export interface OtherModelOptions {
  /** The provider's id. */
  readonly name: string
  /** How the model that an answer names compares with the one that was asked for. */
  readonly compare: (answered: string) => 'same' | 'other' | 'unnamed'
  /** Answers by another model are given up while another candidate may answer. */
  readonly isPassedOver: boolean
}

/**
 * Notes for the trail that an answer names another model than was asked for (docs/failover.md#another-model). It stands
 * around the commit, so that an answer that is given up has reached no client.
 *
 * @throws {UpstreamFailure} `other_model`, once a request
 */
export function otherModel({ name, compare, isPassedOver }: OtherModelOptions): Layer<Ask, Reply> {
  /** The last name, which most answers have. */
  let known: { readonly answered: string; readonly comparison: ReturnType<typeof compare> } | undefined

  function compared(answered: string): ReturnType<typeof compare> {
    if (known?.answered !== answered) known = { answered, comparison: compare(answered) }
    return known.comparison
  }

  /** Nothing else is asked behind the last candidate, nor behind one that was passed over and is asked again. */
  function mayPassOver({ isLast, trail }: Call): boolean {
    return (
      isPassedOver &&
      isLast !== true &&
      !trail.some((attempt) => attempt.name === name && attempt.failure === 'other_model')
    )
  }

  return (inner) =>
    async function answerOfModel(request, call) {
      const reply = await inner(request, call)
      const comparison = reply.model === undefined ? 'same' : compared(reply.model)
      if (reply.model === undefined || comparison === 'same') return reply
      call.changes?.serve(reply.model, comparison === 'other')
      if (comparison === 'unnamed' || !mayPassOver(call)) return reply
      if (reply.kind === 'stream') reply.cancel()
      const tokens = reply.kind === 'whole' ? reply.usage : undefined
      throw new UpstreamFailure('other_model', `another model answered: ${call.changes?.served ?? ''}`, {
        status: 200,
        tokens,
        ambiguous: tokens === undefined,
      })
    }
}
