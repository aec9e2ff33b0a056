import type { User } from '../../src/http/page/page-api.ts'

/** Returns a user's display name; the user name if it is blank. */
export function displayNameOf({ displayName, userName }: Pick<User, 'displayName' | 'userName'>): string {
  return displayName.trim() === '' ? userName : displayName
}
