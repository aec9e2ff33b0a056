import { randomInt } from 'node:crypto'

/** Letters without vowels, which spell no words, and without those that look like others (RFC 8628 section 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const lengthOfCode = 8

/** A code that a person types: eight of twenty letters, 2.6·10¹⁰ of them, as `WDJB-MJHT`. */
export function randomUserCode(): string {
  return shownCode(Array.from({ length: lengthOfCode }, () => letters.charAt(randomInt(letters.length))).join(''))
}

/** Reads a code as a person types it, in any case, with any blanks and dashes. `undefined`: it has another form. */
export function parseUserCode(text: string): string | undefined {
  if (text.length > 64) return undefined
  const typed = text.replace(/[-\s\u2010-\u2015]/g, '').replace(/[a-z]/g, (letter) => letter.toUpperCase())
  const isCode = typed.length === lengthOfCode && [...typed].every((letter) => letters.includes(letter))
  return isCode ? shownCode(typed) : undefined
}

function shownCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`
}
