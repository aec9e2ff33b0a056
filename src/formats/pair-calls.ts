/** How {@link pairCalls} sees the messages of a conversation. */
export interface CallView<Message> {
  /** Ids of the calls of a message, in their order. */
  calls(message: Message): readonly string[]
  /** Id of the call whose result the message is. Undefined: it is no result. */
  result(message: Message): string | undefined
  /** The message with other ids: those of its calls in their order, or that of its result. */
  withIds(message: Message, ids: readonly string[]): Message
  /** A result that says that there is none. @param position of the call in its message */
  missing(id: string, message: Message, position: number): Message
  /** A result without a call, as a message of the user. */
  asText(message: Message): Message
}

/** The text of a result that a conversation lacks. */
export const interruptedText = 'No result: the call was interrupted.'
/** The beginning of a result whose call the conversation lacks. */
export const orphanText = 'Result of a tool:\n'

/**
 * Puts the result of each call directly behind it: clients interrupt turns, steer between a call and its result, and
 * cut old messages off, and many targets refuse such conversations for good. Ids that occur twice are told apart.
 * Returns the same messages if they are in order.
 */
export function pairCalls<Message>(messages: readonly Message[], view: CallView<Message>): readonly Message[] {
  if (isPaired(messages, view)) return messages
  /** Calls without a result so far, by their ids. */
  const waiting = new Map<string, number>()
  /** Results of calls before them; a further result of a call is none. */
  const belonging = new Set<Message>()
  for (const message of messages) {
    const answered = view.result(message)
    const count = answered === undefined ? 0 : (waiting.get(answered) ?? 0)
    if (answered !== undefined && count > 0) {
      belonging.add(message)
      waiting.set(answered, count - 1)
    }
    for (const id of view.calls(message)) waiting.set(id, (waiting.get(id) ?? 0) + 1)
  }
  const results = Map.groupBy(belonging, (message) => view.result(message) ?? '')
  const taken = new Set<string>()
  return messages.flatMap((message): readonly Message[] => {
    const answered = view.result(message)
    if (answered !== undefined) return belonging.has(message) ? [] : [view.asText(message)]
    const given = view.calls(message)
    if (given.length === 0) return [message]
    const ids = given.map((id) => uniqueId(id, taken))
    const answers = given.map((id, index) => {
      const result = results.get(id)?.shift()
      const unique = ids[index] ?? id
      if (result === undefined) return view.missing(unique, message, index)
      return unique === id ? result : view.withIds(result, [unique])
    })
    return [ids.every((id, index) => id === given[index]) ? message : view.withIds(message, ids), ...answers]
  })
}

function uniqueId(id: string, taken: Set<string>): string {
  let unique = id
  for (let count = 2; taken.has(unique); count++) unique = `${id}_${count}`
  taken.add(unique)
  return unique
}

/** Whether the results of all calls stand directly behind them, no others do, and no id occurs twice. */
function isPaired<Message>(messages: readonly Message[], view: CallView<Message>): boolean {
  const seen = new Set<string>()
  let open = new Set<string>()
  for (const message of messages) {
    const answered = view.result(message)
    if (answered !== undefined) {
      if (!open.delete(answered)) return false
      continue
    }
    if (open.size > 0) return false
    const ids = view.calls(message)
    open = new Set(ids)
    if (open.size < ids.length || ids.some((id) => seen.has(id))) return false
    for (const id of ids) seen.add(id)
  }
  return open.size === 0
}
