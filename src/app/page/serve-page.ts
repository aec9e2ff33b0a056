import { resolve } from 'node:path'
import { accessEditor } from '../../config/edit/access-editor.ts'
import { presetFile } from '../../config/edit/preset-file.ts'
import type { Environment } from '../../config/file/environment.ts'
import { keysEnvFile } from '../../config/file/key-texts.ts'
import { presetsFile } from '../../config/file/parse-presets.ts'
import type { OpenRequests } from '../../http/entrance/admission.ts'
import { accessFileApi } from '../../http/page/access-file-api.ts'
import { auditApi } from '../../http/page/audit-api.ts'
import { bootRoute } from '../../http/page/boot.ts'
import { contentApi } from '../../http/page/content-api.ts'
import { historyApi } from '../../http/page/history-api.ts'
import { limitsApi } from '../../http/page/limits-api.ts'
import { logApi } from '../../http/page/log-api.ts'
import { modelsApi } from '../../http/page/models-api.ts'
import { pageNamer } from '../../http/page/name-page.ts'
import { ownerCheck, type OwnerCheck } from '../../http/page/owner-check.ts'
import { pageRoutes } from '../../http/page/page-files.ts'
import { peopleApi } from '../../http/page/people-api.ts'
import { presetsApi } from '../../http/page/presets-api.ts'
import { previewRoute } from '../../http/page/preview.ts'
import { programKeyApi } from '../../http/page/program-key-api.ts'
import { providersApi } from '../../http/page/providers-api.ts'
import { requestsApi } from '../../http/page/requests-api.ts'
import { signInApi } from '../../http/page/sign-in-api.ts'
import { usageApi } from '../../http/page/usage-api.ts'
import type { Route } from '../../http/route.ts'
import type { Logger } from '../../observe/log.ts'
import type { Observer } from '../../observe/observer.ts'
import { isOwner } from '../../people/owners.ts'
import type { Caller, Person } from '../../people/person.ts'
import { isMember, managedTeams } from '../../people/teams.ts'
import type { Transport } from '../../transport/transport.ts'
import type { ActiveConfig } from '../active-config.ts'
import type { Dependencies } from '../assemble.ts'
import { haveKeys } from '../check-access.ts'
import { hostFetch } from '../extensions/host-fetch.ts'
import type { RunningExtensions } from '../extensions/run-extensions.ts'
import type { AccessFile, ActiveAccess } from '../follow-access.ts'
import type { KeyFiles } from '../key-files.ts'
import { packageVersion, programName } from '../package.ts'
import type { Runtime } from '../runtime.ts'
import type { ServeContext } from '../serve-context.ts'
import type { SharedHistory } from '../shared-history.ts'
import type { SharedLedger } from '../shared-ledger.ts'
import type { ServeTimers } from '../timers.ts'
import { useOfTeam, useTeams } from '../use-of-people.ts'
import { limitDrafts } from './limit-drafts.ts'
import { findPage } from './page-build.ts'
import { peopleAdmission } from './people-admission.ts'
import { firstText, providerAdmin } from './provider-admin.ts'
import { signInAdmin, type SignInAdmin } from './sign-in-admin.ts'

/** The parts of the service that the page needs. */
export interface PageNeeds extends Pick<ServeContext, 'given'> {
  /** Path of providers.json, which need not exist. */
  readonly path: string
  readonly environment: Environment
  /** Keys of providers, with the variables. */
  readonly keys: KeyFiles
  readonly active: ActiveConfig
  readonly transport: Transport
  readonly dependencies: Dependencies
  readonly observer: Observer
  readonly ledger: Pick<SharedLedger, 'use' | 'audit' | 'record' | 'keys'>
  readonly history: Pick<SharedHistory, 'of'>
  readonly access: ActiveAccess
  /** access.json; `undefined`: there is no folder for it. */
  readonly accessFile: AccessFile | undefined
  /** Path of access.json, which need not exist. */
  readonly accessPath: string | undefined
  /** Streams of live requests to pages. */
  readonly followers: OpenRequests
  readonly extensions: RunningExtensions
  /** Whether only clients of this machine can reach the service. */
  readonly address: { readonly isLoopback: boolean }
  /** Aborted when the service stops. */
  readonly closing: AbortController
  readonly runtime: Pick<Runtime, 'buildPage'>
  readonly timers: ServeTimers
  readonly log: Logger
}

/** Routes of the page, its assets, and its API below `/api/` (docs/decisions/0008-the-page.md). */
export interface ServedPage {
  readonly front: ReturnType<typeof pageRoutes>['front']
  readonly routes: readonly Route[]
  readonly isOwner: OwnerCheck
  /** Finds or builds the page. Called when the service listens, so that it does not delay the start. */
  build(): void
}

export function servePage(needs: PageNeeds): ServedPage {
  const rights = rightsOn(needs)
  const { files, build } = builtPage(needs)
  const { front, routes } = pageRoutes({ files, hasAvatars: () => needs.extensions.guards.length > 0 })
  return {
    front,
    isOwner: rights.isOwner,
    routes: [
      ...routes,
      previewRoute(),
      bootRoute({ ...bootFacts(needs, rights), modulesOf: async (name) => (await files())?.parts.get(name) }),
      ...configurationRoutes(needs, rights),
      ...signInApi({
        ...signInOf(needs),
        ...rights,
        bodyTimes: { totalMs: needs.timers.bodyMs, idleMs: needs.timers.bodyIdleMs },
      }),
      ...peopleRoutes(needs, rights),
      ...recordRoutes(needs, rights),
    ],
    build,
  }
}

/** Who may read and change on the page. */
interface Rights {
  readonly mayOwn: (person: Person | undefined) => boolean
  readonly isOwner: OwnerCheck
  /** Whether owners may edit files: with sign-in, or if only this machine reaches the service. */
  readonly mayEdit: () => boolean
  /** The teams that a person manages. */
  readonly teamsOf: (person: Person | undefined) => readonly string[]
}

function rightsOn({ active, access, extensions, address }: PageNeeds): Rights {
  const isGuarded = () => extensions.guards.length > 0
  const mayOwn = (person: Person | undefined): boolean => isOwner(active.config.owners, person)
  return {
    mayOwn,
    isOwner: ownerCheck(isGuarded, mayOwn),
    mayEdit: () => address.isLoopback || isGuarded(),
    teamsOf: (person) => managedTeams(access.policy()?.teams, person, mayOwn(person)),
  }
}

/** The built page under the name of the service. */
function builtPage({ active, runtime, log }: PageNeeds) {
  const listening = Promise.withResolvers<void>()
  const found = listening.promise.then(() => findPage(log, runtime.buildPage))
  const named = pageNamer()
  return {
    build: () => listening.resolve(),
    async files() {
      const page = await (await found)()
      return page && named(page, active.config.name)
    },
  }
}

function bootFacts(needs: PageNeeds, { mayOwn, teamsOf }: Rights) {
  const { access, accessFile, active, extensions, history, ledger, log } = needs
  return {
    version: packageVersion(),
    guards: () => extensions.guards,
    mayOwn,
    teamsOf,
    hasUsage: () => ledger.use() !== undefined,
    hasKeys: () => haveKeys(extensions.contributions),
    hasLimits: () => accessFile !== undefined,
    hasPeople: () => extensions.contributions.some(({ people }) => people !== undefined),
    titleModel: () => active.config.titles?.model,
    contentOf(caller: Caller) {
      const rules = access.contentRules()
      return rules === undefined ? undefined : { keptMs: rules.termsOf(caller)?.keepMs ?? 0 }
    },
    hasHistory: () => history.of(active.config) !== undefined,
    parts: () => extensions.parts,
    onMissingPart: (name: string) =>
      log.warn('the build of the page lacks the part of an extension; the page shows its default', {
        extension: name,
      }),
  }
}

/** Models, providers, presets and access.json, which owners change. */
function configurationRoutes(needs: PageNeeds, { isOwner, mayEdit }: Rights): readonly Route[] {
  const { path, environment, active, dependencies, observer, access, accessFile, accessPath, timers, log } = needs
  const file = resolve(path)
  const notice = () => active.notice
  const bodyTimes = { totalMs: timers.bodyMs, idleMs: timers.bodyIdleMs }
  const recording = { record: needs.ledger.record, now: Date.now, log }
  const editor = accessEditor({ file: accessPath, access: () => accessFile, ...recording })
  const admin = providerAdmin({
    file,
    keys: needs.keys,
    keysFile: keysEnvFile(environment),
    environment: needs.keys.environment,
    dependencies,
    notice,
    program: programName(environment),
    config: () => active.config,
    gateway: () => active.gateway,
    reload: () => active.reload(),
    policy: () => access.policy(),
    attemptsAt: (providers) => observer.attempts(providers),
    ...recording,
    log,
  })
  return [
    ...modelsApi({
      models: () => active.gateway.models(),
      isEchoOnly: () => active.config.source.kind === 'echo',
      file,
      notice,
      isOwner,
    }),
    ...providersApi({ ...admin, isOwner, mayEdit, bodyTimes }),
    ...presetsApi({ ...presetFile({ file: presetsFile(environment), ...recording, log }), isOwner, bodyTimes }),
    ...accessFileApi({
      ...editor,
      draft: limitDrafts({
        editor,
        callers: observer.callers,
        use: needs.ledger.use,
        providers: () => active.gateway.providers,
        now: Date.now,
      }),
      ...{ isOwner, mayEdit, bodyTimes },
    }),
    ...programKeyApi({
      keys: () => (haveKeys(needs.extensions.contributions) ? needs.ledger.keys() : undefined),
      hasTeam: (name) => access.policy()?.teams.has(name) ?? false,
      ...{ editor, log, now: Date.now, isOwner, mayEdit, bodyTimes },
    }),
  ]
}

/** Sign-in, while no one signs in yet. */
function signInOf({
  given,
  path,
  environment,
  keys,
  active,
  extensions,
  transport,
  ledger,
  log,
}: PageNeeds): SignInAdmin {
  return signInAdmin({
    file: resolve(path),
    ...{ environment, keys, given, extensions, log },
    firstText: () => firstText({ config: () => active.config, environment: keys.environment }),
    fetch: hostFetch(transport, environment),
    reload: () => active.reload(),
    record: ledger.record,
    now: Date.now,
  })
}

/** Those who are signed in. */
function peopleRoutes(
  { active, access, extensions, ledger, timers, log }: PageNeeds,
  rights: Rights,
): readonly Route[] {
  const { isOwner, mayOwn } = rights
  return peopleApi({
    people: () => extensions.people,
    isOwner,
    hasNamedOwners: () => active.config.owners !== undefined,
    mayOwn,
    teamsOf: (person) =>
      Array.from(access.policy()?.teams ?? [], ([name, team]) => (isMember(team, person) ? name : '')).filter(
        (name) => name !== '',
      ),
    admit: peopleAdmission(extensions, { record: ledger.record, now: Date.now, log }),
    bodyTimes: { totalMs: timers.bodyMs, idleMs: timers.bodyIdleMs },
    log,
  })
}

/** Conversations, limits, changes, use and requests. */
function recordRoutes(needs: PageNeeds, { isOwner, mayEdit, teamsOf }: Rights): readonly Route[] {
  const { active, access, accessFile, accessPath, history, observer, followers, closing, timers, log } = needs
  const { use, audit, record } = needs.ledger
  const bodyTimes = { totalMs: timers.bodyMs, idleMs: timers.bodyIdleMs }
  return [
    ...historyApi({ history: () => history.of(active.config), days: () => active.config.historyDays, bodyTimes }),
    ...limitsApi({
      access: () => (accessFile === undefined ? undefined : access),
      file: accessPath,
      callers: observer.callers,
      use,
      providers: () => active.config.providers.map(({ id }) => id),
      isOwner,
      mayEdit,
    }),
    ...auditApi({ audit, isOwner }),
    ...usageApi({
      use,
      isOwner,
      teamUse: (person, team) => (teamsOf(person).includes(team) ? useOfTeam(access.policy(), team) : undefined),
      teams: () => useTeams(access.policy()?.teams ?? new Map()),
      now: Date.now,
    }),
    ...logApi({ use, isOwner }),
    ...contentApi({
      use,
      record,
      onLook: ({ request, by, seq, chain }) =>
        log.info('content of others was read', { request, ...(by === undefined ? {} : { by }), audit: seq, chain }),
      isOwner,
      now: Date.now,
    }),
    ...requestsApi({
      observer,
      use,
      isOwner,
      followers,
      isClosing: () => closing.signal.aborted,
      stallMs: timers.stallMs,
    }),
  ]
}
