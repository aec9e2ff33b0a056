/**
 * Everything that is not seen but changes what is: controls, marks of direction (UAX 9), invisible characters. Joiners
 * stay, which emoji and scripts need.
 */
const unseen = /[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

/** The text without what is not seen, every run of blanks and line breaks being one blank. */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(/\s+/gu, ' ').replace(unseen, '').replace(/ {2,}/g, ' ')
}
