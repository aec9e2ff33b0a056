/** The tables that the bench makes: beside relays that pass bytes on, and beside other gateways. */
export type GeneratedPart = 'relays' | 'gateways'

/**
 * Replaces the part of a page between its two marks.
 *
 * @throws Error unless the page has each mark of the part once, in order
 */
export function withGeneratedPart(page: string, name: GeneratedPart, part: string): string {
  const begin = `<!-- made by the bench from here: ${name} -->`
  const end = `<!-- made by the bench to here: ${name} -->`
  const [before = '', afterBegin, ...furtherBegins] = page.split(begin)
  const [, after, ...furtherEnds] = (afterBegin ?? '').split(end)
  if (after === undefined || furtherBegins.length + furtherEnds.length > 0)
    throw new Error(`the page needs one part between '${begin}' and '${end}'`)
  return `${before}${begin}\n\n${part.trim()}\n\n${end}${after}`
}
