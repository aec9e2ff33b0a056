import { checkBody } from '../check-body.ts'
import { WireError } from '../error.ts'
import { encodeJson, numberOf } from '../exact-json.ts'
import { jsonAnswers } from '../json-answers.ts'
import { spliceRequest } from '../splice-request.ts'
import { writeThinkingBlock } from '../thinking-block.ts'
import { untranslatable } from '../untranslatable.ts'
import type { UpstreamFormat } from '../upstream-format.ts'
import { messagesAnswerReader, readMessagesAnswer } from './answer-reader.ts'
import { fitMessagesRequest } from './fit.ts'
import { messagesCheck, type MessagesRequest } from './request.ts'
import { writeMessagesRequest } from './write-request.ts'

/** An event may have the whole input or result of a tool that ran upstream. */
export const messagesEventBytesMax = 8 * 1024 * 1024

const check = messagesCheck('messages', [], undefined)

/** Anthropic's Messages. `overrides` replace whole top-level fields. */
export const messages: UpstreamFormat = {
  eventBytesMax: messagesEventBytesMax,
  functionNames: /^[\w-]{1,64}$/,
  write(conversation, target, changes) {
    const { model, overrides, defaults = {}, profile } = target
    // The format requires a limit, so one is always written.
    const maxTokens = conversation.maxTokens ?? numberOf(defaults['max_tokens'])
    const body = encodeJson(writeMessagesRequest({ ...conversation, maxTokens }, target, changes))
    const request = fitMessagesRequest(checked(body), profile, changes)
    return spliceRequest(request, { model, overrides, defaults, drop: profile.drop })
  },
  // Anthropic takes its own thinking alone.
  losesReasoning: (parts, { profile }) =>
    parts.some((part) => part.kind === 'reasoning' && writeThinkingBlock(part, profile.unsignedThinking) === undefined),
  ...jsonAnswers({ readAnswer: readMessagesAnswer, answerReader: messagesAnswerReader }),
}

/** Own fields of another format may have values that this one does not allow. */
function checked(body: Uint8Array): MessagesRequest {
  try {
    return checkBody(body, check)
  } catch (error) {
    throw error instanceof WireError ? untranslatable(`A request with this content (${error.message})`) : error
  }
}
