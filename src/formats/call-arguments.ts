import { jsonEnd, type JsonEnd } from './json-end.ts'

/**
 * Arguments of a call other than an object, as the object that their text means: of `null`, of an empty list and of no
 * text an empty one, of JSON in a JSON string what is inside. Undefined for all other text.
 */
export function soundArguments(text: string): string | undefined {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed === 'null' || /^\[\s*\]$/.test(trimmed)) return '{}'
  if (!trimmed.startsWith('"')) return undefined
  const inside = parsed(trimmed)
  if (typeof inside !== 'string') return undefined
  return isObjectText(inside) ? inside : inside.startsWith('"') ? undefined : soundArguments(inside)
}

function isObjectText(text: string): boolean {
  return /^\s*\{/.test(text) && typeof parsed(text) === 'object'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Beginnings of text that {@link soundArguments} may change, so that it waits for its end. */
const unsure = /^\s*(?:$|["n[])/

/** The arguments of one call, which arrive in pieces. Others than objects are repaired at their end. */
export class CallArguments {
  #end: JsonEnd | undefined
  #waiting = ''
  #isOver = false

  /** Takes a piece, and returns the text that can be passed on. */
  read(text: string): string {
    if (this.#end === undefined && !this.#isOver) {
      const all = this.#waiting + text
      if (unsure.test(all)) {
        this.#waiting = all
        return ''
      }
      this.#waiting = ''
      if (/^\s*\{/.test(all)) this.#end = jsonEnd()
      else this.#isOver = true
      this.#end?.read(all)
      return all
    }
    this.#end?.read(text)
    return text
  }

  /** Returns the text that waited, when the call is complete. */
  rest(): string {
    if (this.#end !== undefined || this.#isOver) return ''
    this.#isOver = true
    return soundArguments(this.#waiting) ?? this.#waiting
  }

  /** Nothing was passed on. */
  get isWaiting(): boolean {
    return this.#end === undefined && !this.#isOver
  }

  /** The object has begun and not ended. */
  get isCut(): boolean {
    return this.#end?.isComplete === false
  }

  /** The object has ended. */
  get isComplete(): boolean {
    return this.#end?.isComplete === true
  }

  /** There is text behind the object. */
  get isExceeded(): boolean {
    return this.#end?.isExceeded === true
  }
}

/** The name of a function with another piece of it. Some servers repeat the name, or the pieces of it so far. */
export function joinedName(known: string, piece: string): string {
  return piece.startsWith(known) ? piece : known + piece
}
