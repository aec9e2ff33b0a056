/** Finds the end of a JSON object or array that comes in pieces. */
export interface JsonEnd {
  readonly isComplete: boolean
  /** There was more than blanks after the end. */
  readonly isExceeded: boolean
  read(text: string): void
}

/** Starts at the beginning of the JSON. */
export function jsonEnd(): JsonEnd {
  let depth = 0
  let isInString = false
  let isEscaped = false
  let hasBegun = false
  let isExceeded = false
  return {
    get isComplete() {
      return hasBegun && depth === 0
    },
    get isExceeded() {
      return isExceeded
    },
    read(text) {
      for (let position = 0; position < text.length; position++) {
        const code = text.charCodeAt(position)
        if (hasBegun && depth === 0) isExceeded ||= code > 0x20
        else if (isInString) {
          if (isEscaped) isEscaped = false
          else if (code === 0x5c) isEscaped = true
          else if (code === 0x22) isInString = false
        } else if (code === 0x22) isInString = true
        else if (code === 0x7b || code === 0x5b) {
          hasBegun = true
          depth++
        } else if (code === 0x7d || code === 0x5d) depth--
      }
    },
  }
}
