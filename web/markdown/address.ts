import type { AddressToken, FoundToken, TextToken } from './inline-token.ts'

// Addresses written in the text without markup (GFM, section 6.9).
const domain = /[a-z0-9_-]+(?:\.[a-z0-9_-]+)+/iy
/** Punctuation of languages that put no space after a sentence. */
const punctuation = '、。〈-】！（），：；？“”‘’„‚«»…～〜—'

/**
 * Parses an address that starts with `https://`, `http://` or `www.`. Within brackets, which may be the text of a link,
 * it ends at a bracket. After `*` or `~`, it ends before the same character.
 */
export function readAddress(
  text: string,
  offset: number,
  beginning: string,
  isInBrackets: boolean,
): FoundToken | undefined {
  const marks = /[*~]?$/.exec(text.slice(Math.max(0, offset - 1), offset))?.[0] ?? ''
  const address = new RegExp(`[\\p{L}\\p{N}][^\\s<${punctuation}${marks}${isInBrackets ? '[\\]' : ''}]*`, 'uy')
  address.lastIndex = offset + beginning.length
  const rest = address.exec(text)?.[0]
  if (rest === undefined) return undefined
  const written = beginning + withoutEnd(rest)
  return {
    token: addressOf(/^w/i.test(beginning) ? `http://${written}` : written, written),
    end: offset + written.length,
  }
}

/** Splits text into mail addresses and the text between them. */
export function findMailboxes(text: string): readonly TextToken[] {
  const leaves: TextToken[] = []
  let done = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let start = at
    while (start > done && /[\w.+-]/.test(text.charAt(start - 1))) start -= 1
    domain.lastIndex = at + 1
    const found = domain.exec(text)?.[0] ?? '-'
    if (start === at || text[start - 1] === '/' || /[_-]$/.test(found)) continue
    const mailbox = text.slice(start, at + 1) + found
    leaves.push({ kind: 'source', text: text.slice(done, start) }, addressOf(`mailto:${mailbox}`, mailbox))
    done = start + mailbox.length
  }
  return [...leaves, { kind: 'source', text: text.slice(done) }]
}

function addressOf(target: string, written: string): AddressToken {
  return { kind: 'address', target, text: written, source: written }
}

/**
 * Removes what belongs to the surrounding sentence from the end of an address: punctuation, an unbalanced parenthesis,
 * a character reference.
 */
function withoutEnd(address: string): string {
  let end = address.length,
    open = 0
  for (const character of address) open += character === '(' ? 1 : character === ')' ? -1 : 0
  for (;;) {
    const last = address.charAt(end - 1)
    if (last === ';') end = startOfReference(address, end - 1)
    else if (last === ')' ? open < 0 : '?!.,:*_~\'"'.includes(last)) end -= 1
    else return address.slice(0, end)
    if (last === ')') open += 1
  }
}

/**
 * Returns the start of the character reference that ends with this semicolon; the semicolon if there is no reference.
 */
function startOfReference(address: string, semicolon: number): number {
  let start = semicolon
  while (/[a-z0-9]/i.test(address.charAt(start - 1))) start -= 1
  return start < semicolon && address[start - 1] === '&' ? start - 1 : semicolon
}
