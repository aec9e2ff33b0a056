import { ConfigError, type Config } from '../../config/config.ts'
import type { Contribution } from '../../extensions/extension.ts'
import { haveKeys } from '../check-access.ts'

/**
 * Checks that owners are named where keys and sign-in are both on. Without `owners` every signed-in user is an owner,
 * and could make keys of any kind.
 *
 * @throws {ConfigError}
 */
export function checkOwnersNamed(
  { owners }: Pick<Config, 'owners'>,
  contributions: readonly Contribution[],
  file: string,
): void {
  const hasKeys = haveKeys(contributions)
  const hasSignIn = contributions.some(({ guard }) => guard !== undefined)
  if (owners !== undefined || !hasKeys || !hasSignIn) return
  const allowed = 'names of users, or []: with keys and sign-in on, the owners must be named, since they may make keys'
  throw new ConfigError([{ file, field: 'owners', found: 'nothing', allowed }])
}
