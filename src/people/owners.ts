import { hasName, isNamedBy, type Person } from './person.ts'

/** The users named by `owners` of the configuration. */
export interface Owners {
  /** User names. */
  readonly names: readonly string[]
  /** User ids, of entries such as `id:583231`. */
  readonly ids: readonly string[]
}

/**
 * Whether a person may change the providers and see the requests of all users. Ids are compared exactly.
 *
 * @param owners `undefined`: everyone is an owner
 * @param person `undefined`: without sign-in
 */
export function isOwner(owners: Owners | undefined, person: Person | undefined): boolean {
  if (owners === undefined) return true
  if (person === undefined || person.name === '') return false
  const { accountId } = person
  return (
    (accountId !== undefined && owners.ids.some((id) => id.startsWith(accountId) && isNamedBy(`id:${id}`, person))) ||
    owners.names.some((name) => hasName(person, name))
  )
}
