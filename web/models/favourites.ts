import { storedNames } from './stored-names.ts'
import type { NameKeeper, StoredNames } from './stored-names.ts'

/** A person has at most this many favourites. */
export const favouritesMax = 200
const recentMax = 5

/** Names of the models somebody likes best, the latest last. @param userId who; absent: nobody signs in here */
export function favouriteModels(userId: string | undefined, keeper?: NameKeeper): StoredNames {
  return storedNames(`svc.favourite-models.${userId ?? 'anon'}`, favouritesMax, keeper)
}

/** Names of the models somebody chose last, the latest first, at most five. @param userId as in {@link favouriteModels} */
export function recentModels(userId: string | undefined, keeper?: NameKeeper): StoredNames {
  return storedNames(`svc.recent-models.${userId ?? 'anon'}`, recentMax, keeper)
}

/** What became of a favourite. */
export type Toggled = 'added' | 'removed' | 'full' | 'not-kept'

/** Makes it a favourite, or no longer one. */
export function toggleFavourite(favourites: StoredNames, name: string): Toggled {
  const names = favourites.get()
  const isFavourite = names.includes(name)
  if (!isFavourite && names.length >= favouritesMax) return 'full'
  const next = isFavourite ? names.filter((each) => each !== name) : [...names, name]
  if (!favourites.set(next)) return 'not-kept'
  return isFavourite ? 'removed' : 'added'
}

/** Puts it before the others that were chosen. */
export function noteChosen(recent: StoredNames, name: string): void {
  recent.set([name, ...recent.get()])
}
