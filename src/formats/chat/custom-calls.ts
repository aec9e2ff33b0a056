import type { AnswerEvent } from '../answer.ts'
import { objectOf, objectsOf, parseJsonBytes, textOf } from '../exact-json.ts'
import { stringInput, type StringInput } from '../string-input.ts'
import type { ChatRequest } from './request.ts'

/**
 * For answers of providers without custom tools: gives calls of the functions in their place back as calls of custom
 * tools, with the input as text.
 *
 * @returns a function that passes on the events of each piece; undefined if the request has no custom tools
 */
export function customCalls(
  request: ChatRequest,
): ((events: readonly AnswerEvent[]) => readonly AnswerEvent[]) | undefined {
  if (!request.hasCustomTools) return undefined
  const names = customNames(request)
  const inputs = new Map<string, StringInput>()

  function read(event: AnswerEvent): AnswerEvent | readonly AnswerEvent[] {
    if (event.kind !== 'call' && event.kind !== 'arguments' && event.kind !== 'callEnd') return event
    const key = `${event.choice} ${event.call}`
    if (event.kind === 'call') {
      if (!names.has(event.name)) return event
      inputs.set(key, stringInput())
      return { ...event, isCustom: true }
    }
    const input = inputs.get(key)
    if (input === undefined) return event
    const { choice, call } = event
    if (event.kind === 'arguments')
      return { kind: 'arguments', choice, call, text: input.push(event.text), isCustom: true }
    return [{ kind: 'arguments', choice, call, text: input.end(), isCustom: true }, event]
  }

  return (events) => events.flatMap(read).filter((event) => event.kind !== 'arguments' || event.text !== '')
}

function customNames({ body, members }: ChatRequest): ReadonlySet<string> {
  const tools = members.findLast(({ name }) => name === 'tools')
  const declared = tools && objectsOf(parseJsonBytes(body.subarray(tools.valueStart, tools.end)))
  return new Set(declared?.map(({ custom }) => textOf(objectOf(custom)['name']) ?? ''))
}
