import type { UpstreamFormat } from '../upstream-format.ts'
import { messagesAnswerReader, readMessagesAnswer } from './answer-reader.ts'
import { writeMessagesRequest } from './write-request.ts'

/** Anthropic's Messages. */
export const messages: UpstreamFormat = {
  writeRequest: writeMessagesRequest,
  readAnswer: readMessagesAnswer,
  answerReader: messagesAnswerReader,
}
