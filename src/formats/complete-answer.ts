import type { AnswerEvent, FinishEvent } from './answer.ts'
import { jsonEnd, type JsonEnd } from './json-end.ts'
import { MalformedAnswer } from './malformed-answer.ts'
import { isFailedReason } from './upstream-error.ts'

/** A call so far. */
interface CallState {
  readonly choice: number
  /** Undefined until there is text; `'text'` if it does not begin as JSON does. */
  arguments: JsonEnd | 'text' | undefined
}

/**
 * Checks one translated answer, so that an incomplete answer never looks complete:
 *
 * - A call whose JSON does not end gets no `callEnd`: the caller would run it. Its choice may only finish with `length`
 *   or `content_filter`, which say that the answer was cut.
 * - Text behind the end of the JSON is malformed, and so is the finish `tool_calls` without a call or text.
 * - A finish that says that the upstream failed is malformed.
 *
 * @returns a function that passes on the events of each piece
 * @throws {MalformedAnswer} from that function
 */
export function completeAnswer(): (events: readonly AnswerEvent[]) => readonly AnswerEvent[] {
  const calls = new Map<string, CallState>()
  let hasText = false

  function checkFinish({ choice, reason, raw = '' }: FinishEvent): void {
    if (reason === 'length' || reason === 'content_filter') return
    if (reason === 'other' && isFailedReason(raw)) throw malformed('the answer ended with an error')
    if (reason === 'tool_calls' && !hasText && calls.size === 0) throw malformed('the answer has no tool call')
    for (const call of calls.values())
      if (call.choice === choice && isCut(call)) throw malformed('the arguments of a tool call are incomplete')
  }

  function read(event: AnswerEvent): boolean {
    switch (event.kind) {
      case 'call':
        calls.set(keyOf(event), { choice: event.choice, arguments: undefined })
        return true
      case 'arguments':
        addText(calls.get(keyOf(event)), event.text)
        return true
      case 'callEnd':
        return !isCut(calls.get(keyOf(event)))
      case 'finish':
        checkFinish(event)
        return true
      default:
        hasText ||= isText(event)
        return true
    }
  }

  return (events) => {
    if (!events.every(isWithoutCalls)) return events.filter(read)
    hasText ||= events.some(isText)
    return events
  }
}

/** The usual case: pieces of text. */
function isWithoutCalls({ kind }: AnswerEvent): boolean {
  return kind === 'text' || kind === 'reasoning'
}

function isText({ kind }: AnswerEvent): boolean {
  return kind === 'text' || kind === 'refusal' || kind === 'image'
}

function keyOf({ choice, call }: { readonly choice: number; readonly call: number }): string {
  return `${choice} ${call}`
}

function addText(call: CallState | undefined, text: string): void {
  const start = text.trimStart()
  if (call === undefined || start === '') return
  call.arguments ??= start.startsWith('{') || start.startsWith('[') ? jsonEnd() : 'text'
  if (call.arguments === 'text') return
  call.arguments.read(text)
  if (call.arguments.isExceeded) throw malformed('text after the arguments of a tool call')
}

function isCut(call: CallState | undefined): boolean {
  return typeof call?.arguments === 'object' && !call.arguments.isComplete
}

function malformed(message: string): MalformedAnswer {
  return new MalformedAnswer('malformed', message)
}
