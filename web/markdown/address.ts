import type { Address, Found, Leaf } from './inline-token.ts'

// Addresses that stand in the text as they are (GFM, section 6.9).
const domain = /[a-z0-9_-]+(?:\.[a-z0-9_-]+)+/iy
/** Ends a sentence that has no spaces. */
const punctuation = '、。〈-】！（），：；？'

/**
 * Reads the address that begins with `https://`, `http://` or `www.`. Within brackets, which may be the text of a link,
 * it ends where they do; after `**` it ends before `*`.
 */
export function readAddress(text: string, offset: number, beginning: string, isInBrackets: boolean): Found | undefined {
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

/** Takes the mailboxes out of text. */
export function findMailboxes(text: string): readonly Leaf[] {
  const leaves: Leaf[] = []
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

function addressOf(target: string, written: string): Address {
  return { kind: 'address', target, text: written, source: written }
}

/**
 * An address without what belongs to the sentence around it: marks, a parenthesis that was not opened in it, a
 * reference.
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

/** Where the reference begins whose semicolon stands there; it may be none. */
function startOfReference(address: string, semicolon: number): number {
  let start = semicolon
  while (/[a-z0-9]/i.test(address.charAt(start - 1))) start -= 1
  return start < semicolon && address[start - 1] === '&' ? start - 1 : semicolon
}
