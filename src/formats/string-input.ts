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
  let mode: 'opening' | 'string' | 'held' | 'raw' | 'over' = 'opening'
  let held = ''

  /** Decodes the complete characters of a string. Keeps an unfinished escape, and the first half of a pair. */
  function decode(): string {
    let decoded = ''
    let position = 0
    while (position < held.length) {
      const character = held.charAt(position)
      if (character === '"') {
        mode = 'over'
        break
      }
      const length = lengthAt(position, character)
      if (length === undefined) break
      decoded += character === '\\' ? unescape(held.slice(position, position + length)) : character
      position += length
    }
    held = mode === 'over' ? '' : held.slice(position)
    return decoded
  }

  /** Undefined if the rest of the character has not arrived. */
  function lengthAt(position: number, character: string): number | undefined {
    if (character !== '\\') return 1
    const length = unitLength(position)
    const isHighHalf = /^\\ud[89ab]/i.test(held.slice(position, position + length))
    const needed = length + (isHighHalf ? unitLength(position + length) : 0)
    return position + needed <= held.length ? needed : undefined
  }

  function unitLength(position: number): number {
    if (held.charAt(position) !== '\\') return 1
    return held.charAt(position + 1) === 'u' ? 6 : 2
  }

  return {
    push(text) {
      if (mode === 'over') return ''
      if (mode === 'raw') return text
      held += text
      if (mode === 'opening') {
        const found = opening.exec(held)
        if (found !== null) {
          mode = 'string'
          held = held.slice(found[0].length)
        } else if (held.length > openingMax || !unfinishedOpening.test(held))
          mode = /^\s*\{/.test(held) ? 'held' : 'raw'
      }
      if (mode === 'string') return decode()
      if (mode !== 'raw') return ''
      const raw = held
      held = ''
      return raw
    },
    end() {
      const rest = mode === 'string' || mode === 'over' ? '' : onlyString(held)
      mode = 'over'
      held = ''
      return rest
    },
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
