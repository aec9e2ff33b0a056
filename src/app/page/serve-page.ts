import { resolve } from 'node:path'
import { presetsFile } from '../../config/file/parse-presets.ts'
import type { Environment } from '../../config/file/resolve-provider.ts'
import type { OpenRequests } from '../../http/entrance/open-requests.ts'
import { accessFileApi } from '../../http/page/access-file-api.ts'
import { auditApi } from '../../http/page/audit-api.ts'
import { bootRoute } from '../../http/page/boot.ts'
import { contentApi } from '../../http/page/content-api.ts'
import { historyApi } from '../../http/page/history-api.ts'
import { limitsApi } from '../../http/page/limits-api.ts'
import { logApi } from '../../http/page/log-api.ts'
import { modelsApi } from '../../http/page/models-api.ts'
import { pageNamer } from '../../http/page/name-page.ts'
import { ownerCheck } from '../../http/page/owner-check.ts'
import { pageRoutes } from '../../http/page/page-files.ts'
import { presetsApi } from '../../http/page/presets-api.ts'
import { previewRoute } from '../../http/page/preview.ts'
import { providersApi } from '../../http/page/providers-api.ts'
import { requestsApi } from '../../http/page/requests-api.ts'
import { usageApi } from '../../http/page/usage-api.ts'
import type { Route } from '../../http/route.ts'
import type { History } from '../../ledger/history/history.ts'
import type { AuditTable, Ledger } from '../../ledger/ledger.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import type { Logger } from '../../observe/log.ts'
import type { Observer } from '../../observe/observer.ts'
import { isOwner } from '../../people/owners.ts'
import type { Person } from '../../people/person.ts'
import { managedTeams } from '../../people/teams.ts'
import type { ActiveConfig } from '../active-config.ts'
import type { Dependencies } from '../assemble.ts'
import { haveKeys } from '../check-access.ts'
import type { RunningExtensions } from '../extensions/run-extensions.ts'
import type { ActiveAccess } from '../follow-access.ts'
import { packageVersion, programName } from '../package.ts'
import type { ServeTimers } from '../timers.ts'
import { useOfTeam, useTeams } from '../use-of-people.ts'
import { accessEditor } from './access-editor.ts'
import { findPage } from './page-build.ts'
import { presetFile } from './preset-file.ts'
import { providerAdmin } from './provider-admin.ts'

export interface ServePageOptions {
  /** Path of providers.json, which need not exist. */
  readonly path: string
  readonly environment: Environment
  readonly active: ActiveConfig
  readonly dependencies: Dependencies
  readonly observer: Observer
  /** Reads the use; `undefined`: none is kept. */
  readonly use: () => UseAsker | undefined
  /** The recorded changes; `undefined`: none are. */
  readonly audit: () => AuditTable | undefined
  /** Records a change; `undefined`: none are recorded. */
  readonly record: () => Ledger['record'] | undefined
  /** The conversations of people; `undefined`: they are in browsers only. */
  readonly history: () => Promise<History> | undefined
  /** The active limits; `undefined`: there is no folder for access.json. */
  readonly access: () => ActiveAccess | undefined
  /** Path of access.json, which need not exist. */
  readonly accessPath: string | undefined
  /** Streams of live requests to pages. */
  readonly followers: OpenRequests
  readonly extensions: RunningExtensions
  /** Only clients of this machine can reach the service. */
  readonly isLocal: boolean
  readonly isClosing: () => boolean
  /** Resolves when the service listens. The page is built then, so that it does not delay the start. */
  readonly listening: Promise<void>
  /** Builds the page if needed. */
  readonly buildPage: () => Promise<void>
  readonly timers: ServeTimers
  readonly log: Logger
}

/** Routes of the page, its assets, and its API below `/api/` (docs/decisions/0008-the-page.md). */
export function servePage({
  path,
  environment,
  active,
  dependencies,
  observer,
  use,
  audit,
  record,
  history,
  access,
  accessPath,
  followers,
  extensions,
  isLocal,
  isClosing,
  listening,
  buildPage,
  timers,
  log,
}: ServePageOptions) {
  const file = resolve(path)
  const guards = () => extensions.guards
  const mayOwn = (person: Person | undefined): boolean => isOwner(active.config.owners, person)
  const isAnOwner = ownerCheck(() => guards().length > 0, mayOwn)
  const editors = { isOwner: isAnOwner, mayEdit: () => isLocal || guards().length > 0 }
  const teamsOf = (person: Person | undefined): readonly string[] =>
    managedTeams(access()?.policy()?.teams, person, mayOwn(person))
  const notice = () => active.notice
  const found = listening.then(() => findPage(log, buildPage))
  const named = pageNamer()
  const files = async () => {
    const page = await (await found)()
    return page && named(page, active.config.name)
  }
  const { front, routes } = pageRoutes({ files, hasAvatars: () => guards().length > 0 })
  const admin = providerAdmin({
    file,
    environment,
    dependencies,
    log,
    notice,
    record,
    program: programName(environment),
    config: () => active.config,
    gateway: () => active.gateway,
    reload: () => active.reload(),
    policy: () => access()?.policy(),
    attemptsAt: (providers) => observer.attempts(providers),
    now: Date.now,
  })
  const bodyTimes = { totalMs: timers.bodyMs, idleMs: timers.bodyIdleMs }
  const all: readonly Route[] = [
    ...routes,
    previewRoute(),
    bootRoute({
      version: packageVersion(),
      guards,
      mayOwn,
      teamsOf,
      hasUsage: () => use() !== undefined,
      hasKeys: () => haveKeys(extensions.contributions),
      hasLimits() {
        const { limiter, budgets, fault } = access() ?? {}
        return [limiter, budgets, fault].some((part) => part?.() !== undefined)
      },
      titleModel: () => active.config.titles?.model,
      contentOf(caller) {
        const rules = access()?.contentRules()
        return rules === undefined ? undefined : { keptMs: rules.termsOf(caller)?.keepMs ?? 0 }
      },
      hasHistory: () => history() !== undefined,
      parts: () => extensions.parts,
      modulesOf: async (name) => (await files())?.parts.get(name),
      onMissingPart: (name) =>
        log.warn('the build of the page lacks the part of an extension; the page shows its default', {
          extension: name,
        }),
    }),
    ...modelsApi({
      models: () => active.gateway.models(),
      isEchoOnly: () => active.config.source.kind === 'echo',
      file,
      notice,
      isOwner: isAnOwner,
    }),
    ...providersApi({
      ...admin,
      ...editors,
      bodyTimes,
    }),
    ...presetsApi({
      ...presetFile({ file: presetsFile(environment), log, record, now: Date.now }),
      isOwner: isAnOwner,
      bodyTimes,
    }),
    ...historyApi({ history, days: () => active.config.historyDays, bodyTimes }),
    ...limitsApi({ access, file: accessPath, callers: observer.callers, use, ...editors }),
    ...accessFileApi({
      ...accessEditor({ file: accessPath, access, log, record, now: Date.now }),
      ...editors,
      bodyTimes,
    }),
    ...auditApi({ audit, isOwner: isAnOwner }),
    ...usageApi({
      use,
      isOwner: isAnOwner,
      teamUse: (person, team) => (teamsOf(person).includes(team) ? useOfTeam(access()?.policy(), team) : undefined),
      teams: () => useTeams(access()?.policy()?.teams ?? new Map()),
      now: Date.now,
    }),
    ...logApi({ use, isOwner: isAnOwner }),
    ...contentApi({
      use,
      record,
      onLook: ({ request, by, seq, chain }) =>
        log.info('content of others was read', { request, ...(by === undefined ? {} : { by }), audit: seq, chain }),
      isOwner: isAnOwner,
      now: Date.now,
    }),
    ...requestsApi({ observer, use, isOwner: isAnOwner, followers, isClosing, stallMs: timers.stallMs }),
  ]
  return { front, isOwner: isAnOwner, routes: all }
}
