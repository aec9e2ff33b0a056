import type { JsonObject } from '../../base/json-value.ts'
import { checkBody, checkLargeBody } from '../check-body.ts'
import { freeDemandReader } from '../demand.ts'
import { isObject, numberOf } from '../exact-json.ts'
import type { Format } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { errorOf } from '../upstream-error.ts'
import { countedUsage } from '../usage.ts'
import { responses, responsesPrompt } from './format.ts'
import { parseObject } from './native.ts'
import { requestReader, type ResponsesFormatName } from './request.ts'
import { readResponseUsage } from './response-object.ts'

/** Counts the tokens of a request for a response. */
export const inputTokens: Format = {
  ...nativeOnly('input_tokens', ({ input_tokens }) => numberOf(input_tokens) !== undefined),
  demand: freeDemandReader(responsesPrompt),
  estimate: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
}

/** Makes a conversation shorter. Only its maker can read the result. */
export const compact: Format = {
  ...nativeOnly('compact', ({ output }) => Array.isArray(output)),
  unserved: 'compacts responses',
}

/**
 * A format of requests for a response that only providers of the same format answer.
 *
 * @param isAnswer whether an object is an answer
 */
function nativeOnly(name: ResponsesFormatName, isAnswer: (answer: JsonObject) => boolean): Format {
  const { talk: _talk, stream: _stream, refusals: _refusals, ...shared } = responses
  const read = requestReader(name)
  return {
    ...shared,
    name,
    path: `${responses.path}/${name}`,
    check: (body) => checkBody(body, read),
    checkLarge: (body, pause) => checkLargeBody(body, read, pause),
    needsSameModel: true,
    isOptional: true,
    passThrough: {
      write: responses.passThrough.write,
      readWhole(body) {
        const answer = parseObject(body, 'the answer')
        if (isObject(answer['error'])) return { kind: 'error', error: errorOf(answer) }
        if (!isAnswer(answer)) throw new MalformedAnswer('malformed', 'the answer is not of its format')
        const counts = readResponseUsage(answer)
        return { kind: 'whole', body, usage: counts && countedUsage(counts), isEmpty: false }
      },
    },
  }
}
