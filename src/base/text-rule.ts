/** A rule for text from outside. */
export interface TextRule {
  /** Completes "allowed: …". */
  readonly allowed: string
  readonly pattern: RegExp
  /** UTF-16 units. */
  readonly lengthMax: number
}

/** One line of text: no line breaks, and no marks that turn the direction of text around it. */
export function oneLine(lengthMax: number): TextRule {
  return {
    allowed: 'one line of text without control characters and marks of direction, and not only spaces',
    pattern: /^(?=.*[^\s\u200c\u200d])(?:[\u200c\u200d]|[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])+$/u,
    lengthMax,
  }
}
