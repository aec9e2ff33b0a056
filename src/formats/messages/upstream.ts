import { encodeJson } from '../exact-json.ts'
import { jsonAnswers } from '../json-answers.ts'
import type { UpstreamFormat } from '../upstream-format.ts'
import { messagesAnswerReader, readMessagesAnswer } from './answer-reader.ts'
import { writeMessagesRequest } from './write-request.ts'

/** Anthropic's Messages. `overrides` replace whole top-level fields. */
export const messages: UpstreamFormat = {
  write: (conversation, target) => [encodeJson({ ...writeMessagesRequest(conversation, target), ...target.overrides })],
  ...jsonAnswers({ readAnswer: readMessagesAnswer, answerReader: messagesAnswerReader }),
}
