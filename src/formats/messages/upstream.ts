import { encodeJson } from '../exact-json.ts'
import { jsonAnswers } from '../json-answers.ts'
import { writeThinkingBlock } from '../thinking-block.ts'
import type { UpstreamFormat } from '../upstream-format.ts'
import { messagesAnswerReader, readMessagesAnswer } from './answer-reader.ts'
import { writeMessagesRequest } from './write-request.ts'

/** An event may have the whole input or result of a tool that ran upstream. */
export const messagesEventBytesMax = 8 * 1024 * 1024

/** Anthropic's Messages. `overrides` replace whole top-level fields. */
export const messages: UpstreamFormat = {
  eventBytesMax: messagesEventBytesMax,
  functionNames: /^[\w-]{1,64}$/,
  write: (conversation, target) => [encodeJson({ ...writeMessagesRequest(conversation, target), ...target.overrides })],
  // Anthropic takes its own thinking alone.
  losesReasoning: (parts) => parts.some((part) => part.kind === 'reasoning' && writeThinkingBlock(part) === undefined),
  ...jsonAnswers({ readAnswer: readMessagesAnswer, answerReader: messagesAnswerReader }),
}
