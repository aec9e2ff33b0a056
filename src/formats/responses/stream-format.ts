import type { JsonObject } from '../../base/json-value.ts'
import { doneEvent, formatEvents } from '../../bytes/event-stream.ts'
import { join } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import { editAsk } from '../edit-ask.ts'
import { WireError } from '../error.ts'
import { encodeJson, isObject, objectOf, objectsOf, parseJsonBytes } from '../exact-json.ts'
import type { StreamFormat } from '../format.ts'
import { commentKeepAlive } from '../keep-alive.ts'
import { madeUpId } from '../made-up-id.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import { type Delivered, deliveredParts } from '../reply.ts'
import { responseContinuation, responseRetracer, nextSequenceNumber } from './continuation.ts'
import { echoOf } from './echo.ts'
import { itemEvents } from './item-events.ts'
import { parseObject, partReader } from './native.ts'
import { movedRequest, type ResponsesRequest } from './request.ts'
import { readHead, writeResponse, type ResponseObjectHead } from './response-object.ts'
import { responsePart } from './response-part.ts'

const itemsMax = 10_000

/** Streams of this format. All end with the marker, which not all of its clients need. */
export const streamFormat: StreamFormat = {
  frame: formatEvents,
  end: doneEvent,
  keepAlive: commentKeepAlive,
  refusal,
  error: writeError,
  split,
  gatherer,
  continuation: responseContinuation,
  retracer: responseRetracer,
  continued,
}

/** Names of the errors that clients know: of this format, by the codes of docs/errors.md. */
const errorCodes: Readonly<Record<string, string>> = {
  context_length_exceeded: 'context_length_exceeded',
  content_policy_violation: 'invalid_prompt',
}

/**
 * The answer that makes Codex repeat a failed request least. It repeats one up to 30 times after a status of 500 or
 * more, but up to six times after 429, and waits for its `retry-after`. It ends after a failed response whose code is
 * final.
 */
function refusal(error: WireError): WireError | Uint8Array {
  const { status, code, message, headers } = error
  if (status < 500 || !failuresOfProviders.has(code)) return error
  if (headers['x-should-retry'] === 'false') return writeError(error, deliveredParts().soFar())
  return new WireError(429, 'api_error', 'provider_error', message, {
    headers: { 'retry-after': '1', ...headers },
    cause: error,
  })
}

/** Codes of docs/errors.md for failures of all providers. */
const failuresOfProviders: ReadonlySet<string> = new Set(['provider_error', 'overloaded'])

/** The events of a failed stream: a first event if there was none, the error, and the failed response. */
function writeError(error: WireError, delivered: Delivered): Uint8Array {
  const { first } = delivered
  let sequence = nextSequenceNumber(delivered)
  const head = first === undefined ? newHead() : readHead(objectOf(objectOf(parseJsonBytes(first.data))['response']))
  const { message, type, param } = error
  const isRefused = error.headers['x-should-retry'] === 'false'
  const code = errorCodes[error.code] ?? failureCode(error.status, isRefused)
  const events: Part[] = []
  const add = (name: string, members: JsonObject | string) => {
    const rest = typeof members === 'string' ? members : JSON.stringify(members).slice(1, -1)
    events.push(responsePart(name, `{"type":"${name}","sequence_number":${sequence++},${rest}}`))
  }
  if (first === undefined) {
    add('response.created', `"response":${writeResponse(head, { status: 'in_progress', output: [] }, echoOf())}`)
  }
  // Some clients repeat the request after any error event, so it is left out if another request cannot help.
  if (first !== undefined || !isRefused) add('error', { code, message, param, error: { type, code, message, param } })
  const failed = writeResponse(head, { status: 'failed', error: { code, message }, output: [] }, echoOf())
  add('response.failed', `"response":${failed}`)
  return formatEvents(events)
}

/** `invalid_prompt` is final for Codex, which shows its message. `server_is_overloaded` is too, without the message. */
function failureCode(status: number, isRefused: boolean): string {
  if (isRefused) return 'invalid_prompt'
  return status === 429 ? 'rate_limit_exceeded' : 'server_error'
}

function newHead(): ResponseObjectHead {
  return { id: madeUpId('resp_'), createdAt: Math.floor(Date.now() / 1000), model: '' }
}

/**
 * Converts a whole response to the events of a stream: each item at once.
 *
 * @throws {MalformedAnswer}
 */
function split(body: Uint8Array): readonly Part[] {
  const response = parseObject(body, 'the answer')
  const { completed_at: _completed, output, ...rest } = response
  if (!Array.isArray(output)) throw new MalformedAnswer('no_choices', 'the answer has no output')
  const items = objectsOf(output)
  if (items.length > itemsMax) throw new MalformedAnswer('malformed', `the answer has more than ${itemsMax} items`)
  const reader = partReader()
  const parts: Part[] = []
  let sequence_number = 0
  const add = (type: string, members: JsonObject) => {
    const data = encodeJson({ type, sequence_number: sequence_number++, ...members })
    const read = reader.read({ event: type, data })
    if (read === 'done' || 'kind' in read) throw new MalformedAnswer('malformed', 'the answer is an error')
    for (const part of read) if (part.data.length > 0) parts.push(part)
  }
  const begun = { response: { ...rest, status: 'in_progress', incomplete_details: null, output: [], usage: null } }
  add('response.created', begun)
  add('response.in_progress', begun)
  for (const [output_index, item] of items.entries())
    for (const { type, ...members } of itemEvents(item, output_index)) add(String(type), members)
  add(response['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed', { response })
  return parts
}

/** Gathers a stream: its last event has the whole answer, but for streams that have their items only one by one. */
function gatherer(): ReturnType<StreamFormat['gatherer']> {
  const items: JsonObject[] = []
  let whole: JsonObject | undefined
  return {
    add({ data, event }) {
      if (data.length === 0 || event?.endsWith('.delta') === true) return
      const { type, item, response } = objectOf(parseJsonBytes(data))
      if (type === 'response.output_item.done' && isObject(item)) {
        if (items.length === itemsMax) throw new MalformedAnswer('malformed', `more than ${itemsMax} items`)
        items.push(item)
      } else if (type === 'response.completed' || type === 'response.incomplete') whole = objectOf(response)
    },
    finish() {
      if (whole === undefined) throw new MalformedAnswer('no_choices', 'the stream had no end')
      return encodeJson(objectsOf(whole['output']).length > 0 ? whole : { ...whole, output: items })
    },
  }
}

/** Adds a message of the assistant to the input. */
function continued(request: ResponsesRequest, text: string): ResponsesRequest {
  const last = request.members.findLast(({ name }) => name === 'input')
  if (last === undefined) return request
  const { valueStart, end } = last
  const { body } = request
  const message = JSON.stringify({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
  const isText = body[valueStart] === quote
  const asList = join([encode('[{"role":"user","content":'), body.subarray(valueStart, end), encode(`},${message}]`)])
  const edited = editAsk(request, [
    isText
      ? { start: valueStart, end, replacement: asList }
      : { start: end - 1, end: end - 1, replacement: encode(`,${message}`) },
  ])
  return movedRequest(request, edited)
}

const quote = 0x22
