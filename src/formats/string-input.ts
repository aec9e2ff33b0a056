import { isObject, parseJson } from './exact-json.ts'

/** Reads the input of a custom tool out of the arguments of the function in its place, piece by piece. */
export interface StringInput {
  /** Returns the new text of the input. */
  push(text: string): string
  /** Returns the rest of the input, when the arguments are complete. */
  end(): string
}

const opening = /^\s*\{\s*"input"\s*:\s*"/
/** Beginnings of {@link opening}. */
const unfinishedOpening = /^\s*(?:\{\s*(?:"(?:i(?:n(?:p(?:u(?:t(?:"\s*(?::\s*)?)?)?)?)?)?)?)?)?$/

/** Longer beginnings are decoded at their end. */
const openingMax = 256

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/**
 * Decodes `{"input":"…"}` while it arrives. Other objects with one string are decoded at their end. Text without an
 * object around it is the input itself, since models sometimes leave out the object.
 */
export function stringInput(): StringInput {
  return new InputInJson()
}

class InputInJson implements StringInput {
  #mode: 'opening' | 'string' | 'held' | 'raw' | 'over' = 'opening'
  #held = ''

  push(text: string): string {
    if (this.#mode === 'over') return ''
    if (this.#mode === 'raw') return text
    this.#held += text
    if (this.#mode === 'opening') {
      const found = opening.exec(this.#held)
      if (found !== null) {
        this.#mode = 'string'
        this.#held = this.#held.slice(found[0].length)
      } else if (this.#held.length > openingMax || !unfinishedOpening.test(this.#held))
        this.#mode = /^\s*\{/.test(this.#held) ? 'held' : 'raw'
    }
    if (this.#mode === 'string') return this.#decode()
    if (this.#mode !== 'raw') return ''
    const raw = this.#held
    this.#held = ''
    return raw
  }

  end(): string {
    const rest = this.#mode === 'string' || this.#mode === 'over' ? '' : onlyString(this.#held)
    this.#mode = 'over'
    this.#held = ''
    return rest
  }

  /** Decodes the complete characters of a string. Keeps an unfinished escape, and the first half of a pair. */
  #decode(): string {
    let decoded = ''
    let position = 0
    while (position < this.#held.length) {
      const character = this.#held.charAt(position)
      if (character === '"') {
        this.#mode = 'over'
        break
      }
      const length = this.#lengthAt(position, character)
      if (length === undefined) break
      decoded += character === '\\' ? unescape(this.#held.slice(position, position + length)) : character
      position += length
    }
    this.#held = this.#mode === 'over' ? '' : this.#held.slice(position)
    return decoded
  }

  /** Undefined if the rest of the character has not arrived. */
  #lengthAt(position: number, character: string): number | undefined {
    if (character !== '\\') return 1
    const length = this.#unitLength(position)
    const isHighHalf = /^\\ud[89ab]/i.test(this.#held.slice(position, position + length))
    const needed = length + (isHighHalf ? this.#unitLength(position + length) : 0)
    return position + needed <= this.#held.length ? needed : undefined
  }

  #unitLength(position: number): number {
    if (this.#held.charAt(position) !== '\\') return 1
    return this.#held.charAt(position + 1) === 'u' ? 6 : 2
  }
}

function unescape(escaped: string): string {
  return escaped.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, unit: string | undefined, letter: string | undefined) =>
    unit === undefined ? (escapes[letter ?? ''] ?? letter ?? '') : String.fromCharCode(Number.parseInt(unit, 16)),
  )
}

/** The only member of an object, if it is a string; else the text itself. */
function onlyString(text: string): string {
  try {
    const value = parseJson(text)
    const members = isObject(value) ? Object.values(value) : []
    const [only] = members
    if (members.length === 0 && isObject(value)) return ''
    return members.length === 1 && typeof only === 'string' ? only : text
  } catch {
    return text
  }
}
