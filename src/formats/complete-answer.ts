import type { AnswerEvent, ArgumentsEvent, CallEndEvent, CallEvent, FinishEvent } from './answer.ts'
import { CallArguments } from './call-arguments.ts'
import { madeUpId } from './made-up-id.ts'
import { MalformedAnswer } from './malformed-answer.ts'
import { isFailedReason } from './upstream-error.ts'

/** Writers look through the open calls at each event, so that many more would block the event loop. */
const callsMax = 2_000

/** A call so far. */
interface CallState {
  readonly choice: number
  readonly arguments: CallArguments
}

/**
 * Checks one translated answer, so that an incomplete answer never looks complete:
 *
 * - A call whose JSON does not end gets no `callEnd`: the caller would run it. Its choice may only finish with `length`
 *   or `content_filter`, which say that the answer was cut.
 * - Arguments that are no object are repaired, and an id that an earlier call has is replaced.
 * - Text behind the end of the JSON is malformed, and so is the finish `tool_calls` without a call or text.
 * - A finish that says that the upstream failed is malformed, and so are more than 2,000 calls.
 *
 * @returns a function that passes on the events of each piece
 * @throws {MalformedAnswer} from that function
 */
export function completeAnswer(): (events: readonly AnswerEvent[]) => readonly AnswerEvent[] {
  const calls = new Map<string, CallState>()
  const ids = new Set<string>()
  let hasText = false

  function checkFinish(event: FinishEvent): void {
    const { choice, reason, raw = '' } = event
    if (saysCut(event)) return
    if (reason === 'other' && isFailedReason(raw)) throw malformed('the answer ended with an error')
    if (reason === 'tool_calls' && !hasText && calls.size === 0) throw malformed('the answer has no tool call')
    for (const call of calls.values())
      if (call.choice === choice && isCut(call)) throw malformed('the arguments of a tool call are incomplete')
  }

  function beginCall(event: CallEvent): CallEvent {
    if (calls.size >= callsMax) throw malformed(`more than ${callsMax} tool calls`)
    calls.set(keyOf(event), { choice: event.choice, arguments: new CallArguments() })
    const { id, choice } = event
    if (id === undefined) return event
    const key = `${choice} ${id}`
    if (ids.has(key)) return { ...event, id: madeUpId('call_') }
    ids.add(key)
    return event
  }

  function addArguments(event: ArgumentsEvent): readonly AnswerEvent[] {
    const call = calls.get(keyOf(event))
    if (call === undefined) return [event]
    const text = call.arguments.read(event.text)
    if (call.arguments.isExceeded) throw malformed('text after the arguments of a tool call')
    return text === event.text ? [event] : argumentsOf(event, text)
  }

  /** @param isLast the finish comes with it, and says that the answer was cut */
  function endCall(event: CallEndEvent, isLast: boolean): readonly AnswerEvent[] {
    const call = calls.get(keyOf(event))
    if (call === undefined) return [event]
    return isCut(call) || (isLast && call.arguments.isWaiting)
      ? []
      : [...argumentsOf(event, call.arguments.rest()), event]
  }

  /** @param isLast see {@link endCall} */
  function read(event: AnswerEvent, isLast: boolean): readonly AnswerEvent[] {
    switch (event.kind) {
      case 'call':
        return [beginCall(event)]
      case 'arguments':
        return addArguments(event)
      case 'callEnd':
        return endCall(event, isLast)
      case 'finish':
        checkFinish(event)
        return [event]
      default:
        hasText ||= isText(event)
        return [event]
    }
  }

  return (events) => {
    const [first, second] = events
    // The usual piece of a call.
    if (second === undefined && first?.kind === 'arguments') {
      const [passed] = addArguments(first)
      return passed === first ? events : passed === undefined ? [] : [passed]
    }
    if (!events.every(isWithoutCalls)) {
      const isLast = events.some(saysCut)
      return events.flatMap((event) => read(event, isLast))
    }
    hasText ||= events.some(isText)
    return events
  }
}

/** Whether a finish says that the answer was cut. */
function saysCut(event: AnswerEvent): boolean {
  return event.kind === 'finish' && (event.reason === 'length' || event.reason === 'content_filter')
}

function argumentsOf({ choice, call }: CallKey, text: string): readonly AnswerEvent[] {
  return text === '' ? [] : [{ kind: 'arguments', choice, call, text }]
}

/** The usual case: pieces of text. */
function isWithoutCalls({ kind }: AnswerEvent): boolean {
  return kind === 'text' || kind === 'reasoning'
}

function isText({ kind }: AnswerEvent): boolean {
  return kind === 'text' || kind === 'refusal' || kind === 'image'
}

type CallKey = Pick<CallEvent, 'choice' | 'call'>

function keyOf({ choice, call }: CallKey): string {
  return `${choice} ${call}`
}

function isCut(call: CallState): boolean {
  return call.arguments.isCut
}

function malformed(message: string): MalformedAnswer {
  return new MalformedAnswer('malformed', message)
}
