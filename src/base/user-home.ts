import { isAbsolute } from 'node:path'

/** The home folder of the service is not known. */
export class HomeError extends Error {
  override readonly name = 'HomeError'
}

/**
 * The user's home directory. Windows sets USERPROFILE instead of HOME; containers may set neither.
 *
 * @param advice the end of the error's message
 * @throws {HomeError} when it is not known
 */
export function userHome(environment: Readonly<Record<string, string | undefined>>, advice: string): string {
  const home = environment['HOME'] || environment['USERPROFILE']
  if (home === undefined || home === '') throw new HomeError(`HOME is not set: ${advice}`)
  if (!isAbsolute(home)) throw new HomeError(`HOME is not an absolute path: ${advice}`)
  return home
}
