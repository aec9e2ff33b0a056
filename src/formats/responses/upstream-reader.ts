import type { JsonObject } from '../../base/json-value.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import type { AnswerEvent, FinishEvent } from '../answer.ts'
import { numberOf, objectOf, objectsOf, textOf } from '../exact-json.ts'
import type { AnsweredError } from '../format.ts'
import type { JsonAnswerReader } from '../json-answers.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { errorOf } from '../upstream-error.ts'
import { readItem, restReader } from './answer-reader.ts'
import { readHead } from './response-object.ts'
import { toolNames } from './tool-names.ts'

const choice = 0
const names = toolNames([])

/**
 * Reads a whole response. Items of the provider's own tools are left out.
 *
 * @throws {UpstreamFailure} `malformed` when it has no output
 */
export function readResponsesAnswer(response: JsonObject): readonly AnswerEvent[] | AnsweredError {
  const error = failureOf(response)
  if (error !== undefined) return error
  const { output } = response
  if (!Array.isArray(output)) throw new UpstreamFailure('malformed', 'the answer has no output', { status: 200 })
  const reader = responsesAnswerReader()
  const items = objectsOf(output).flatMap((item, output_index) =>
    eventsOf(reader, 'output_item.done', { output_index, item }),
  )
  const type = response['status'] === 'incomplete' ? 'incomplete' : 'completed'
  return [startOf(response), ...items.filter(({ kind }) => kind !== 'start'), ...eventsOf(reader, type, { response })]
}

function eventsOf(reader: JsonAnswerReader, type: string, members: JsonObject): readonly AnswerEvent[] {
  const read = reader.read({ type: `response.${type}`, ...members })
  return read === 'done' || 'kind' in read ? [] : read
}

/**
 * Starts reading a stream of Responses. Items that come only as a whole, or only in the last event, are read there.
 * Reasoning with data of its maker ends as a sealed block.
 */
export function responsesAnswerReader(): JsonAnswerReader {
  return new ResponsesAnswer()
}

class ResponsesAnswer implements JsonAnswerReader {
  readonly #rest = restReader(names)
  /** Indexes of items whose content was read. */
  readonly #said = new Set<number>()
  readonly #placed = placing()
  #hasStarted = false
  #hasCalls = false
  #isFinished = false

  read(given: Readonly<Record<string, unknown>>): readonly AnswerEvent[] | AnsweredError {
    const event = this.#placed(given)
    const { type, output_index, item, response } = event
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        return this.#begun([], objectOf(response))
      case 'response.failed':
        return failed(objectOf(response))
      case 'response.output_item.done': {
        const whole = this.#endItem(numberOf(output_index) ?? 0, objectOf(item))
        return this.#begun([...whole, ...this.#readRest(event)])
      }
      case 'response.reasoning_summary_part.added':
        return this.#begun(
          (numberOf(event['summary_index']) ?? 0) > 0 ? [{ kind: 'reasoning', choice, text: '\n\n' }] : [],
        )
      case 'response.completed':
      case 'response.incomplete':
        return this.#isFinished
          ? []
          : (failureOf(objectOf(response)) ?? this.#begun(this.#readEnd(event), objectOf(response)))
      default:
        return this.#begun(this.#readRest(event))
    }
  }

  end(): never[] {
    if (this.#isFinished) return []
    // As natively: `[DONE]` is no mark of this format, and says nothing of the items that it cuts.
    throw new MalformedAnswer('malformed', 'the stream has no last event')
  }

  #begun(events: readonly AnswerEvent[], response: JsonObject = {}): readonly AnswerEvent[] {
    if (this.#hasStarted) return events
    this.#hasStarted = true
    return [startOf(response), ...events]
  }

  /** Content of an item that had no pieces, and the end of reasoning. */
  #endItem(index: number, item: JsonObject): readonly AnswerEvent[] {
    const isSaid = this.#said.has(index)
    this.#said.add(index)
    return [...(isSaid ? [] : readItem(item)), ...readSeal(item)]
  }

  /** Items that only the last event has. */
  #unread(response: JsonObject): readonly AnswerEvent[] {
    return objectsOf(response['output']).flatMap((item, index) => {
      if (this.#said.has(index)) return []
      return [
        ...this.#endItem(index, item),
        ...this.#rest.read({ type: 'response.output_item.done', output_index: index, item }),
      ]
    })
  }

  #readRest(event: JsonObject): readonly AnswerEvent[] {
    const events = this.#rest.read(event)
    this.#hasCalls ||= events.some(({ kind }) => kind === 'call')
    if (events.length > 0 && event['output_index'] !== undefined) this.#said.add(numberOf(event['output_index']) ?? 0)
    return events
  }

  #readEnd(event: JsonObject): readonly AnswerEvent[] {
    const missing = this.#unread(objectOf(event['response']))
    this.#hasCalls ||= missing.some(({ kind }) => kind === 'call')
    this.#isFinished = true
    return [...missing, ...this.#readRest(event).map((each) => (each.kind === 'finish' ? this.#withCalls(each) : each))]
  }

  /** The last event may have no items although calls came. */
  #withCalls(finish: FinishEvent): FinishEvent {
    return this.#hasCalls && finish.reason === 'stop' ? { ...finish, reason: 'tool_calls' } : finish
  }
}

function startOf(response: JsonObject): AnswerEvent {
  const { id, createdAt, model } = readHead(response)
  return { kind: 'start', id: id || undefined, model: model || undefined, created: createdAt || undefined }
}

/** Data with which OpenAI takes reasoning back. */
function readSeal({ type, summary, encrypted_content }: JsonObject): readonly AnswerEvent[] {
  const data = textOf(encrypted_content)
  if (type !== 'reasoning' || data === undefined || data === '') return []
  const text = objectsOf(summary)
    .flatMap((part) => textOf(part['text']) ?? [])
    .join('\n\n')
  return [{ kind: 'sealed', choice, text: text === '' ? undefined : text, opaque: { maker: 'openai', data } }]
}

function failed(response: JsonObject): AnsweredError {
  return { kind: 'error', error: errorOf(response) }
}

/**
 * The error of a response that failed.
 *
 * @throws {UpstreamFailure} `malformed` for one that is not over, or that was cancelled
 */
function failureOf(response: JsonObject): AnsweredError | undefined {
  const { status } = response
  if (status === 'failed') return failed(response)
  if (status === 'queued' || status === 'in_progress' || status === 'cancelled')
    throw new UpstreamFailure('malformed', `the response is '${status}'`, { status: 200 })
  return undefined
}

/** Some servers leave `output_index` out: then each item that begins, or that comes as a whole, has the next one. */
function placing(): (event: JsonObject) => JsonObject {
  let last = -1
  let isOpen = false
  return (event) => {
    const { type, output_index } = event
    const isBegin = type === 'response.output_item.added'
    const isEnd = type === 'response.output_item.done'
    const given = numberOf(output_index)
    if (given !== undefined) last = given
    else if (isBegin || (isEnd && !isOpen)) last += 1
    else if (last < 0 && event['response'] === undefined) last = 0
    // Text may come without the beginning of its item.
    if (event['response'] === undefined) isOpen = !isEnd
    return given === undefined && last >= 0 ? { ...event, output_index: last } : event
  }
}
