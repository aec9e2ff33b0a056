import type { AnswerEvent } from './answer.ts'

/**
 * Makes one choice of an answer that has several, though one was asked for: some servers put text and calls into
 * choices of their own.
 *
 * @returns a function that passes on the events of each piece
 */
export function oneChoice(): (events: readonly AnswerEvent[]) => readonly AnswerEvent[] {
  /** Numbers of calls, by their choice and their number in it. Those of the first choice stay. */
  const numbers = new Map<string, number>()
  let next = 0
  let isSplit = false

  function numberOf(choice: number, call: number): number {
    const key = `${choice} ${call}`
    const number = numbers.get(key) ?? (isSplit ? next : call)
    numbers.set(key, number)
    next = Math.max(next, number + 1)
    return number
  }

  function moved(event: AnswerEvent): AnswerEvent {
    if (!('choice' in event)) return event
    return 'call' in event ? { ...event, choice: 0, call: numberOf(event.choice, event.call) } : { ...event, choice: 0 }
  }

  return (events) => {
    isSplit ||= events.some(isOfOther)
    if (isSplit) return events.map(moved)
    for (const event of events) if (event.kind === 'call') numberOf(0, event.call)
    return events
  }
}

function isOfOther(event: AnswerEvent): boolean {
  return 'choice' in event && event.choice > 0
}
