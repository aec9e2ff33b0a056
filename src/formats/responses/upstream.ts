import { checkBody } from '../check-body.ts'
import { WireError } from '../error.ts'
import { encodeJson } from '../exact-json.ts'
import { jsonAnswers } from '../json-answers.ts'
import { spliceRequest } from '../splice-request.ts'
import { untranslatable } from '../untranslatable.ts'
import type { UpstreamFormat } from '../upstream-format.ts'
import { fitResponsesRequest } from './fit.ts'
import { responsesEventBytesMax } from './native.ts'
import { requestReader, type ResponsesRequest } from './request.ts'
import { readResponsesAnswer, responsesAnswerReader } from './upstream-reader.ts'
import { isOwnReasoning } from './write-items.ts'
import { writeResponsesRequest } from './write-request.ts'

/** Responses as a format of providers, for callers of other formats. `overrides` replace whole top-level fields. */
export const responsesUpstream: UpstreamFormat = {
  eventBytesMax: responsesEventBytesMax,
  functionNames: /^[\w-]{1,64}$/,
  write(conversation, target, changes) {
    const { model, overrides, defaults = {}, profile } = target
    const written = checked(encodeJson(writeResponsesRequest(conversation, target, changes)))
    const request = fitResponsesRequest(written, profile, changes)
    return spliceRequest(request, { model, overrides, defaults, drop: profile.drop })
  },
  losesReasoning: (parts) => parts.some((part) => part.kind === 'reasoning' && !isOwnReasoning(part)),
  ...jsonAnswers({ readAnswer: readResponsesAnswer, answerReader: responsesAnswerReader }),
}

const read = requestReader('responses')

/** Own fields of another format may have values that this one does not allow. */
function checked(body: Uint8Array): ResponsesRequest {
  try {
    return checkBody(body, read)
  } catch (error) {
    throw error instanceof WireError ? untranslatable(`A request with this content (${error.message})`) : error
  }
}
