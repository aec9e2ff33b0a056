import type { ModelEntry, ModelOffer } from '../../src/http/page-api.ts'
import { searchModels } from './search-models.ts'
import type { ModelGroup, ModelQuery } from './search-models.ts'

/** One line of the picker, and the name that choosing it asks for. */
export type PickerRow =
  | {
      readonly kind: 'model'
      readonly name: string
      readonly group: ModelGroup
      readonly entry: ModelEntry
      readonly isExpanded: boolean
    }
  /** A model of one provider alone: `groq/llama`. */
  | { readonly kind: 'pin'; readonly name: string; readonly entry: ModelEntry; readonly offer: ModelOffer }
  /** What was typed, as it is. */
  | { readonly kind: 'typed'; readonly name: string }

type PinRow = Extract<PickerRow, { kind: 'pin' }>

/** What is shown for a query. */
export interface PickerRows {
  readonly rows: readonly PickerRow[]
  /** How many match. */
  readonly count: number
  /** How many of them are not among the rows. */
  readonly hidden: number
}

/** @param limit how many models are shown at most @param expanded name of the model whose providers are shown */
export function pickerRows(
  models: readonly ModelEntry[],
  query: ModelQuery,
  limit: number,
  expanded: string | undefined,
): PickerRows {
  const found = searchModels(models, query)
  const names = new Set(models.map(({ name }) => name.toLowerCase()))
  const listed = found.slice(0, limit).flatMap(({ entry, group }): PickerRow[] => {
    const isExpanded = entry.name === expanded
    return [{ kind: 'model', name: entry.name, group, entry, isExpanded }, ...(isExpanded ? pinsOf(entry, names) : [])]
  })
  const pins = typedPins(models, query.text, names, limit).filter(
    (pin) => !listed.some(({ name }) => name === pin.name),
  )
  const known = isName(query.text, pins[0]) ? [...pins, ...listed] : [...listed, ...pins]
  return {
    rows: [...known, ...typedRow(query.text, names, known)],
    count: found.length + pins.length,
    hidden: Math.max(0, found.length - limit),
  }
}

/** Where a key leads from a row, if it leads anywhere. @param at place of the row now */
export function moved(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined
  const last = count - 1
  switch (key) {
    case 'ArrowDown':
      return at >= last ? 0 : at + 1
    case 'ArrowUp':
      return at <= 0 ? last : at - 1
    case 'PageDown':
      return Math.min(last, at + pageRows)
    case 'PageUp':
      return Math.max(0, at - pageRows)
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return undefined
  }
}

const pageRows = 8

/** The model with each of its providers alone. A model of that very name would be asked instead: then there is no pin. */
function pinsOf(entry: ModelEntry, names: ReadonlySet<string>): readonly PinRow[] {
  return entry.offers.flatMap((offer) => {
    const name = `${offer.provider}/${entry.name}`
    return names.has(name.toLowerCase()) ? [] : [{ kind: 'pin' as const, name, entry, offer }]
  })
}

/** `groq/lla`: what of groq begins so, or contains it. */
function typedPins(
  models: readonly ModelEntry[],
  typed: string,
  names: ReadonlySet<string>,
  limit: number,
): readonly PinRow[] {
  const text = typed.trim().toLowerCase(),
    slash = text.indexOf('/')
  if (slash < 1) return []
  const provider = text.slice(0, slash),
    rest = text.slice(slash + 1)
  const matching = models.filter(
    ({ name, offers }) =>
      name.toLowerCase().includes(rest) && offers.some((offer) => offer.provider.toLowerCase() === provider),
  )
  return matching
    .toSorted((one, other) => startRank(one.name, rest) - startRank(other.name, rest))
    .slice(0, limit)
    .flatMap((entry) => pinsOf(entry, names).filter(({ offer }) => offer.provider.toLowerCase() === provider))
}

function startRank(name: string, text: string): number {
  const known = name.toLowerCase()
  if (known === text) return 0
  return known.startsWith(text) ? 1 : 2
}

function isName(text: string, row: PickerRow | undefined): boolean {
  return row !== undefined && row.name.toLowerCase() === text.trim().toLowerCase()
}

const nameCharactersMax = 256
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/

/**
 * Providers may serve what they do not list. Nothing where the text is a model or one of the rows, or can be no name at
 * all (docs/api.md).
 */
function typedRow(text: string, names: ReadonlySet<string>, rows: readonly PickerRow[]): readonly PickerRow[] {
  const name = text.trim()
  if (
    name === '' ||
    Array.from(name).length > nameCharactersMax ||
    controlCharacters.test(name) ||
    !name.isWellFormed()
  )
    return []
  if (names.has(name.toLowerCase()) || rows.some((row) => isName(name, row))) return []
  return [{ kind: 'typed', name }]
}

/** Rows that belong together. */
export interface PickerSection {
  /** Absent where there is one kind of rows only. */
  readonly heading?: string
  /** Place of its first row. */
  readonly start: number
  readonly rows: readonly PickerRow[]
}

const headings: Readonly<Record<ModelGroup, string>> = {
  favourites: 'Favourites',
  recent: 'Recent',
  others: 'All models',
  found: '',
}

/** Rows under headings, where there is more than one kind of them. */
export function sectionsOf(rows: readonly PickerRow[]): readonly PickerSection[] {
  const starts = rows.flatMap((row, index) =>
    index === 0 || (row.kind === 'model' && row.group !== groupBefore(rows, index)) ? [index] : [],
  )
  return starts.map((start, index) => {
    const [first] = rows.slice(start, start + 1)
    const heading = starts.length > 1 && first?.kind === 'model' ? headings[first.group] : ''
    return { start, rows: rows.slice(start, starts[index + 1]), ...(heading === '' ? {} : { heading }) }
  })
}

function groupBefore(rows: readonly PickerRow[], index: number): ModelGroup | undefined {
  const before = rows[index - 1]
  if (before?.kind === 'model') return before.group
  return before === undefined ? undefined : groupBefore(rows, index - 1)
}
