import type { ValueStorage } from '../stored-value.ts'
import { storedNames, type StoredNames } from './stored-names.ts'

const recentMax = 5

/** Names of the models a user selected last, the newest first, at most five. @param userId absent without sign-in */
export function recentModels(userId: string | undefined, storage?: ValueStorage): StoredNames {
  return storedNames(`svc.recent-models.${userId ?? 'anon'}`, recentMax, storage)
}

/** Moves a model to the front of the recent ones. */
export function addRecent(recent: StoredNames, name: string): void {
  recent.set([name, ...recent.get()])
}
