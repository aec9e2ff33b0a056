import { checkBody, checkLargeBody } from '../check-body.ts'
import { freeDemandReader } from '../demand.ts'
import { numberOf } from '../exact-json.ts'
import type { Envelope, Format } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { errorOf } from '../upstream-error.ts'
import { messagesOfCallers, messagesPrompt } from './format.ts'
import { callerHeaders } from './headers.ts'
import { messagesCheck } from './request.ts'
import { parseMessage } from './whole-message.ts'

const { talk: _talk, stream: _stream, ...shared } = messagesOfCallers

/** Counts the tokens of a request for Messages. Only providers that speak Messages can; else svc estimates. */
export const countTokens: Format = {
  ...shared,
  name: 'count_tokens',
  path: '/v1/messages/count_tokens',
  check: (body, envelope) => checkBody(body, checkOf(envelope)),
  checkLarge: (body, pause, envelope) => checkLargeBody(body, checkOf(envelope), pause),
  // Models count differently.
  needsSameModel: true,
  isOptional: true,
  demand: freeDemandReader(messagesPrompt),
  estimate: (tokens) => ({ input_tokens: tokens }),
  passThrough: {
    write: messagesOfCallers.passThrough.write,
    readWhole(body) {
      const answer = parseMessage(body)
      if (answer['type'] === 'error') return { kind: 'error', error: errorOf(answer) }
      if (numberOf(answer['input_tokens']) === undefined)
        throw new MalformedAnswer('malformed', 'the answer has no count')
      return { kind: 'whole', body, usage: undefined, isEmpty: false }
    },
  },
}

function checkOf({ headers }: Envelope) {
  return messagesCheck('count_tokens', ['messages'], callerHeaders(headers))
}
