import { unescapeText } from './escapes.ts'

/** Destinations by normalised label, for links such as `[text][label]`. */
export type Definitions = ReadonlyMap<string, string>

/** Linked list of definitions, the latest first. */
export interface FoundDefinition {
  readonly label: string
  readonly destination: string
  readonly earlier: FoundDefinition | undefined
}

/** No definitions. */
export const noDefinitions: Definitions = new Map()

// A label of at most 999 characters, a destination, and an optional title. `[^1]:` is a footnote in other dialects,
// and stays text. The pattern is sticky and unambiguous, so it takes linear time.
const labelSource = /\[(?!\^)((?:[^[\]\\]|\\.){1,999})\]/.source
const spaceSource = /[ \t]*(?:\n[ \t]*)?/.source
const destinationSource = /(?:<([^<>\n]*)>|([^\s<]\S*))/.source
const titleSource = /(?<=\s)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))/.source
const definition = new RegExp(
  `${labelSource}:${spaceSource}${destinationSource}(?:${spaceSource}${titleSource})?[ \\t]*(?:\\n|$)`,
  'sy',
)

/** Normalises a label, so that equivalent labels are equal (CommonMark 0.31, section 4.7). */
export function normaliseLabel(label: string): string {
  // Both conversions, since some letters have several lower-case forms or no upper-case form.
  return label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase().toLowerCase()
}

/** Removes definitions from the start of a paragraph. */
export function takeDefinitions(
  text: string,
  known: FoundDefinition | undefined,
): { readonly rest: string; readonly found: FoundDefinition | undefined } {
  let found = known,
    offset = 0
  while (text[offset] === '[') {
    definition.lastIndex = offset
    const match = definition.exec(text)
    const label = match?.[1]?.trim()
    if (match === null || label === undefined || label === '') break
    found = { label: normaliseLabel(label), destination: unescapeText(match[2] ?? match[3] ?? ''), earlier: found }
    offset += match[0].length
  }
  return { rest: text.slice(offset), found }
}

/** Builds the look-up table. The first definition of a label wins. */
export function definitionsOf(found: FoundDefinition | undefined): Definitions {
  if (found === undefined) return noDefinitions
  const definitions = new Map<string, string>()
  for (let one: FoundDefinition | undefined = found; one !== undefined; one = one.earlier)
    definitions.set(one.label, one.destination)
  return definitions
}

/** Selects the definitions that the text may use, so a late definition changes only texts that use it. */
export function definitionsFor(text: string, definitions: Definitions): Definitions {
  if (definitions.size === 0 || !text.includes('[')) return noDefinitions
  const used = new Map<string, string>()
  for (const match of text.matchAll(/\[((?:[^[\]\\]|\\.){1,999})\]/gs)) {
    const label = normaliseLabel(match[1] ?? ''),
      destination = definitions.get(label)
    if (destination !== undefined) used.set(label, destination)
  }
  return used.size === 0 ? noDefinitions : used
}
