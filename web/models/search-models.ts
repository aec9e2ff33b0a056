import type { ModelEntry } from '../../src/http/page/page-api.ts'
import { isFree, takesImages } from './describe-model.ts'
import { makerOf } from './model-makers.ts'

/** Filters of the model list. */
export interface ModelFilters {
  /** Only models that every provider serves for free. */
  readonly isFree: boolean
  /** Only models that accept images. */
  readonly takesImages: boolean
  /** Only models of this provider. */
  readonly provider?: string
}

/** A search. */
export interface ModelQuery {
  readonly text: string
  readonly filters: ModelFilters
  readonly favourites: readonly string[]
  /** The newest first. */
  readonly recent: readonly string[]
  /** Without words, models that are neither favourites nor recent are in a group for each maker. */
  readonly isByMaker?: boolean
}

/** The section of a found model. */
export type ModelGroup = 'favourites' | 'recent' | 'others' | 'found'

/** A matching model. */
export interface FoundModel {
  readonly entry: ModelEntry
  readonly group: ModelGroup
  /** Of models in the groups of makers; `undefined`: it is unknown. */
  readonly maker?: string | undefined
}

/** Matches every model. */
export const noFilters: ModelFilters = { isFree: false, takesImages: false }

/**
 * Returns the matching models, the best first. Every word must occur in the model's name, a provider's name or an
 * upstream model name. Rank by name: exact, prefix, word prefixes, substring, ignoring punctuation; then matches of
 * providers. Favourites come first within a rank. Without words: favourites, recent models, then the others in list
 * order, or by makers.
 */
export function searchModels(models: readonly ModelEntry[], query: ModelQuery): readonly FoundModel[] {
  const { favourites, filters } = query
  const text = query.text.trim().toLowerCase()
  const wanted = models.filter((model) => passes(model, filters))
  if (text === '') return inGroups(wanted, query)
  const favouriteNames = new Set(favourites),
    words = text.split(/\s+/)
  return wanted
    .map((entry) => ({ entry, rank: rankOf(entry, text, words) }))
    .filter(({ rank }) => rank < ranks.none)
    .toSorted(
      (one, other) =>
        one.rank - other.rank ||
        Number(favouriteNames.has(other.entry.name)) - Number(favouriteNames.has(one.entry.name)),
    )
    .map(({ entry }) => ({ entry, group: 'found' }))
}

/** Returns the providers in order of failover, as far as the models show it. */
export function providersOf(models: readonly ModelEntry[]): readonly string[] {
  return [...new Set(models.flatMap(({ offers }) => offers.map(({ provider }) => provider)))]
}

function passes(model: ModelEntry, { isFree: onlyFree, takesImages: onlyImages, provider }: ModelFilters): boolean {
  if (onlyFree && !isFree(model)) return false
  if (onlyImages && !takesImages(model)) return false
  return provider === undefined || model.offers.some((offer) => offer.provider === provider)
}

function inGroups(
  models: readonly ModelEntry[],
  { favourites, recent, isByMaker = false }: ModelQuery,
): readonly FoundModel[] {
  const byName = new Map(models.map((entry) => [entry.name, entry]))
  const favouriteNames = new Set(favourites),
    latest = recent.filter((name) => !favouriteNames.has(name)),
    above = new Set([...favourites, ...latest])
  const named = (names: readonly string[], group: ModelGroup) =>
    names.flatMap((name) => {
      const entry = byName.get(name)
      return entry === undefined ? [] : [{ entry, group }]
    })
  const others = models
    .filter(({ name }) => !above.has(name))
    .map((entry) => ({ entry, group: 'others' as const, ...(isByMaker ? { maker: makerOf(entry.name) } : {}) }))
  return [...named(favourites, 'favourites'), ...named(latest, 'recent'), ...(isByMaker ? byMaker(others) : others)]
}

/** Makers in the order of their first models, those without a known one last. */
function byMaker(models: readonly FoundModel[]): readonly FoundModel[] {
  const groups = Map.groupBy(models, ({ maker }) => maker)
  const unknown = groups.get(undefined) ?? []
  groups.delete(undefined)
  return [...[...groups.values()].flat(), ...unknown]
}

const ranks = { exact: 0, prefix: 1, word: 2, substring: 3, squeezed: 4, elsewhere: 5, none: 6 } as const

function rankOf({ name, offers }: ModelEntry, text: string, words: readonly string[]): number {
  const lowerName = name.toLowerCase()
  if (lowerName === text) return ranks.exact
  if (lowerName.startsWith(text)) return ranks.prefix
  const squeezed = squeeze(lowerName)
  const elsewhere = offers
    .map(({ provider, upstream }) => `${provider} ${upstream}`)
    .join(' ')
    .toLowerCase()
  return words.reduce<number>(
    (worst, word) => Math.max(worst, rankOfWord(word, lowerName, squeezed, elsewhere)),
    ranks.word,
  )
}

function rankOfWord(word: string, name: string, squeezed: string, elsewhere: string): number {
  if (startsWord(name, word)) return ranks.word
  if (name.includes(word)) return ranks.substring
  const plain = squeeze(word)
  if (plain !== '' && squeezed.includes(plain)) return ranks.squeezed
  return elsewhere.includes(word) ? ranks.elsewhere : ranks.none
}

function startsWord(name: string, word: string): boolean {
  for (let at = name.indexOf(word); at !== -1; at = name.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(name.charAt(at - 1))) return true
  }
  return false
}

/** Letters and digits only: `gpt-4o` becomes `gpt4o`. */
function squeeze(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '')
}
