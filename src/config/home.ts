import { isAbsolute, join, resolve } from 'node:path'
import type { Environment } from './resolve-provider.ts'

/** The service has no place for its files. */
export class HomeError extends Error {
  override readonly name = 'HomeError'
}

/** The folder that holds everything of this service, and what lies where in it. Absolute paths; nothing need exist yet. */
export interface Home {
  readonly folder: string
  /** `providers.json` */
  readonly providers: string
  /** `cache/models`: the model lists providers answered with. */
  readonly modelsCache: string
}

/** `SVC_HOME`, else `.svc` in the home directory (docs/commands.md). @throws {HomeError} when neither is known */
export function findHome(environment: Environment): Home {
  const folder = homeFolder(environment)
  return { folder, providers: join(folder, 'providers.json'), modelsCache: join(folder, 'cache', 'models') }
}

/** An extension's configuration file (docs/sign-in.md). @throws {HomeError} when the home folder is not known */
export function extensionFile(environment: Environment, name: string): string {
  return join(homeFolder(environment), 'users', 'default', name, 'config.json')
}

function homeFolder(environment: Environment): string {
  const own = environment['SVC_HOME']
  if (own !== undefined && own !== '') return expandTilde(own, environment)
  return join(userHome(environment, 'set SVC_HOME to a folder for the files of svc'), '.svc')
}

function expandTilde(path: string, environment: Environment): string {
  if (path !== '~' && !path.startsWith('~/')) return resolve(path)
  return join(userHome(environment, `SVC_HOME is "${path}", write the whole path`), path.slice(1))
}

/** Containers and Windows do not set HOME; the latter sets USERPROFILE. */
function userHome(environment: Environment, advice: string): string {
  const home = environment['HOME'] || environment['USERPROFILE']
  if (home === undefined || home === '') throw new HomeError(`HOME is not set: ${advice}`)
  if (!isAbsolute(home)) throw new HomeError(`HOME is not an absolute path: ${advice}`)
  return home
}
