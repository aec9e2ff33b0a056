import { resolve } from 'node:path'
import { isOwner } from '../config/owners.ts'
import type { Environment } from '../config/resolve-provider.ts'
import { bootRoute } from '../http/boot.ts'
import { modelsApi } from '../http/models-api.ts'
import { ownerCheck } from '../http/own-pages.ts'
import { pageRoutes } from '../http/page-files.ts'
import type { Guard } from '../http/pass-guards.ts'
import { providersApi } from '../http/providers-api.ts'
import { requestsApi } from '../http/requests-api.ts'
import type { Route } from '../http/route.ts'
import type { UnderWay } from '../http/under-way.ts'
import type { Logger } from '../observe/log.ts'
import type { Observer } from '../observe/observer.ts'
import type { Surroundings } from './assemble.ts'
import type { ConfigInForce } from './config-in-force.ts'
import { findPage } from './page-build.ts'
import { packageVersion, programName } from './process.ts'
import { providerAdmin } from './provider-admin.ts'
import type { RunningExtensions } from './run-extensions.ts'
import type { ServeTimers } from './timers.ts'

/** What {@link servePage} needs of the service around the page. */
export interface ServePageOptions {
  /** Where providers.json is, or would be. */
  readonly path: string
  readonly environment: Environment
  readonly inForce: ConfigInForce
  readonly surroundings: Surroundings
  readonly observer: Observer
  /** Those who follow the requests. */
  readonly followers: UnderWay
  readonly extensions: RunningExtensions
  /** Those in force. */
  readonly guards: () => readonly Guard[]
  readonly isClosing: () => boolean
  /** Settles when the service listens: what the page takes must hold nobody up. */
  readonly listening: Promise<void>
  /** Has the page built where that is to be done. */
  readonly buildPage: () => Promise<void>
  readonly timers: ServeTimers
  readonly log: Logger
}

/** The page, what it consists of, and the API below `/api/` that is there for it (docs/decisions/0008-the-page.md). */
export function servePage({
  path,
  environment,
  inForce,
  surroundings,
  observer,
  followers,
  extensions,
  guards,
  isClosing,
  listening,
  buildPage,
  timers,
  log,
}: ServePageOptions) {
  const file = resolve(path)
  const mayOwn = (user: string | undefined): boolean => isOwner(inForce.config.owners, user)
  const isAnOwner = ownerCheck(() => guards().length > 0, mayOwn)
  const notice = () => inForce.notice
  const built = listening.then(() => findPage(log, buildPage))
  const { front, routes } = pageRoutes({ files: () => built, hasAvatars: () => guards().length > 0 })
  const admin = providerAdmin({
    file,
    environment,
    surroundings,
    log,
    notice,
    program: programName(environment),
    config: () => inForce.config,
    gateway: () => inForce.gateway,
    reload: () => inForce.reload(),
    attemptsAt: (providers) => observer.attempts(providers),
    now: Date.now,
  })
  const all: readonly Route[] = [
    ...routes,
    bootRoute({
      version: packageVersion(),
      guards,
      mayOwn,
      parts: () => extensions.parts,
      moduleOf: async (name) => (await built)?.parts.get(name),
      onMissingPart: (name) =>
        log.warn('the page lacks the part of an extension, and shows its own in its place', { extension: name }),
    }),
    ...modelsApi({
      models: () => inForce.gateway.models(),
      isEchoOnly: () => inForce.config.source.kind === 'echo',
      file,
      notice,
      isOwner: isAnOwner,
    }),
    ...providersApi({ ...admin, isOwner: isAnOwner, bodyTimes: { totalMs: timers.bodyMs, idleMs: timers.bodyIdleMs } }),
    ...requestsApi({ observer, isOwner: isAnOwner, followers, isClosing, stallMs: timers.stallMs }),
  ]
  return { front, routes: all }
}
