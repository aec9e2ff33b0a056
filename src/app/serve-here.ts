import type { Limits } from '../config/config.ts'
import { defaultLimits } from '../config/defaults.ts'
import { configOf, refuseDanglingLink } from '../config/file/load-config.ts'
import { presetsFile } from '../config/file/parse-presets.ts'
import { priceFiles } from '../config/file/parse-prices.ts'
import { configOfWorker } from '../config/file/worker-config.ts'
import { accessFile } from '../config/home.ts'
import type { Contribution } from '../extensions/extension.ts'
import { loadExtension, UnknownExtensionError } from '../extensions/load.ts'
import { SlotError } from '../extensions/slots.ts'
import { formats } from '../formats/format-list.ts'
import { apiPaths, apiRoute, apiRoutes } from '../http/entrance/api-call.ts'
import type { EntranceOptions } from '../http/entrance/entrance-options.ts'
import { modelRoutes } from '../http/entrance/models.ts'
import { openRequests, type OpenRequests } from '../http/entrance/open-requests.ts'
import { ownKeyRoute } from '../http/entrance/own-key.ts'
import { extendedRouting } from '../http/extended-routing.ts'
import { isLoopbackAddress } from '../http/host-names.ts'
import { lateRefusals } from '../http/late-refusals.ts'
import { answersApi } from '../http/page/answers-api.ts'
import { keptAnswers } from '../http/page/kept-answers.ts'
import type { Routing } from '../http/server.ts'
import { statusRoutes } from '../http/status-routes.ts'
import type { AuditTable } from '../ledger/ledger.ts'
import { ownKeysDefault, type AccessPolicy } from '../limits/access-policy.ts'
import { auditMetricText } from '../observe/audit-metric.ts'
import { errorFields, type Logger } from '../observe/log.ts'
import type { Observer } from '../observe/observer.ts'
import { requestLog } from '../observe/request-line.ts'
import type { FileKey } from '../people/keys/file-key.ts'
import type { KeyDependencies } from '../people/keys/key-host.ts'
import { isOwner } from '../people/owners.ts'
import { callerOfKey } from '../people/person.ts'
import { managedTeams } from '../people/teams.ts'
import { priceBook } from '../prices/price-book.ts'
import { learnedSizes, type LearnedSizes } from '../prices/token-sizes.ts'
import { ownTimers } from '../service/shared-timers.ts'
import { httpClient } from '../transport/http-client.ts'
import { activeConfig, type ActiveConfig } from './active-config.ts'
import type { Dependencies } from './assemble.ts'
import { auditedFollow } from './audited-follow.ts'
import { capacityOf, type Capacity } from './capacity.ts'
import { checkAccess } from './check-access.ts'
import { contentIntake, type KeptIntake } from './content-intake.ts'
import { readCorsOrigins } from './cors-origins.ts'
import { drain } from './drain.ts'
import { checkOwnersNamed } from './extensions/check-owners.ts'
import { hostFetch } from './extensions/host-fetch.ts'
import { runExtensions, type ExtensionsOptions, type RunningExtensions } from './extensions/run-extensions.ts'
import { followAccess, type ActiveAccess } from './follow-access.ts'
import { followPrices } from './follow-prices.ts'
import { listen } from './listen.ts'
import { programName } from './package.ts'
import { servePage } from './page/serve-page.ts'
import type { Runtime } from './runtime.ts'
import type { ServeContext } from './serve-context.ts'
import { sharedHistory } from './shared-history.ts'
import { sharedLedger } from './shared-ledger.ts'
import { shippedPrices } from './shipped-prices.ts'
import { UsageError } from './start-errors.ts'
import { startLines } from './start-lines.ts'
import { readTimers, type ServeTimers } from './timers.ts'
import { unpricedWarnings } from './unpriced-models.ts'
import { untilAborted } from './until-aborted.ts'

const noKeys: readonly FileKey[] = []

/** The service in this process: from its configuration to the last byte of its last answer. */
export async function serveHere(
  { given, environment, path, log, modelsCache }: ServeContext,
  runtime: Runtime,
): Promise<number> {
  const timers = readTimers(environment)
  const address = { corsOrigins: readCorsOrigins(environment), isLoopback: isLoopbackAddress(given.host) }
  const bodyTimes = { totalMs: timers.bodyMs, idleMs: timers.bodyIdleMs }
  const transport = httpClient()
  const { health, observer, stores, stopping } = runtime
  const ledger = sharedLedger({ environment, log, onOpen: runtime.keepUse, isReplacement: runtime.isReplacement })
  const history = sharedHistory({
    ...{ environment, log, isReplacement: runtime.isReplacement, isSweeper: runtime.isReporter },
  })
  const files = auditedFollow({ follow: runtime.follow, record: ledger.record, audit: ledger.audit, log })
  const { follow } = files
  const warn: Logger['warn'] = runtime.isReporter ? log.warn : () => undefined
  const requests = openRequests()
  observer.trackRunning(requests.running)
  let limits: Limits = defaultLimits
  const capacity = capacityOf({
    limits: () => limits,
    upstreams: transport,
    openRequests: requests,
    workers: runtime.workers,
  })
  const prices = priceBook(shippedPrices())
  const pricePaths = priceFiles(environment)
  const followedPrices =
    pricePaths === undefined ? undefined : await followPrices({ files: pricePaths, prices, follow, log })
  const presets = presetsFile(environment)
  if (presets !== undefined) await refuseDanglingLink(presets)
  const tokenSizes = learnedSizes()
  let access: ActiveAccess | undefined
  const dependencies: Dependencies = {
    transport,
    prices,
    budgets: () => access?.budgets(),
    health,
    answerBudget: capacity.answerBudget,
    log,
    ...(modelsCache === undefined ? {} : { modelsCache }),
  }
  let running: RunningExtensions | undefined
  const active = await activeConfig({
    path,
    dependencies,
    log,
    follow,
    load: async (text) => {
      const config = configOfWorker(
        await configOf(text, {
          environment,
          ownPort: runtime.port,
          probe: runtime.probe,
          warn,
          ...(given.config === undefined ? {} : { file: given.config }),
        }),
        runtime.workers,
      )
      await history.prepare(config)
      return config
    },
    // Extensions may change while a configuration is loaded.
    admit: (config) => checkOwnersNamed(config, running?.contributions ?? [], path),
    onActive: (config) => {
      limits = config.limits
      history.activate(config)
    },
    onReload(result) {
      observer.reloaded(result)
      if (result === 'ok') void warnOfUnpriced()
    },
  })
  const content = contentIntake({
    ledger,
    rules: () => access?.contentRules(),
    providers: () => active.config.providers,
    log,
  })
  const followers = openRequests()
  const accessPath = accessFile(environment)
  function checkPolicy(policy: AccessPolicy | undefined, contributions: readonly Contribution[]): void {
    if (policy === undefined || accessPath === undefined) return
    const providers = active.config.providers.map(({ id }) => id)
    checkAccess(policy, { providers, contributions, file: accessPath })
  }
  const checkFileKeys = (): void => {
    for (const contribution of running?.contributions ?? []) void contribution.checkFileKeys?.()
  }
  async function warnOfUnpriced(): Promise<void> {
    const { providers } = active.gateway
    await Promise.all(providers.flatMap(({ models }) => models.pending ?? []))
    if (providers !== active.gateway.providers) return
    for (const warning of unpricedWarnings(access?.policy(), providers)) log.warn(warning)
  }
  let isDraining = false
  const isClosing = () => isDraining
  /** Made for the first request after the start, and after a change of an extension. */
  let routing: Routing | undefined
  const keys: KeyDependencies = {
    ledger: ledger.open,
    ownKeys: () => access?.ownKeys() ?? ownKeysDefault,
    fileKeys: () => access?.policy()?.keys ?? noKeys,
    contentKeptMs: (key) => access?.contentRules()?.termsOf(callerOfKey(key))?.keepMs,
    teams: {
      has: (name) => access?.policy()?.teams.has(name) ?? false,
      managedBy: (person) => managedTeams(access?.policy()?.teams, person, isOwner(active.config.owners, person)),
    },
    mayEnter: (person) => running?.mayEnter(person) ?? false,
  }
  const modules = new Map([['keys', async () => (await import('../people/keys/service-keys.ts')).serviceKeys(keys)]])
  const extensions = (running = await startExtensions({
    names: given.auth,
    environment,
    stores,
    log,
    warn,
    follow,
    fetch: hostFetch(transport),
    load: (name) => loadExtension(name, modules),
    onChange: () => {
      routing = undefined
    },
    admit(contributions) {
      checkOwnersNamed(active.config, contributions, path)
      // Without this, limits of people would end with sign-in.
      checkPolicy(access?.policy(), contributions)
    },
    onFault: (name, error) =>
      log.error('the extension was not reloaded; its previous state stays active', {
        extension: name,
        reason: reasonOf(error),
      }),
  }))
  access =
    accessPath === undefined
      ? undefined
      : await followAccess({
          path: accessPath,
          follow,
          log,
          check: (policy) => checkPolicy(policy, extensions.contributions),
          makeLimiter: runtime.makeLimiter,
          onZone: runtime.setUseZone,
          async makeBudgets() {
            // Spending is a sum of the ledger.
            await ledger.open()
            const [{ moneyLimits }, { openHolds }] = await Promise.all([
              import('../limits/budgets/money-limits.ts'),
              import('../limits/budgets/open-holds.ts'),
            ])
            const holds = openHolds()
            holds.onChange(runtime.storeHolds(holds.sums))
            const authority = await runtime.makeBudgetAuthority()
            return moneyLimits({ authority, now: Date.now, tokenSizes, openHolds: holds })
          },
          prepareContent: content.prepare,
          onChange() {
            checkFileKeys()
            void warnOfUnpriced()
          },
        })
  if (runtime.isReporter) {
    checkFileKeys()
    void warnOfUnpriced()
  }
  if (active.config.history === 'server' && extensions.guards.length === 0)
    warn('"history": "server" has no effect without sign-in: conversations stay in browsers')
  // Machines with one database have files of their own, of which one may be older than the last entry.
  if (runtime.isReporter && ledger.isOfThisMachine()) await files.noteEarlierChanges()
  const listening = Promise.withResolvers<void>()
  const page = servePage({
    path,
    environment,
    active,
    dependencies,
    observer,
    use: ledger.use,
    audit: ledger.audit,
    record: ledger.record,
    history: () => history.of(active.config),
    access: () => access,
    accessPath,
    followers,
    extensions,
    isLocal: address.isLoopback,
    isClosing,
    timers,
    log,
    listening: listening.promise,
    buildPage: runtime.buildPage,
  })
  const entrance = entranceOptions({ active, access, content, capacity, timers, requests, observer, tokenSizes, log })
  const answers = keptAnswers(ownTimers, isClosing)
  const ownRoutes = [
    ...apiRoutes(entrance),
    ...answersApi({
      chat: apiRoute(formats.chat, entrance),
      answers,
      others: runtime.shareAnswers(answers),
      stallMs: timers.stallMs,
    }),
    ...modelRoutes(() => active.gateway, Date.now()),
    ownKeyRoute(() => access),
    ...statusRoutes({
      unready: () =>
        isDraining && !runtime.doOthersStay()
          ? 'stopping'
          : active.gateway.providers.length === 0
            ? 'no provider is usable'
            : undefined,
      metrics: () => metricsText(observer, ledger.audit()),
      isOwner: page.isOwner,
      page: page.front,
    }),
    ...page.routes,
  ]
  const routingInForce = (): Routing =>
    (routing ??= extendedRouting(ownRoutes, extensions.contributions, { ...address, bodyTimes, isOwner: page.isOwner }))
  const server = listen({
    host: given.host,
    port: runtime.port,
    isPortShared: runtime.isPortShared,
    commonPaths: apiPaths,
    routing: routingInForce,
    isClosing,
    refusalDelay: lateRefusals({ delayMs: timers.lateRefusalMs }),
    onInternalError: (error, id) => log.error('internal error', { id, ...errorFields(error) }),
  })
  process.on('SIGHUP', runtime.reload)

  runtime.listening(
    server.port,
    startLines({
      host: given.host,
      port: server.port,
      config: active.config,
      path,
      program: programName(environment),
      extensions: extensions.all,
    }),
  )
  listening.resolve()
  await untilAborted(stopping)
  isDraining = true
  followers.stopAll()
  answers.stopUnread()
  process.off('SIGHUP', runtime.reload)
  await drain({
    server,
    requests,
    log,
    timers,
    isImmediate: stopping.reason === 'SIGINT',
    doOthersListen: runtime.doOthersListen,
    leftPort: runtime.leftPort,
  })
  active.close()
  followedPrices?.close()
  access?.close()
  active.gateway.close()
  await extensions.close()
  await content.close()
  await ledger.close()
  await history.close()
  transport.close()
  await runtime.close()
  await log.flush()
  return 0
}

interface EntranceDependencies {
  readonly active: ActiveConfig
  readonly access: ActiveAccess | undefined
  readonly content: Pick<KeptIntake, 'current'>
  readonly capacity: Capacity
  readonly timers: ServeTimers
  readonly requests: OpenRequests
  readonly observer: Observer
  readonly tokenSizes: LearnedSizes
  readonly log: Logger
}

function entranceOptions({
  active,
  access,
  content,
  capacity,
  timers,
  requests,
  observer,
  tokenSizes,
  log,
}: EntranceDependencies): EntranceOptions {
  const logRequest = requestLog(log)
  return {
    gateway: () => active.gateway,
    bodyLimits: () => ({
      bytesMax: active.config.limits.bodyBytes,
      totalMs: timers.bodyMs,
      idleMs: timers.bodyIdleMs,
      setting: 'limits.body_bytes',
    }),
    deadlineMs: () => active.config.limits.deadlineMs,
    ...capacity,
    timers,
    openRequests: requests,
    ...(access === undefined ? {} : { limiter: access.limiter, content: content.current }),
    tokenSizes,
    streamsOpen: observer.streamsOpen,
    record(record, cause) {
      observer.record(record)
      logRequest(record)
      if (cause instanceof Error) log.error('internal error', { id: record.id, error: cause })
    },
  }
}

async function metricsText(observer: Observer, audit: AuditTable | undefined): Promise<string> {
  const texts = await Promise.all([
    observer.metricsText(),
    audit === undefined ? '' : auditMetricText(async () => (await audit.list(Number.MAX_SAFE_INTEGER, 1))[0]),
  ])
  return texts.join('')
}

/** Sign-in that was asked for and does not exist must not leave the service open (docs/sign-in.md). */
async function startExtensions(options: ExtensionsOptions): Promise<RunningExtensions> {
  try {
    return await runExtensions(options)
  } catch (error) {
    throw error instanceof UnknownExtensionError || error instanceof SlotError
      ? new UsageError(error.message, { cause: error })
      : error
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
