import { findHome } from '../config/home.ts'
import { followHere } from '../config/follow-file.ts'
import { loadConfig } from '../config/load-config.ts'
import { UnknownExtension } from '../extensions/load.ts'
import { SlotFault } from '../extensions/slots.ts'
import { chatRoute, type ChatOptions } from '../http/chat-completions.ts'
import { extendedRouting } from '../http/extended-routing.ts'
import { modelRoutes } from '../http/models.ts'
import type { Routing } from '../http/server.ts'
import { statusRoutes } from '../http/status-routes.ts'
import { underWay, type UnderWay } from '../http/under-way.ts'
import { descriptorWriter } from '../observe/descriptor-writer.ts'
import { localObserver } from '../observe/local-observer.ts'
import { logger, type Logger } from '../observe/log.ts'
import type { Observer } from '../observe/observer.ts'
import { requestLog } from '../observe/request-line.ts'
import { healthBook, type HealthBook } from '../service/health.ts'
import { BadStoreUrl, openStores } from '../stores/open-stores.ts'
import { StoreUnavailable, type Stores } from '../stores/store.ts'
import { httpClient } from '../transport/http-client.ts'
import { UsageError, type FlagValues } from './arguments.ts'
import type { Surroundings } from './assemble.ts'
import type { Command, CommandContext } from './command.ts'
import { configInForce, type ConfigInForce } from './config-in-force.ts'
import { readCorsOrigins } from './cors-origins.ts'
import { drain } from './drain.ts'
import { authFlag, configFlag, hostFlag, logFormatFlag, logLevelFlag, portFlag, storeFlag } from './flags.ts'
import { hostFetch } from './host-fetch.ts'
import { listen } from './listen.ts'
import { packageVersion, programName } from './process.ts'
import { runExtensions, type ExtensionsOptions, type RunningExtensions } from './run-extensions.ts'
import { servePage } from './serve-page.ts'
import { startLines } from './start-lines.ts'
import type { Output } from './terminal.ts'
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
  const log = logOf(given, stderr)
  const path = given.config ?? findHome(environment).providers
  const transport = httpClient()
  const health = healthBook(() => performance.now())
  const observer = observerOf(health, log)
  const surroundings: Surroundings = { transport, health, log, ...modelsCache(environment) }
  const follow = followHere()
  const inForce = await configInForce({
    path, surroundings, log, follow,
    load: () => loadConfig({ environment, ownPort: given.port, warn: (message) => log.warn(message), ...(given.config === undefined ? {} : { file: given.config }) }),
    onReload: (result) => observer.reloaded(result),
  })
  const requests = underWay()
  const followers = underWay()
  let isDraining = false
  const isClosing = () => isDraining

  const stores = await findStores(given.store, log)
  let routing: Routing | undefined
  const extensions = await startExtensions({
    names: given.auth, environment, stores, log, follow,
    fetch: hostFetch(transport),
    onChange: () => { routing = undefined },
    onFault: (name, error) => log.error('the extension was not reloaded; what was in force stays', { extension: name, reason: reasonOf(error) }),
  })
  const routingInForce = (): Routing => routing ??= extendedRouting(ownRoutes, extensions.contributions, corsOrigins)
  const page = servePage({ path, environment, inForce, surroundings, observer, followers, extensions, guards: () => routingInForce().guards, isClosing, timers, log })
  const ownRoutes = [
    chatRoute(chatOptions({ inForce, timers, requests, observer, log })),
    ...modelRoutes(() => inForce.gateway, Date.now()),
    ...statusRoutes({
      unready: () => (isDraining ? 'stopping' : inForce.gateway.providers.length === 0 ? 'no provider is usable' : undefined),
      metrics: () => observer.metricsText(),
      page: page.front,
    }),
    ...page.routes,
  ]
  const server = listen({
    host: given.host,
    port: given.port,
    routing: routingInForce,
    isClosing,
    onMistake: (error, id) => log.error('a mistake of this service', { id, ...(error instanceof Error ? { error } : { reason: String(error) }) }),
  })
  const reload = () => {
    void inForce.reload()
    void extensions.reload()
  }
  process.on('SIGHUP', reload)

  stdout.write(startLines({ host: given.host, port: server.port, config: inForce.config, path, program: programName(environment), extensions: extensions.all }))
  await untilAborted(signal)
  isDraining = true
  followers.stopAll()
  process.off('SIGHUP', reload)
  await drain({ server, requests, log, timers, isHasty: signal.reason === 'SIGINT' })
  inForce.close()
  inForce.gateway.close()
  await extensions.close()
  await stores.close()
  transport.close()
  await observer.flush()
  await log.flush()
  return 0
}

function logOf({ logLevel, logFormat }: FlagValues<typeof flags>, { isTerminal, hasColour }: Output): Logger {
  return logger({ level: logLevel, format: logFormat === 'auto' ? (isTerminal ? 'human' : 'json') : logFormat, write: descriptorWriter(2), hasColour })
}

function observerOf(health: HealthBook, log: Logger): Observer {
  return localObserver({
    version: packageVersion(),
    breakers: () => health.openBreakers().map(({ provider, model = '' }) => ({ provider, model, isOpen: true })),
    logLinesDropped: () => log.dropped,
  }, Date.now)
}

interface ChatSurroundings {
  readonly inForce: ConfigInForce
  readonly timers: ServeTimers
  readonly requests: UnderWay
  readonly observer: Observer
  readonly log: Logger
}

function chatOptions({ inForce, timers, requests, observer, log }: ChatSurroundings): ChatOptions {
  const logRequest = requestLog(log)
  return {
    gateway: () => inForce.gateway,
    bodyLimits: () => ({ bytesMax: inForce.config.limits.bodyBytes, totalMs: timers.bodyMs, idleMs: timers.bodyIdleMs, setting: 'limits.body_bytes' }),
    deadlineMs: () => inForce.config.limits.deadlineMs,
    requestsMost: () => inForce.config.limits.maxConcurrent ?? Number.POSITIVE_INFINITY,
    timers,
    underWay: requests,
    streamsOpen: observer.streamsOpen,
    record(record) {
      observer.record(record)
      logRequest(record)
      if (record.cause instanceof Error) log.error('a mistake of this service', { id: record.id, error: record.cause })
    },
  }
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

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
