import type { User } from '../../src/http/page-api.ts'

/** What somebody is called: by the name they gave, else by their user name. */
export function displayNameOf({ displayName, userName }: Pick<User, 'displayName' | 'userName'>): string {
  return displayName.trim() === '' ? userName : displayName
}
