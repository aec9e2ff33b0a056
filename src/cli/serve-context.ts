import { findHome } from '../config/home.ts'
import { descriptorWriter } from '../observe/descriptor-writer.ts'
import { logger, type Logger } from '../observe/log.ts'
import type { FlagValues } from './arguments.ts'
import type { CommandContext } from './command.ts'
import {
  authFlag,
  configFlag,
  hostFlag,
  logFormatFlag,
  logLevelFlag,
  portFlag,
  storeFlag,
  workersFlag,
} from './flags.ts'

/** The flags of `svc serve`. */
export const serveFlags = {
  host: hostFlag,
  port: portFlag,
  config: configFlag,
  auth: authFlag,
  workers: workersFlag,
  store: storeFlag,
  logLevel: logLevelFlag,
  logFormat: logFormatFlag,
}

/** What every process of a service is started with. */
export interface ServeContext {
  readonly given: FlagValues<typeof serveFlags>
  readonly environment: CommandContext['environment']
  /** Where providers.json is, or would be. */
  readonly path: string
  readonly log: Logger
  /** Absent: there is no home to keep it in. */
  readonly modelsCache: string | undefined
}

/** What the flags and the environment say. @throws {HomeError} when there is no home, and no file is named */
export function serveContext({
  flags: given,
  environment,
  stderr,
  logging,
}: CommandContext<typeof serveFlags>): ServeContext {
  const { logLevel, logFormat } = given
  const format = logFormat === 'auto' ? (stderr.isTerminal ? 'human' : 'json') : logFormat
  const log = logger({
    level: logLevel,
    format,
    write: descriptorWriter(2, { isShared: given.workers !== undefined }),
    hasColour: stderr.hasColour,
  })
  logging?.(log)
  return {
    given,
    environment,
    path: given.config ?? findHome(environment).providers,
    log,
    modelsCache: modelsCacheOf(environment),
  }
}

function modelsCacheOf(environment: CommandContext['environment']): string | undefined {
  try {
    return findHome(environment).modelsCache
  } catch {
    return undefined // Without a home there is no cache.
  }
}
