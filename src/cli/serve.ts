import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { findHome } from '../config/home.ts'
import { loadConfig } from '../config/load-config.ts'
import { isOwner } from '../config/owners.ts'
import { watchConfig } from '../config/watch-config.ts'
import { UnknownExtension } from '../extensions/load.ts'
import { SlotFault } from '../extensions/slots.ts'
import { bootRoute } from '../http/boot.ts'
import { chatRoute } from '../http/chat-completions.ts'
import { modelRoutes } from '../http/models.ts'
import { modelsApi } from '../http/models-api.ts'
import { extendedRouting } from '../http/extended-routing.ts'
import { ownerCheck } from '../http/own-pages.ts'
import { pageRoutes } from '../http/page-files.ts'
import { requestsApi } from '../http/requests-api.ts'
import type { ReloadNotice } from '../http/page-api.ts'
import { providersApi } from '../http/providers-api.ts'
import { startServer, type Routing, type Server } from '../http/server.ts'
import { statusRoutes } from '../http/status-routes.ts'
import { underWay, type UnderWay } from '../http/under-way.ts'
import { descriptorWriter } from '../observe/descriptor-writer.ts'
import { gatewayMetrics } from '../observe/gateway-metrics.ts'
import { logger, type Logger } from '../observe/log.ts'
import { recentRequests } from '../observe/recent-requests.ts'
import { requestLog } from '../observe/request-line.ts'
import { healthBook } from '../service/health.ts'
import { BadStoreUrl, openStores } from '../stores/open-stores.ts'
import { StoreUnavailable, type Stores } from '../stores/store.ts'
import { httpClient } from '../transport/http-client.ts'
import { UsageError } from './arguments.ts'
import { assembleGateway, type Surroundings } from './assemble.ts'
import type { Command, CommandContext } from './command.ts'
import { readCorsOrigins } from './cors-origins.ts'
import { authFlag, configFlag, hostFlag, logFormatFlag, logLevelFlag, portFlag, storeFlag } from './flags.ts'
import { hostFetch } from './host-fetch.ts'
import { findPage } from './page-build.ts'
import { packageVersion, programName } from './process.ts'
import { providerAdmin } from './provider-admin.ts'
import { reloadNotice } from './reload-notice.ts'
import { runExtensions, type ExtensionsOptions, type RunningExtensions } from './run-extensions.ts'
import { startLines } from './start-lines.ts'
import { readTimers, type ServeTimers } from './timers.ts'

const flags = { host: hostFlag, port: portFlag, config: configFlag, auth: authFlag, store: storeFlag, logLevel: logLevelFlag, logFormat: logFormatFlag }

/** `svc serve` (decisions.md 2): starts the service. */
export const serve: Command<typeof flags> = {
  name: 'serve',
  summary: 'start the service',
  flags,
  examples: [
    { command: 'svc', does: 'serves on http://127.0.0.1:8000' },
    { command: 'svc --host 0.0.0.0 --port 80', does: 'serves on every address of this machine' },
    { command: 'svc --config ./providers.json', does: 'takes the providers from that file' },
  ],
  isService: true,
  run,
}

async function run({ flags: given, environment, stdout, stderr, signal }: CommandContext<typeof flags>): Promise<number> {
  const timers = readTimers(environment)
  const corsOrigins = readCorsOrigins(environment)
  const log = logger({
    level: given.logLevel,
    format: given.logFormat === 'auto' ? (stderr.isTerminal ? 'human' : 'json') : given.logFormat,
    write: descriptorWriter(2),
    hasColour: stderr.hasColour,
  })
  const path = given.config ?? findHome(environment).providers
  const load = () => loadConfig({
    environment, ownPort: given.port, warn: (message) => log.warn(message), ...(given.config === undefined ? {} : { file: given.config }),
  })
  // Watched before it is read, so that no change falls between.
  const started = Promise.withResolvers<void>()
  let notice: ReloadNotice | undefined
  const watch = watchConfig(path, load, async (next) => {
    await started.promise
    apply(next)
  }, (error) => {
    notice = reloadNotice(error, Date.now())
    metrics.reloaded('failed')
    log.error('the configuration was not reloaded; the one before stays in force', { reason: reasonOf(error) })
  })
  await watch.ready
  let config = await load()

  const transport = httpClient()
  const health = healthBook(() => performance.now())
  const surroundings: Surroundings = { transport, health, log, ...modelsCache(environment) }
  let current = assembleGateway(config, surroundings)
  const requests = underWay()
  const followers = underWay()
  const recent = recentRequests(Date.now)
  const metrics = gatewayMetrics({
    version: packageVersion(),
    breakers: () => health.openBreakers().map(({ provider, model = '' }) => ({ provider, model, isOpen: true })),
    logLinesDropped: () => log.dropped,
  })
  const logRequest = requestLog(log)
  let isDraining = false

  const stores = await findStores(given.store, log)
  let routing: Routing | undefined
  const extensions = await startExtensions({
    names: given.auth, environment, stores, log,
    fetch: hostFetch(transport),
    onChange: () => { routing = undefined },
    onFault: (name, error) => log.error('the extension was not reloaded; what was in force stays', { extension: name, reason: reasonOf(error) }),
  })
  const routingInForce = (): Routing => routing ??= extendedRouting(ownRoutes, extensions.contributions, corsOrigins)
  const mayOwn = (user: string | undefined): boolean => isOwner(config.owners, user)
  const isAnOwner = ownerCheck(() => routingInForce().guards.length > 0, mayOwn)
  const builtPage = findPage(log)
  const page = pageRoutes({ files: () => builtPage, hasAvatars: () => routingInForce().guards.length > 0 })
  const admin = providerAdmin({
    file: resolve(path), environment, program: programName(environment), surroundings, log,
    config: () => config,
    gateway: () => current,
    reload: () => watch.reload(),
    notice: () => notice,
    attemptsOf: (provider) => recent.attempts(provider),
    now: Date.now,
  })
  const ownRoutes = [
    chatRoute({
      gateway: () => current,
      bodyLimits: () => ({ bytesMax: config.limits.bodyBytes, totalMs: timers.bodyMs, idleMs: timers.bodyIdleMs, setting: 'limits.body_bytes' }),
      deadlineMs: () => config.limits.deadlineMs,
      requestsMost: () => config.limits.maxConcurrent ?? Number.POSITIVE_INFINITY,
      timers,
      underWay: requests,
      streamsOpen: metrics.streamsOpen,
      record(record) {
        metrics.record(record)
        recent.record(record)
        logRequest(record)
        if (record.cause instanceof Error) log.error('a mistake of this service', { id: record.id, error: record.cause })
      },
    }),
    ...modelRoutes(() => current, Date.now()),
    ...statusRoutes({
      unready: () => (isDraining ? 'stopping' : current.providers.length === 0 ? 'no provider is usable' : undefined),
      metrics: () => metrics.text(),
      page: page.front,
    }),
    ...modelsApi({ models: () => current.models(), isEchoOnly: () => config.source.kind === 'echo', file: resolve(path), notice: () => notice, isOwner: isAnOwner }),
    ...providersApi({ ...admin, isOwner: isAnOwner, bodyTimes: { totalMs: timers.bodyMs, idleMs: timers.bodyIdleMs } }),
    ...requestsApi({ recent, isOwner: isAnOwner, followers, isClosing: () => isDraining, stallMs: timers.stallMs }),
    ...page.routes,
    bootRoute({
      version: packageVersion(),
      guards: () => routingInForce().guards,
      mayOwn,
      parts: () => extensions.parts,
      moduleOf: async (name) => (await builtPage)?.parts.get(name),
      onMissingPart: (name) => log.warn('the page lacks the part of an extension, and shows its own in its place', { extension: name }),
    }),
  ]
  const server = listen(given, {
    routing: routingInForce,
    isClosing: () => isDraining,
    onMistake: (error, id) => log.error('a mistake of this service', { id, ...(error instanceof Error ? { error } : { reason: String(error) }) }),
  })

  function apply(next: Config): void {
    const before = current
    current = assembleGateway(next, surroundings, before)
    config = next
    notice = undefined
    before.close(current)
    metrics.reloaded('ok')
    const providers = current.providers.map(({ id }) => id).join(', ')
    if (providers === '') log.warn('configuration reloaded, but no provider in it is usable')
    else log.info('configuration reloaded', { providers })
  }
  started.resolve()
  const reload = () => {
    void watch.reload()
    void extensions.reload()
  }
  process.on('SIGHUP', reload)

  stdout.write(startLines({ host: given.host, port: server.port, config, path, program: programName(environment), extensions: extensions.all }))
  await untilAborted(signal)
  isDraining = true
  followers.stopAll()
  watch.close()
  process.off('SIGHUP', reload)
  await drain({ server, requests, log, timers, isHasty: signal.reason === 'SIGINT' })
  current.close()
  await extensions.close()
  await stores.close()
  transport.close()
  await log.flush()
  return 0
}

/** Sign-in that was asked for and does not exist must not leave the service open (decisions.md 5). */
async function startExtensions(options: ExtensionsOptions): Promise<RunningExtensions> {
  try {
    return await runExtensions(options)
  } catch (error) {
    throw error instanceof UnknownExtension || error instanceof SlotFault ? new UsageError(error.message, { cause: error }) : error
  }
}

/** Somebody who asked for shared sessions must not get others. */
async function findStores(url: string | undefined, log: Logger): Promise<Stores> {
  try {
    return await openStores(url, {
      now: Date.now,
      onTrouble: (trouble) => (trouble === undefined ? log.info('the store answers again') : log.error('the store does not answer; who needs a session is refused', { reason: trouble.message })),
    })
  } catch (error) {
    throw error instanceof BadStoreUrl || error instanceof StoreUnavailable ? new UsageError(`--store: ${error.message}`, { cause: error }) : error
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function modelsCache(environment: CommandContext['environment']): Pick<Surroundings, 'modelsCache'> {
  try {
    return { modelsCache: findHome(environment).modelsCache }
  } catch {
    return {} // Without a home there is no cache.
  }
}

function listen({ host, port }: { readonly host: string; readonly port: number }, options: Omit<Parameters<typeof startServer>[0], 'host' | 'port'>): Server {
  try {
    return startServer({ host, port, ...options })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'EADDRINUSE') throw new UsageError(`port ${port} of ${host} is in use: choose another with --port, or 0 for a free one`, { cause: error })
    if (code === 'EACCES') throw new UsageError(`port ${port} needs more rights than this user has: choose one from 1024 with --port`, { cause: error })
    throw new UsageError(`cannot listen on ${host} port ${port}${code === '' ? '' : ` (${code})`}: --host takes an address of this machine`, { cause: error })
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

const lastWordsMs = 1_000

interface Drain {
  readonly server: Server
  readonly requests: UnderWay
  readonly log: Logger
  readonly timers: ServeTimers
  readonly isHasty: boolean
}

/** Serves who still comes for a moment, then lets what was accepted finish, and gives up at the deadline (decisions.md 6). */
async function drain({ server, requests, log, timers, isHasty }: Drain): Promise<void> {
  log.info('stopping', { under_way: requests.count })
  const deadline = Bun.sleep(timers.drainMs)
  if (!isHasty) await Promise.race([Bun.sleep(timers.drainWindowMs), deadline])
  const stopped = server.stop(false)
  await Promise.race([requests.idle(), deadline])
  if (requests.count > 0) {
    log.warn('stopping although requests are under way', { under_way: requests.count })
    requests.stopAll()
    await Promise.race([requests.idle(), Bun.sleep(lastWordsMs)])
  }
  // Bytes of the last answers may still be on their way to slow readers.
  await Promise.race([stopped, Bun.sleep(lastWordsMs)])
  await server.stop(true)
}
