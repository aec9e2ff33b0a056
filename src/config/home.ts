import { join, resolve } from 'node:path'
import { userHome } from '../base/user-home.ts'
import type { Environment } from './file/environment.ts'

/** The folder for the files of the service. Absolute paths, which may not exist yet. */
export interface Home {
  readonly folder: string
  /** `providers.json` */
  readonly providers: string
  /** `keys.env`: keys of providers, by the names of variables. */
  readonly keysEnv: string
  /** `prices.json` */
  readonly prices: string
  /** `prices.fetched.json`: the list that `svc prices update` fetched. */
  readonly fetchedPrices: string
  /** `presets.json` */
  readonly presets: string
  /** `access.json` */
  readonly access: string
  /** `cache/models`, or `models` below SVC_CACHE: model lists of providers. */
  readonly modelsCache: string
  /** `svc.db`: keys, and sums of use. */
  readonly ledger: string
  /** `chat/last.json`: the last conversation of `svc chat`. */
  readonly lastConversation: string
  /** `logins.json`: tokens of `svc login`. */
  readonly logins: string
  /** `keys.cache`, also below SVC_CACHE: a copy of the keys in a PostgreSQL database. */
  readonly keysCache: string
  /** `run`: the sockets at which running services listen for commands. */
  readonly sockets: string
}

/** Finds `SVC_HOME`, else `.svc` in the home directory (docs/commands.md). @throws {HomeError} when neither is known */
export function findHome(environment: Environment): Home {
  const folder = homeFolder(environment)
  const cache = namedFolder(environment, 'SVC_CACHE')
  return {
    folder,
    providers: join(folder, 'providers.json'),
    keysEnv: join(folder, 'keys.env'),
    prices: join(folder, 'prices.json'),
    fetchedPrices: join(folder, 'prices.fetched.json'),
    presets: join(folder, 'presets.json'),
    access: join(folder, 'access.json'),
    modelsCache: join(cache ?? join(folder, 'cache'), 'models'),
    ledger: join(folder, 'svc.db'),
    lastConversation: join(folder, 'chat', 'last.json'),
    logins: join(folder, 'logins.json'),
    keysCache: join(cache ?? folder, 'keys.cache'),
    sockets: join(folder, 'run'),
  }
}

/** The path of access.json (docs/limits.md); undefined without a home folder. */
export function accessFile(environment: Environment): string | undefined {
  try {
    return findHome(environment).access
  } catch {
    return undefined
  }
}

/** The path of an extension's configuration file (docs/sign-in.md). @throws {HomeError} without a home folder */
export function extensionFile(environment: Environment, name: string): string {
  return join(homeFolder(environment), 'users', 'default', name, 'config.json')
}

function homeFolder(environment: Environment): string {
  const hint = 'set SVC_HOME to a folder for the files of svc'
  return namedFolder(environment, 'SVC_HOME') ?? join(userHome(environment, hint), '.svc')
}

/** The folder that a variable names, `~` standing for the home directory. */
function namedFolder(environment: Environment, variable: string): string | undefined {
  const path = environment[variable]
  if (path === undefined || path === '') return undefined
  if (path !== '~' && !path.startsWith('~/')) return resolve(path)
  return join(userHome(environment, `${variable} is "${path}", write an absolute path`), path.slice(1))
}
