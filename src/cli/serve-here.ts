import { loadConfig } from '../config/load-config.ts'
import { configOfWorker } from '../config/share-of.ts'
import { UnknownExtension } from '../extensions/load.ts'
import { SlotFault } from '../extensions/slots.ts'
import { chatRoute, type ChatOptions } from '../http/chat-completions.ts'
import { extendedRouting } from '../http/extended-routing.ts'
import { modelRoutes } from '../http/models.ts'
import type { Routing } from '../http/server.ts'
import { statusRoutes } from '../http/status-routes.ts'
import { underWay, type UnderWay } from '../http/under-way.ts'
import { mistake, type Logger } from '../observe/log.ts'
import type { Observer } from '../observe/observer.ts'
import { requestLog } from '../observe/request-line.ts'
import { httpClient } from '../transport/http-client.ts'
import { UsageError } from './arguments.ts'
import type { Surroundings } from './assemble.ts'
import type { Commons } from './commons.ts'
import { configInForce, type ConfigInForce } from './config-in-force.ts'
import { readCorsOrigins } from './cors-origins.ts'
import { drain } from './drain.ts'
import { hostFetch } from './host-fetch.ts'
import { listen } from './listen.ts'
import { programName } from './process.ts'
import { roomFor, type Room } from './room.ts'
import { runExtensions, type ExtensionsOptions, type RunningExtensions } from './run-extensions.ts'
import type { ServeContext } from './serve-context.ts'
import { servePage } from './serve-page.ts'
import { startLines } from './start-lines.ts'
import { readTimers, type ServeTimers } from './timers.ts'
import { untilAborted } from './until-aborted.ts'

/** The service in this process: from its configuration to the last byte of its last answer. */
export async function serveHere(
  { given, environment, path, log, modelsCache }: ServeContext,
  commons: Commons,
): Promise<number> {
  const timers = readTimers(environment)
  const corsOrigins = readCorsOrigins(environment)
  const transport = httpClient()
  const { health, observer, stores, follow, leaving } = commons
  const warn: Logger['warn'] = commons.isSpeaker ? log.warn : () => undefined
  const requests = underWay()
  const room = roomFor({
    limits: () => inForce.config.limits,
    upstreams: transport,
    underWay: requests,
    workers: commons.workers,
  })
  const surroundings: Surroundings = {
    transport,
    health,
    answerRoom: room.answerRoom,
    log,
    ...(modelsCache === undefined ? {} : { modelsCache }),
  }
  const inForce = await configInForce({
    path,
    surroundings,
    log,
    follow,
    load: async () =>
      configOfWorker(
        await loadConfig({
          environment,
          ownPort: commons.port,
          probe: commons.probe,
          warn,
          ...(given.config === undefined ? {} : { file: given.config }),
        }),
        commons.workers,
      ),
    onReload: (result) => observer.reloaded(result),
  })
  const followers = underWay()
  let isDraining = false
  const isClosing = () => isDraining
  let routing: Routing | undefined
  const extensions = await startExtensions({
    names: given.auth,
    environment,
    stores,
    log,
    warn,
    follow,
    fetch: hostFetch(transport),
    onChange: () => {
      routing = undefined
    },
    onFault: (name, error) =>
      log.error('the extension was not reloaded; what was in force stays', {
        extension: name,
        reason: reasonOf(error),
      }),
  })
  const routingInForce = (): Routing => (routing ??= extendedRouting(ownRoutes, extensions.contributions, corsOrigins))
  const listening = Promise.withResolvers<void>()
  const page = servePage({
    path,
    environment,
    inForce,
    surroundings,
    observer,
    followers,
    extensions,
    guards: () => routingInForce().guards,
    isClosing,
    timers,
    log,
    listening: listening.promise,
    buildPage: commons.buildPage,
  })
  const ownRoutes = [
    chatRoute(chatOptions({ inForce, room, timers, requests, observer, log })),
    ...modelRoutes(() => inForce.gateway, Date.now()),
    ...statusRoutes({
      unready: () =>
        isDraining && !commons.doOthersStay()
          ? 'stopping'
          : inForce.gateway.providers.length === 0
            ? 'no provider is usable'
            : undefined,
      metrics: () => observer.metricsText(),
      page: page.front,
    }),
    ...page.routes,
  ]
  const server = listen({
    host: given.host,
    port: commons.port,
    isPortShared: commons.isPortShared,
    routing: routingInForce,
    isClosing,
    onMistake: (error, id) => log.error('a mistake of this service', { id, ...mistake(error) }),
  })
  process.on('SIGHUP', commons.reload)

  commons.listening(
    server.port,
    startLines({
      host: given.host,
      port: server.port,
      config: inForce.config,
      path,
      program: programName(environment),
      extensions: extensions.all,
    }),
  )
  listening.resolve()
  await untilAborted(leaving)
  isDraining = true
  followers.stopAll()
  process.off('SIGHUP', commons.reload)
  await drain({
    server,
    requests,
    log,
    timers,
    isHasty: leaving.reason === 'SIGINT',
    leavePort: commons.leavePort,
    leftPort: commons.leftPort,
  })
  inForce.close()
  inForce.gateway.close()
  await extensions.close()
  transport.close()
  await commons.close()
  await log.flush()
  return 0
}

interface ChatSurroundings {
  readonly inForce: ConfigInForce
  readonly room: Room
  readonly timers: ServeTimers
  readonly requests: UnderWay
  readonly observer: Observer
  readonly log: Logger
}

function chatOptions({ inForce, room, timers, requests, observer, log }: ChatSurroundings): ChatOptions {
  const logRequest = requestLog(log)
  return {
    gateway: () => inForce.gateway,
    bodyLimits: () => ({
      bytesMax: inForce.config.limits.bodyBytes,
      totalMs: timers.bodyMs,
      idleMs: timers.bodyIdleMs,
      setting: 'limits.body_bytes',
    }),
    deadlineMs: () => inForce.config.limits.deadlineMs,
    ...room,
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

/** Sign-in that was asked for and does not exist must not leave the service open (docs/sign-in.md). */
async function startExtensions(options: ExtensionsOptions): Promise<RunningExtensions> {
  try {
    return await runExtensions(options)
  } catch (error) {
    throw error instanceof UnknownExtension || error instanceof SlotFault
      ? new UsageError(error.message, { cause: error })
      : error
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
