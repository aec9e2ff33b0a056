import type { AnswerEvent } from './answer.ts'

/**
 * Holds the finish of each choice back until the answer is over, with what belongs to it: ends of calls, and usage.
 * Some servers put a finish on every event, or before the content; the last one counts (failover.md rule 4).
 */
export class HeldEnding {
  readonly #finishes = new Map<number, AnswerEvent>()
  readonly #begun = new Set<number>()
  /** Ends of the calls that have begun, and whose end was not passed on. */
  readonly #callEnds = new Map<string, AnswerEvent>()
  #usage: AnswerEvent | undefined
  readonly #joined: ReturnType<typeof oneChoice> | undefined

  /** @param hasOneChoice the events of all choices become one */
  constructor(hasOneChoice = false) {
    this.#joined = hasOneChoice ? oneChoice() : undefined
  }

  /** Every choice that has begun has a finish. */
  get isWhole(): boolean {
    if (this.#finishes.size === 0) return false
    for (const choice of this.#begun) if (!this.#finishes.has(choice)) return false
    return true
  }

  /** Returns the events that are not held. */
  hold(given: readonly AnswerEvent[]): readonly AnswerEvent[] {
    const [first] = given
    // The usual case: a piece of the text of the first choice.
    if (given.length === 1 && first?.kind === 'text' && first.choice === 0 && this.#finishes.size === 0) {
      this.#begun.add(0)
      return given
    }
    const events = this.#joined?.(given) ?? given
    const isEnding = this.#finishes.size > 0 || events.some(isFinish)
    for (const event of events) this.#note(event, isEnding)
    return isEnding ? events.filter((event) => !isPartOfEnding(event)) : events
  }

  #note(event: AnswerEvent, isEnding: boolean): void {
    if ('choice' in event) this.#begun.add(event.choice)
    if (event.kind === 'finish') this.#finishes.set(event.choice, event)
    else if (event.kind === 'usage' && isEnding) this.#usage = event
    else if (event.kind === 'call')
      this.#callEnds.set(keyOf(event), { kind: 'callEnd', choice: event.choice, call: event.call })
    else if (event.kind === 'callEnd' && !isEnding) this.#callEnds.delete(keyOf(event))
  }

  /** Gives the held events, once the answer is whole. */
  release(): readonly AnswerEvent[] {
    if (this.#finishes.size === 0) return []
    const usage = this.#usage === undefined ? [] : [this.#usage]
    const held = [...this.#callEnds.values(), ...this.#finishes.values(), ...usage]
    this.#finishes.clear()
    this.#callEnds.clear()
    return held
  }
}

function keyOf({ choice, call }: { readonly choice: number; readonly call: number }): string {
  return `${choice} ${call}`
}

function isFinish({ kind }: AnswerEvent): boolean {
  return kind === 'finish'
}

function isPartOfEnding({ kind }: AnswerEvent): boolean {
  return kind === 'finish' || kind === 'usage' || kind === 'callEnd'
}

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
