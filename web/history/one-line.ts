/**
 * Invisible characters: controls, direction marks (UAX 9), and others. Joiners stay, since emoji and scripts need them.
 */
const unseen = /[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

/** Removes invisible characters, and collapses white space and line breaks to one blank. */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(/\s+/gu, ' ').replace(unseen, '').replace(/ {2,}/g, ' ')
}
