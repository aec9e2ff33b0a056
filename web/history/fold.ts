const letters: ReadonlyMap<string, string> = new Map([
  ['ς', 'σ'],
  ['ø', 'o'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ħ', 'h'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['þ', 'th'],
  ['ð', 'd'],
])

/**
 * Folds a text for search: no case, no accents, no compatibility variants. `Straße` becomes `STRASSE`, `Ångström`
 * becomes `angstrom`.
 */
export function fold(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/g, '')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(/[ςøłđħæœþð]/g, (letter) => letters.get(letter) ?? letter)
}
