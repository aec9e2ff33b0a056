import type { AssistantMessage, TokenLogprob, ToolCall } from '../history/conversation.ts'
import type { AskOutcome } from './ask-model.ts'
import { joinContinuation } from './join-continuation.ts'
import { provenanceOf, type Measurements } from './provenance.ts'
import type { AnswerPiece } from './read-choice.ts'

/** Builds one answer from its pieces. */
export interface AnswerBuilder {
  /** The answer begins, with these headers. */
  begin(measured: Measurements, headers: Headers): void
  /** Adds a piece. Returns whether the visible answer changed. */
  add(piece: AnswerPiece): boolean
  /** The answer so far. */
  current(): AssistantMessage
  /** The final answer. */
  finish(outcome: AnswerOutcome): AssistantMessage
}

/** An outcome with an answer. */
export type AnswerOutcome = AskOutcome & { readonly end: Exclude<AskOutcome['end'], { readonly kind: 'gone' }> }

/**
 * Creates a builder.
 *
 * @param started the answer as it is shown when the first piece arrives. It has `live`; pieces follow the text before
 *   that request. A longer text is shown until the pieces have reached it
 * @param now Unix milliseconds; absent for an answer that began before: its reasoning is not measured
 */
export function answerBuilder(started: AssistantMessage, now?: () => number): AnswerBuilder {
  const { live } = started
  const base = {
    ...started,
    text: started.text.slice(0, live?.text),
    reasoning: started.reasoning.slice(0, live?.reasoning),
  }
  const logprobs: TokenLogprob[] = [...(base.logprobs ?? [])]
  let more = '',
    reasoning = ''
  let finish: string | undefined
  let { tools } = base
  /** Start and duration of the reasoning. */
  let thinkingSince: number | undefined, thoughtMs: number | undefined
  let began: number | undefined
  let { provenance } = base
  /** The text so far turned out to be reasoning. */
  let isMoved = false

  function answer(isEnd: boolean): AssistantMessage {
    return {
      ...started,
      status: 'streaming',
      text: isMoved
        ? joinContinuation(base.text, more, isEnd)
        : longer(joinContinuation(base.text, more, isEnd), started.text),
      reasoning: longer(base.reasoning + reasoning, started.reasoning),
      ...(tools === undefined ? {} : { tools }),
      ...(provenance === undefined ? {} : { provenance }),
      ...(thoughtMs === undefined ? {} : { reasoningMs: (base.reasoningMs ?? 0) + thoughtMs }),
    }
  }

  function measure(): void {
    if (thinkingSince !== undefined && now !== undefined) thoughtMs ??= now() - thinkingSince
  }

  return {
    begin(measured, headers) {
      provenance = provenanceOf(measured, headers)
    },
    add(piece) {
      began ??= now?.()
      if (piece.wasReasoning === true) {
        reasoning += more
        more = ''
        isMoved = true
        thinkingSince = began
        thoughtMs = undefined
      }
      more += piece.text
      reasoning += piece.reasoning
      finish = piece.finishReason ?? finish
      if (piece.tools !== undefined) tools = withCalls(base.tools, piece.tools)
      if (piece.logprobs !== undefined) logprobs.push(...piece.logprobs)
      if (piece.reasoning !== '') thinkingSince ??= now?.()
      if (piece.text !== '') measure()
      return piece.text !== '' || piece.reasoning !== '' || piece.tools !== undefined
    },
    current: () => answer(false),
    finish({ end, isLost, measured, headers }) {
      measure()
      return {
        ...answer(true),
        live: isLost ? live : undefined,
        status: end.kind,
        ...(end.kind === 'failed' ? { error: end.error } : {}),
        ...(finish === undefined ? {} : { finishReason: finish }),
        ...(logprobs.length === 0 ? {} : { logprobs }),
        provenance: provenanceOf(measured, headers),
      }
    },
  }
}

/** Adds calls after earlier ones. A call that is read again replaces itself. */
function withCalls(earlier: readonly ToolCall[] = [], calls: readonly ToolCall[]): readonly ToolCall[] {
  const ids = new Set(calls.map(({ id }) => id))
  return [...earlier.filter(({ id }) => !ids.has(id)), ...calls]
}

function longer(text: string, shown: string): string {
  return text.length < shown.length ? shown : text
}
