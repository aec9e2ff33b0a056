import type { Environment } from '../config/file/environment.ts'
import { findHome } from '../config/home.ts'
import { descriptorWriter } from '../observe/descriptor-writer.ts'
import { logger, type LogLevel, type Logger } from '../observe/log.ts'

/** Flags of `svc serve`, or their environment variables (docs/commands.md). */
export interface ServeOptions {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** Where only metrics are served. `undefined`: nowhere. */
  readonly metricsPort: { readonly host: string; readonly port: number } | undefined
  /** Path of providers.json; `undefined`: the one in the home folder, or detected providers. */
  readonly config: string | undefined
  /** Names of extensions; `undefined`: those of `auth` in providers.json. */
  readonly auth: readonly string[] | undefined
  /** `undefined`: a single process. */
  readonly workers: number | undefined
  /** `memory` or a Redis URL; `undefined`: memory. */
  readonly store: string | undefined
  readonly logLevel: LogLevel
  readonly logFormat: 'auto' | 'human' | 'json'
}

/** The process a service runs in: its environment, its output, and the signal that ends it. */
export interface ServeProcess {
  readonly environment: Environment
  readonly stdout: { write(text: string): void }
  readonly stderr: { readonly isTerminal: boolean; readonly hasColour: boolean }
  /** Aborts when the process is asked to end. The reason is the signal's name. */
  readonly signal: AbortSignal
  /** Called with the service's log as soon as it exists. */
  readonly logging?: (log: Logger) => void
}

/** Start parameters of every process of a service. */
export interface ServeContext {
  readonly given: ServeOptions
  readonly environment: Environment
  /** Path of providers.json, which need not exist. */
  readonly path: string
  readonly log: Logger
  /** Folder of cached model lists; `undefined` without a home folder. */
  readonly modelsCache: string | undefined
}

/** Opens the log and finds the files of a service. @throws {HomeError} when there is no home, and no file is named */
export function serveContext(
  given: ServeOptions,
  { environment, stderr, logging }: Pick<ServeProcess, 'environment' | 'stderr' | 'logging'>,
): ServeContext {
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

function modelsCacheOf(environment: Environment): string | undefined {
  try {
    return findHome(environment).modelsCache
  } catch {
    return undefined // Without a home there is no cache.
  }
}

/** Resolves when the signal aborts, or has aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
