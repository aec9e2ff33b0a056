import type { AssistantMessage, TokenLogprob } from '../history/conversation.ts'
import type { AskOutcome } from './ask-model.ts'
import { resumed } from './conversation-changes.ts'
import { joinContinuation } from './join-continuation.ts'
import { provenanceOf } from './provenance.ts'
import type { AnswerPiece } from './read-choice.ts'

/** Builds one answer from its pieces. */
export interface AnswerBuilder {
  /** Adds a piece. Returns whether the visible answer changed. */
  add(piece: AnswerPiece): boolean
  /** The answer so far. */
  current(): AssistantMessage
  /** The final answer. */
  finish(outcome: AskOutcome): AssistantMessage
}

/** Creates a builder. @param base the answer to continue; a new answer has no text @param now Unix milliseconds */
export function answerBuilder(base: AssistantMessage, now: () => number): AnswerBuilder {
  const started = resumed(base)
  const logprobs: TokenLogprob[] = [...(base.logprobs ?? [])]
  let more = '',
    reasoning = ''
  let finish: string | undefined
  /** Start and duration of the reasoning. */
  let thinkingSince: number | undefined, thoughtMs: number | undefined

  function answer(isEnd: boolean): AssistantMessage {
    return {
      ...started,
      text: joinContinuation(base.text, more, isEnd),
      reasoning: base.reasoning + reasoning,
      ...(thoughtMs === undefined ? {} : { reasoningMs: (base.reasoningMs ?? 0) + thoughtMs }),
    }
  }

  return {
    add(piece) {
      more += piece.text
      reasoning += piece.reasoning
      finish = piece.finishReason ?? finish
      if (piece.logprobs !== undefined) logprobs.push(...piece.logprobs)
      if (piece.reasoning !== '') thinkingSince ??= now()
      if (piece.text !== '' && thinkingSince !== undefined) thoughtMs ??= now() - thinkingSince
      return piece.text !== '' || piece.reasoning !== ''
    },
    current: () => answer(false),
    finish({ end, measured, headers }) {
      if (thinkingSince !== undefined) thoughtMs ??= now() - thinkingSince
      return {
        ...answer(true),
        status: end.kind,
        ...(end.kind === 'failed' ? { error: end.error } : {}),
        ...(finish === undefined ? {} : { finishReason: finish }),
        ...(logprobs.length === 0 ? {} : { logprobs }),
        provenance: provenanceOf(measured, headers),
      }
    },
  }
}
