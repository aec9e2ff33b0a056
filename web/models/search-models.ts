import type { ModelEntry } from '../../src/http/page-api.ts'
import { isFree, takesImages } from './describe-model.ts'

/** Which models are looked at at all. */
export interface ModelFilters {
  /** Those that cost nothing where they are asked first. */
  readonly isFree: boolean
  /** Those that take pictures. */
  readonly takesImages: boolean
  /** Those that this provider serves. */
  readonly provider?: string
}

/** What is looked for. */
export interface ModelQuery {
  readonly text: string
  readonly filters: ModelFilters
  readonly favourites: readonly string[]
  /** The latest first. */
  readonly recent: readonly string[]
}

/** Why a model stands where it does. */
export type ModelGroup = 'favourites' | 'recent' | 'others' | 'found'

/** A model that was found. */
export interface FoundModel {
  readonly entry: ModelEntry
  readonly group: ModelGroup
}

/** Everything. */
export const noFilters: ModelFilters = { isFree: false, takesImages: false }

/**
 * The models that match, the best first. Every word must be in the name, or in that of a provider or an upstream's
 * model. By name: the whole of it, then its beginning, beginnings of words in it, anywhere in it, and without its
 * hyphens and dots; last those found by their providers. Among equals favourites come first. Without words: favourites,
 * then recent ones, then the others in their order.
 */
export function searchModels(models: readonly ModelEntry[], query: ModelQuery): readonly FoundModel[] {
  const { favourites, filters, recent } = query
  const text = query.text.trim().toLowerCase()
  const wanted = models.filter((model) => passes(model, filters))
  if (text === '') return inGroups(wanted, favourites, recent)
  const liked = new Set(favourites),
    words = text.split(/\s+/)
  return wanted
    .map((entry) => ({ entry, rank: rankOf(entry, text, words) }))
    .filter(({ rank }) => rank < ranks.none)
    .toSorted(
      (one, other) => one.rank - other.rank || Number(liked.has(other.entry.name)) - Number(liked.has(one.entry.name)),
    )
    .map(({ entry }) => ({ entry, group: 'found' }))
}

/** The providers that serve something, in the order in which they are asked, as far as the models show it. */
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
  favourites: readonly string[],
  recent: readonly string[],
): readonly FoundModel[] {
  const byName = new Map(models.map((entry) => [entry.name, entry]))
  const liked = new Set(favourites),
    latest = recent.filter((name) => !liked.has(name)),
    above = new Set([...favourites, ...latest])
  const named = (names: readonly string[], group: ModelGroup) =>
    names.flatMap((name) => {
      const entry = byName.get(name)
      return entry === undefined ? [] : [{ entry, group }]
    })
  const others = models.filter(({ name }) => !above.has(name))
  return [
    ...named(favourites, 'favourites'),
    ...named(latest, 'recent'),
    ...others.map((entry) => ({ entry, group: 'others' as const })),
  ]
}

const ranks = { exact: 0, prefix: 1, word: 2, substring: 3, squeezed: 4, elsewhere: 5, none: 6 } as const

function rankOf({ name, offers }: ModelEntry, text: string, words: readonly string[]): number {
  const known = name.toLowerCase()
  if (known === text) return ranks.exact
  if (known.startsWith(text)) return ranks.prefix
  const squeezed = squeeze(known)
  const elsewhere = offers
    .map(({ provider, upstream }) => `${provider} ${upstream}`)
    .join(' ')
    .toLowerCase()
  return words.reduce<number>(
    (worst, word) => Math.max(worst, rankOfWord(word, known, squeezed, elsewhere)),
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

/** Letters and digits alone: `gpt4o` is `gpt-4o`. */
function squeeze(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '')
}
