import type { ModelEntry, ModelOffer } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { searchModels, type ModelGroup, type ModelQuery } from './search-models.ts'

/** A row of the picker. `name` is the model name that choosing it selects. */
export type PickerRow =
  | {
      readonly kind: 'model'
      readonly name: string
      readonly group: ModelGroup
      readonly maker?: string | undefined
      readonly entry: ModelEntry
      readonly isExpanded: boolean
    }
  /** A model pinned to one provider: `groq/llama`. */
  | { readonly kind: 'pin'; readonly name: string; readonly entry: ModelEntry; readonly offer: ModelOffer }
  /** The typed text as a model name. */
  | { readonly kind: 'typed'; readonly name: string }

type PinRow = Extract<PickerRow, { kind: 'pin' }>

/** Rows for a query. */
export interface PickerRows {
  readonly rows: readonly PickerRow[]
  /** Number of matches. */
  readonly count: number
  /** Number of matches beyond the limit. */
  readonly hidden: number
}

/**
 * Returns the rows for a query.
 *
 * @param limit maximum number of models
 * @param expanded name of the model whose providers are shown
 */
export function pickerRows(
  models: readonly ModelEntry[],
  query: ModelQuery,
  limit: number,
  expanded: string | undefined,
): PickerRows {
  const found = searchModels(models, query)
  const names = new Set(models.map(({ name }) => name.toLowerCase()))
  const listed = found.slice(0, limit).flatMap(({ entry, ...place }): PickerRow[] => {
    const isExpanded = entry.name === expanded
    return [
      { kind: 'model', name: entry.name, ...place, entry, isExpanded },
      ...(isExpanded ? pinsOf(entry, names) : []),
    ]
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

/** Returns the row that a navigation key leads to; `undefined` for other keys. @param at index of the current row */
export function nextRow(key: string, at: number, count: number): number | undefined {
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

/**
 * Rows that pin the model to each of its providers. A model with the same name takes precedence, so there is no pin for
 * it.
 */
function pinsOf(entry: ModelEntry, names: ReadonlySet<string>): readonly PinRow[] {
  return entry.offers.flatMap((offer) => {
    const name = `${offer.provider}/${entry.name}`
    return names.has(name.toLowerCase()) ? [] : [{ kind: 'pin' as const, name, entry, offer }]
  })
}

/**
 * Rows for a typed pin such as `groq/lla`: the provider's models that contain the rest, those that start with it first.
 */
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
 * A row for the typed text, since providers may serve unlisted models. Empty if the text matches a model or a row, or
 * is not a valid name (docs/api.md).
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

/** Consecutive rows under one heading. */
export interface PickerSection {
  /** Absent if all rows are of one group. */
  readonly heading?: string
  /** Index of the first row. */
  readonly start: number
  readonly rows: readonly PickerRow[]
}

const headings: Readonly<Record<ModelGroup, string>> = {
  favourites: say.models.favourites,
  recent: say.models.recent,
  others: say.models.allModels,
  found: '',
}

/** Splits rows into sections by group. */
export function sectionsOf(rows: readonly PickerRow[]): readonly PickerSection[] {
  const starts = rows.flatMap((row, index) =>
    index === 0 || (row.kind === 'model' && headingOf(row) !== headingBefore(rows, index)) ? [index] : [],
  )
  return starts.map((start, index) => {
    const [first] = rows.slice(start, start + 1)
    const heading = starts.length > 1 && first?.kind === 'model' ? headingOf(first) : ''
    return { start, rows: rows.slice(start, starts[index + 1]), ...(heading === '' ? {} : { heading }) }
  })
}

function headingOf(row: Extract<PickerRow, { kind: 'model' }>): string {
  return 'maker' in row ? (row.maker ?? say.models.otherMakers) : headings[row.group]
}

function headingBefore(rows: readonly PickerRow[], index: number): string | undefined {
  const before = rows[index - 1]
  if (before?.kind === 'model') return headingOf(before)
  return before === undefined ? undefined : headingBefore(rows, index - 1)
}
