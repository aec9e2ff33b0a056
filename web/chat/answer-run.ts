import type { AssistantMessage, TokenLogprob } from '../history/conversation.ts'
import type { AskOutcome } from './ask-model.ts'
import { takenUp } from './conversation-changes.ts'
import { joinContinuation } from './join-continuation.ts'
import { provenanceOf } from './provenance.ts'
import type { AnswerPiece } from './read-choice.ts'

/** One answer while it comes. */
export interface AnswerRun {
  /** Returns whether there is more to be seen. */
  take(piece: AnswerPiece): boolean
  /** What there is of it now. */
  soFar(): AssistantMessage
  /** The answer as it stays. */
  end(outcome: AskOutcome): AssistantMessage
}

/** Gathers an answer. @param before what it goes on from; without text: nothing @param now Unix milliseconds */
export function answerRun(before: AssistantMessage, now: () => number): AnswerRun {
  const begun = takenUp(before)
  const logprobs: TokenLogprob[] = [...(before.logprobs ?? [])]
  let more = '',
    reasoning = ''
  let finish: string | undefined
  /** When it began to think, and for how long. */
  let thinkingSince: number | undefined, thoughtMs: number | undefined

  function gathered(isEnd: boolean): AssistantMessage {
    return {
      ...begun,
      text: joinContinuation(before.text, more, isEnd),
      reasoning: before.reasoning + reasoning,
      ...(thoughtMs === undefined ? {} : { reasoningMs: (before.reasoningMs ?? 0) + thoughtMs }),
    }
  }

  return {
    take(piece) {
      more += piece.text
      reasoning += piece.reasoning
      finish = piece.finishReason ?? finish
      if (piece.logprobs !== undefined) logprobs.push(...piece.logprobs)
      if (piece.reasoning !== '') thinkingSince ??= now()
      if (piece.text !== '' && thinkingSince !== undefined) thoughtMs ??= now() - thinkingSince
      return piece.text !== '' || piece.reasoning !== ''
    },
    soFar: () => gathered(false),
    end({ end, measured, headers }) {
      if (thinkingSince !== undefined) thoughtMs ??= now() - thinkingSince
      return {
        ...gathered(true),
        status: end.kind,
        ...(end.kind === 'failed' ? { error: end.error } : {}),
        ...(finish === undefined ? {} : { finishReason: finish }),
        ...(logprobs.length === 0 ? {} : { logprobs }),
        provenance: provenanceOf(measured, headers),
      }
    },
  }
}
