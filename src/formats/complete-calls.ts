import type { AnswerEvent } from './answer.ts'
import { jsonEnd, type JsonEnd } from './json-end.ts'
import { MalformedAnswer } from './malformed-answer.ts'

/** The arguments of a call so far. */
interface CallState {
  readonly choice: number
  /** Undefined until there is text; `'text'` if it does not begin as JSON does. */
  arguments: JsonEnd | 'text' | undefined
}

/**
 * Checks the calls of one translated answer, which a caller would otherwise run with incomplete arguments. A call whose
 * JSON does not end gets no `callEnd`, and its choice may only finish with a reason that says so: `length` or
 * `content_filter`.
 *
 * @returns a function that passes on the events of each piece
 * @throws {MalformedAnswer} from that function, for any other finish
 */
export function completeCalls(): (events: readonly AnswerEvent[]) => readonly AnswerEvent[] {
  const calls = new Map<string, CallState>()

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
        if (event.reason === 'length' || event.reason === 'content_filter') return true
        for (const call of calls.values())
          if (call.choice === event.choice && isCut(call))
            throw new MalformedAnswer('malformed', 'the arguments of a tool call are incomplete')
        return true
      default:
        return true
    }
  }

  return (events) => (events.every(isWithoutCalls) ? events : events.filter(read))
}

/** The usual case: pieces of text. */
function isWithoutCalls({ kind }: AnswerEvent): boolean {
  return kind === 'text' || kind === 'reasoning'
}

function keyOf({ choice, call }: { readonly choice: number; readonly call: number }): string {
  return `${choice} ${call}`
}

function addText(call: CallState | undefined, text: string): void {
  const start = text.trimStart()
  if (call === undefined || start === '') return
  call.arguments ??= start.startsWith('{') || start.startsWith('[') ? jsonEnd() : 'text'
  if (call.arguments !== 'text') call.arguments.read(text)
}

function isCut(call: CallState | undefined): boolean {
  return typeof call?.arguments === 'object' && !call.arguments.isComplete
}
