import type { ValueStorage } from '../stored-value.ts'
import { storedNames, type StoredNames } from './stored-names.ts'

/** Number of favourites per user. */
export const favouritesMax = 200

/** Names of a user's favourite models, the newest last. @param userId absent without sign-in */
export function favouriteModels(userId: string | undefined, storage?: ValueStorage): StoredNames {
  return storedNames(`svc.favourite-models.${userId ?? 'anon'}`, favouritesMax, storage)
}

/** Outcome of {@link toggleFavourite}. */
export type Toggled = 'added' | 'removed' | 'full' | 'not-stored'

/** Adds or removes a favourite. */
export function toggleFavourite(favourites: StoredNames, name: string): Toggled {
  const names = favourites.get()
  const isFavourite = names.includes(name)
  if (!isFavourite && names.length >= favouritesMax) return 'full'
  const next = isFavourite ? names.filter((each) => each !== name) : [...names, name]
  if (!favourites.set(next)) return 'not-stored'
  return isFavourite ? 'removed' : 'added'
}
