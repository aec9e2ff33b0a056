import { unescapeText } from './escapes.ts'

/** Destinations by normalised label, for links such as `[text][label]`. */
export type Definitions = ReadonlyMap<string, string>

/** Definitions as they are found, the latest first. */
export interface FoundDefinition {
  readonly label: string
  readonly destination: string
  readonly earlier: FoundDefinition | undefined
}

/** No definitions. */
export const noDefinitions: Definitions = new Map()

// A label of at most 999 characters; `[^1]:` is a footnote of other dialects, and stays as it is. A title is read over.
// Sticky, and nothing in it can be read in two ways, so that it takes linear time.
const definition =
  /\[(?!\^)((?:[^[\]\\]|\\.){1,999})\]:[ \t]*(?:\n[ \t]*)?(?:<([^<>\n]*)>|([^\s<]\S*))(?:[ \t]*(?:\n[ \t]*)?(?<=\s)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ \t]*(?:\n|$)/sy

/** The same text for labels that mean the same (CommonMark 0.31, section 4.7). */
export function normaliseLabel(label: string): string {
  // Twice, because some letters have several small forms or no capital of their own.
  return label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase().toLowerCase()
}

/** Takes the definitions from the beginning of a paragraph. */
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

/** A table of what was found; the first definition of a label counts. */
export function definitionsOf(found: FoundDefinition | undefined): Definitions {
  if (found === undefined) return noDefinitions
  const definitions = new Map<string, string>()
  for (let one: FoundDefinition | undefined = found; one !== undefined; one = one.earlier)
    definitions.set(one.label, one.destination)
  return definitions
}

/** The definitions that the text may use. So a definition that comes late touches only what uses it. */
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
