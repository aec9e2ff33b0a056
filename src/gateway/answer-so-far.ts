import type { AnswerEvent } from '../formats/answer.ts'
import { isObject, parseJson } from '../formats/exact-json.ts'
import type { Retracer } from '../formats/format.ts'
import { isPlainText, type Part } from '../formats/part.ts'
import { type Delivered, deliveredParts } from '../formats/reply.ts'
import { answerBytes } from '../formats/size.ts'
import type { Usage } from '../formats/usage.ts'

/** Limit of what is kept of one answer to compare others with it, in characters and bytes. */
const keptMax = 1024 * 1024
/** Limit of the parts that wait, in bytes. */
const heldBytesMax = 1024 * 1024

/** Content that a caller sees, in the order of the answer. */
export type AnswerUnit = TextUnit | CallUnit

export interface TextUnit {
  readonly kind: 'text' | 'reasoning'
  text: string
}

export interface CallUnit {
  readonly kind: 'call'
  readonly name: string
  /** Its arguments, {@link comparable} once it is complete. */
  text: string
}

/**
 * What the caller has of one streamed answer: the facts for a resume behind a cut
 * (docs/decisions/0039-cuts-inside-calls.md). With a retracer, parts wait until what they say is complete: a call from
 * its first sign to its end, and parts that show nothing until one that does. Without one, all parts pass, and only
 * plain text can be compared.
 */
export class AnswerSoFar {
  readonly units: AnswerUnit[] = []
  /** Of the content that the caller has. */
  bytes = 0
  isFinished = false
  /** The last counts of the current stream, of providers that count before the end. */
  usage: Usage | undefined
  isComparable: boolean
  readonly #delivered = deliveredParts()
  /** Delivered parts that are no plain text. Absent without a retracer. */
  readonly #others: Part[] = []
  #retracer: Retracer | undefined
  #held: Part[] = []
  #heldBytes = 0
  #kept = 0
  /** Of earlier streams. */
  #bytesBefore = 0
  #droppedBytes = 0
  readonly #openCalls = new Map<number, CallUnit>()
  /** The number of units that the caller has, and the length of the last one. */
  #shown = { units: 0, length: 0 }

  /** @param isComparable `false`: parts pass unread */
  constructor(isComparable: boolean, retracer?: Retracer) {
    this.isComparable = isComparable
    this.#retracer = retracer
  }

  /** Of the content that was received of the current stream, by `answerBytes`. */
  get receivedBytes(): number {
    return this.bytes - this.#bytesBefore + this.unseenBytes
  }

  /** Of the content that waits, or was dropped at the last cut. */
  get unseenBytes(): number {
    return this.#held.reduce((sum, part) => sum + answerBytes(part), this.#droppedBytes)
  }

  /** All text of the last unit, if that is text. */
  get openText(): string {
    const last = this.units.at(-1)
    return last?.kind === 'text' ? last.text : ''
  }

  /** Whether it is text alone, which a provider may continue. */
  get isText(): boolean {
    return this.units.length === 1 && this.units[0]?.kind === 'text'
  }

  /** Parts may wait. */
  get holds(): boolean {
    return this.#retracer !== undefined && this.isComparable && !this.isFinished
  }

  delivered(): Delivered {
    return { ...this.#delivered.soFar(), ...(this.#others.length === 0 ? {} : { others: this.#others }) }
  }

  /** Takes parts of the stream. @returns those that go to the caller now */
  pass(parts: readonly Part[]): readonly Part[] {
    if (!this.isComparable) return parts
    if (this.#retracer === undefined || this.isFinished) {
      for (const part of parts) this.#passUnread(part)
      return parts
    }
    const passed: Part[] = []
    for (const part of parts) {
      const passes = !this.holds || (part.isAside === true && this.#held.length === 0)
      if (passes) this.#passUnread(part)
      passed.push(...(passes ? [part] : this.#take(part, this.#retracer)))
    }
    return passed
  }

  /**
   * The stream was cut. What waited is dropped.
   *
   * @param retracer reads the stream that goes on
   * @returns whether another stream may go on with the answer: the rest of visible reasoning is of no other provider
   */
  cut(retracer: Retracer | undefined): boolean {
    const { units, length } = this.#shown
    const isBehind = this.units.length > units
    if (this.#retracer !== undefined) {
      this.units.length = units
      const last = this.units.at(-1)
      if (last !== undefined && last.kind !== 'call') last.text = last.text.slice(0, length)
      this.#retracer = retracer
    }
    this.#openCalls.clear()
    this.#droppedBytes = this.unseenBytes
    this.#held = []
    this.#heldBytes = 0
    this.#bytesBefore = this.bytes
    return this.isComparable && !this.isFinished && (isBehind || this.units.at(-1)?.kind !== 'reasoning')
  }

  /** Another stream goes on with the answer. */
  resumed(): void {
    this.usage = undefined
    this.#droppedBytes = 0
  }

  /** @returns the parts that go to the caller now */
  #take(part: Part, retracer: Retracer): readonly Part[] {
    this.usage = part.usage ?? this.usage
    if (isPlainText(part) && this.#openCalls.size === 0) {
      this.#addText('text', part.text)
      return this.#wait(part, true)
    }
    if (part.finishReason !== undefined) {
      this.isFinished = true
      return this.#wait(part, true)
    }
    const events = retraced(retracer, part)
    if (events === undefined) {
      this.#giveUp()
      return this.#wait(part, true)
    }
    let shows = false
    let before: readonly Part[] = []
    for (const [index, event] of events.entries()) {
      // In chat completions, the start of a call is the end of the one before.
      const isNext =
        event.kind === 'call' && index > 0 && events.slice(0, index).every(({ kind }) => kind === 'callEnd')
      if (isNext && this.#openCalls.size === 0) before = this.#release()
      shows = this.#add(event) || shows
    }
    return [...before, ...this.#wait(part, shows && this.#openCalls.size === 0)]
  }

  /** @param isDue the caller can use this part and all that waits */
  #wait(part: Part, isDue: boolean): readonly Part[] {
    this.#held.push(part)
    this.#heldBytes += part.data.length
    if (this.#heldBytes > heldBytesMax) this.#giveUp()
    return isDue || !this.isComparable ? this.#release() : []
  }

  #release(): readonly Part[] {
    const due = this.#held
    this.#held = []
    this.#heldBytes = 0
    for (const part of due) this.#note(part)
    this.#shown = { units: this.units.length, length: this.units.at(-1)?.text.length ?? 0 }
    return due
  }

  /** @returns whether the event shows something, or completes a call */
  #add(event: AnswerEvent): boolean {
    switch (event.kind) {
      case 'text':
      case 'reasoning':
        if (event.text !== '') this.#addText(event.kind, event.text)
        return event.text !== ''
      case 'call': {
        const unit: CallUnit = { kind: 'call', name: event.name, text: '' }
        this.units.push(unit)
        this.#openCalls.set(event.call, unit)
        return true
      }
      case 'arguments': {
        const unit = this.#openCalls.get(event.call)
        if (unit === undefined) this.#giveUp()
        else unit.text += event.text
        return true
      }
      case 'callEnd': {
        const unit = this.#openCalls.get(event.call)
        if (unit !== undefined) unit.text = comparable(unit.text)
        return this.#openCalls.delete(event.call)
      }
      case 'refusal':
      case 'image':
        this.#giveUp()
        return true
      default:
        return false
    }
  }

  #addText(kind: TextUnit['kind'], text: string): void {
    const last = this.units[this.units.length - 1]
    if (last?.kind === kind) last.text += text
    else this.units.push({ kind, text })
  }

  #note(part: Part): void {
    this.#delivered.add(part)
    this.bytes += answerBytes(part)
    const isText = isPlainText(part)
    this.#kept += isText ? part.text.length : part.data.length
    if (!isText && part.data.length > 0 && this.isComparable) this.#others.push(part)
    if (this.#kept > keptMax) this.#giveUp()
  }

  #passUnread(part: Part): void {
    this.usage = part.usage ?? this.usage
    this.#delivered.add(part)
    if (part.isBeyondText) this.#giveUp()
    if (part.finishReason !== undefined) this.isFinished = true
    if (!this.isComparable || part.text === '') return
    this.#addText('text', part.text)
    this.bytes += answerBytes(part)
    this.#kept += part.text.length
    if (this.#kept > keptMax) this.#giveUp()
  }

  #giveUp(): void {
    this.isComparable = false
    this.units.length = 0
    this.#others.length = 0
  }
}

/** The events of a part; undefined: it cannot be compared. */
export function retraced(retracer: Retracer | undefined, part: Part): readonly AnswerEvent[] | undefined {
  try {
    return retracer?.read(part)
  } catch {
    // Clients get what svc cannot read, too; only a comparison needs its events.
    return undefined
  }
}

/** Arguments as JSON with sorted names; text that is no JSON as it is. */
export function comparable(text: string): string {
  if (text.trim() === '') return '{}'
  try {
    return JSON.stringify(sorted(parseJson(text)))
  } catch {
    // Models write such arguments at times. Clients get them, so they are compared.
    return text
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]))
}
