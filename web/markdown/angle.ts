import { htmlTag } from './html-tag.ts'
import type { FoundToken } from './inline-token.ts'

// CommonMark 0.31, sections 6.5 and 6.6. The patterns are unambiguous, so matching takes linear time.
const address = /<([a-z][a-z0-9+.-]{1,31}:[^<>\x00-\x20]*)>/iy
const mailbox =
  /<([a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*)>/iy
const tag = new RegExp(htmlTag, 'iy')

/**
 * HTML comments, processing instructions, CDATA sections and declarations. `from`: offset after the start at which the
 * search for the closing mark begins.
 */
const enclosures = [
  { opening: /<!--/y, closing: '-->', from: 2 },
  { opening: /<\?/y, closing: '?>', from: 2 },
  { opening: /<!\[CDATA\[/y, closing: ']]>', from: 9 },
  { opening: /<![a-z]/iy, closing: '>', from: 2 },
]

/**
 * Parses an address, a mail address or HTML that starts with `<`.
 *
 * @param missing closing marks that the rest of the text does not contain; keeps the total time linear
 */
export function readAngle(text: string, offset: number, missing: Set<string>): FoundToken | undefined {
  const [link, linked = ''] = matchAt(address, text, offset)
  if (link !== undefined)
    return { token: { kind: 'address', target: linked, text: linked, source: link }, end: offset + link.length }
  const [mail, box = ''] = matchAt(mailbox, text, offset)
  if (mail !== undefined)
    return { token: { kind: 'address', target: `mailto:${box}`, text: box, source: mail }, end: offset + mail.length }
  const [html = readEnclosure(text, offset, missing)] = matchAt(tag, text, offset)
  if (html === undefined) return undefined
  return {
    token: /^<br\s*\/?>$/i.test(html) ? { kind: 'break' } : { kind: 'text', text: html },
    end: offset + html.length,
  }
}

function readEnclosure(text: string, offset: number, missing: Set<string>): string | undefined {
  for (const { opening, closing, from } of enclosures) {
    if (missing.has(closing) || matchAt(opening, text, offset).length === 0) continue
    const found = text.indexOf(closing, offset + from)
    if (found !== -1) return text.slice(offset, found + closing.length)
    missing.add(closing)
  }
  return undefined
}

function matchAt(pattern: RegExp, text: string, offset: number): readonly (string | undefined)[] {
  pattern.lastIndex = offset
  return pattern.exec(text) ?? []
}
