import type { AnswerEvent, CallEndEvent, CallEvent } from '../formats/answer.ts'
import { type AnswerUnit, type CallUnit, comparable, type TextUnit } from './answer-so-far.ts'

/** An event says what the caller has, something else, or something that is new to the caller. */
export type Matched = 'same' | 'differs' | { readonly newText: string }

const noText: Matched = { newText: '' }

/**
 * Compares another stream with an answer so far, event by event: texts byte by byte, calls by name and by arguments as
 * JSON. Reasoning has to end where that of the answer ended.
 */
export class AnswerMatch {
  readonly #units: readonly AnswerUnit[]
  /** The unit that is compared, and how many characters of it were the same. */
  #position = 0
  #offset = 0
  /** Calls that are compared, by their number in the stream. */
  readonly #open = new Map<number, { readonly unit: CallUnit; text: string }>()
  #isBeyond = false
  /** Numbers in the stream of the calls that the caller has. */
  readonly calls = new Set<number>()

  constructor(units: readonly AnswerUnit[]) {
    this.#units = units
  }

  /** The stream has said all that the caller has. */
  get isComplete(): boolean {
    return !this.hasOpenCall && this.#current() === undefined
  }

  /** Where the stream stands in the answer: `text:N` and `reasoning:N` in characters of all text, `call:N` from 1. */
  get place(): string {
    const kind = this.hasOpenCall ? 'call' : (this.#current()?.kind ?? 'text')
    const before = this.#units.slice(0, this.#position).filter((unit) => unit.kind === kind)
    if (kind === 'call') return `call:${before.length - this.#open.size + 1}`
    return `${kind}:${before.reduce((sum, { text }) => sum + text.length, this.#offset)}`
  }

  get hasOpenCall(): boolean {
    return this.#open.size > 0
  }

  take(event: AnswerEvent): Matched {
    switch (event.kind) {
      case 'text':
      case 'reasoning':
        return event.text === '' ? 'same' : this.#takeText(event.kind, event.text)
      case 'call':
        return this.#takeCall(event)
      case 'arguments': {
        const call = this.#open.get(event.call)
        if (call === undefined) return this.#beyond()
        call.text += event.text
        return 'same'
      }
      case 'callEnd':
        return this.#takeEnd(event)
      case 'refusal':
      case 'image':
      case 'finish':
        return this.#beyond()
      default:
        return 'same'
    }
  }

  /** The unit that is not compared to its end; undefined behind the last. */
  #current(): AnswerUnit | undefined {
    const unit = this.#units[this.#position]
    if (unit === undefined || unit.kind === 'call' || this.#offset < unit.text.length) return unit
    return this.#units[this.#position + 1]
  }

  #beyond(): Matched {
    if (!this.#isBeyond && !this.isComplete) return 'differs'
    this.#isBeyond = true
    return noText
  }

  #takeText(kind: TextUnit['kind'], text: string): Matched {
    if (this.#isBeyond) return { newText: kind === 'text' ? text : '' }
    if (this.hasOpenCall) return 'differs'
    const unit = this.#units[this.#position]
    if (unit?.kind !== kind) {
      const next = this.#current()
      if (next === undefined) this.#isBeyond = true
      else if (next.kind !== kind || next === unit) return 'differs'
      else this.#step()
      return this.#takeText(kind, text)
    }
    const overlap = Math.min(text.length, unit.text.length - this.#offset)
    if (!unit.text.startsWith(text.slice(0, overlap), this.#offset)) return 'differs'
    this.#offset += overlap
    if (overlap === text.length) return 'same'
    if (kind === 'reasoning' || this.#position < this.#units.length - 1) return 'differs'
    this.#isBeyond = true
    return { newText: text.slice(overlap) }
  }

  #takeCall({ call, name }: CallEvent): Matched {
    if (this.#isBeyond || this.isComplete) return this.#beyond()
    const unit = this.#current()
    if (unit?.kind !== 'call' || unit.name !== name) return 'differs'
    if (unit !== this.#units[this.#position]) this.#step()
    this.#step()
    this.#open.set(call, { unit, text: '' })
    this.calls.add(call)
    return 'same'
  }

  #takeEnd({ call }: CallEndEvent): Matched {
    const known = this.#open.get(call)
    if (known === undefined) return this.#isBeyond ? noText : 'same'
    if (comparable(known.text) !== known.unit.text) return 'differs'
    this.#open.delete(call)
    return 'same'
  }

  #step(): void {
    this.#position += 1
    this.#offset = 0
  }
}
