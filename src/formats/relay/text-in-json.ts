import { encode, utf8 } from '../../bytes/text.ts'
import { objectOf, parseJson, textOf } from '../exact-json.ts'
import type { AnsweredError } from '../format.ts'
import type { WholeReply } from '../reply.ts'
import type { RelayRequest } from './request.ts'

type ReadAnswer<Asked> = (body: Uint8Array, ask: Asked) => WholeReply | AnsweredError

/**
 * Some servers answer a request for text with JSON (https://github.com/vllm-project/vllm/issues/49095): a string is the
 * text, and for the format `text` also the member `text` of an object. Other answers are read as JSON.
 */
export function textReader(read: (body: Uint8Array) => WholeReply | AnsweredError): ReadAnswer<RelayRequest> {
  return (body, { isMedia, mediaAsked }) => {
    const quoted = isMedia && body[0] === quote ? textOf(parsed(body)) : undefined
    if (quoted !== undefined) return { kind: 'whole', usage: undefined, ...textBody(quoted) }
    const whole = read(body)
    if (whole.kind === 'error' || !isMedia || mediaAsked !== 'text') return whole
    return { ...whole, ...textBody(textOf(objectOf(parsed(body))['text']) ?? '') }
  }
}

const quote = 0x22

function textBody(text: string): Pick<WholeReply, 'body' | 'contentType' | 'isEmpty'> {
  return { body: encode(text), contentType: 'text/plain; charset=utf-8', isEmpty: text === '' }
}

function parsed(body: Uint8Array): unknown {
  try {
    return parseJson(utf8(body))
  } catch {
    // The reader of JSON names the fault.
    return undefined
  }
}
