import { isLoopbackHost } from '../base/this-machine.ts'
import type { Config } from '../config/config.ts'
import { defaultLimits } from '../config/defaults.ts'
import type { Environment } from '../config/file/environment.ts'
import { keysEnvFile } from '../config/file/key-texts.ts'
import { configOf } from '../config/file/load-config.ts'
import { presetsFile } from '../config/file/parse-presets.ts'
import { priceFiles } from '../config/file/parse-prices.ts'
import { refuseDanglingLink } from '../config/file/read-text.ts'
import { readWebhookSecret } from '../config/file/webhook.ts'
import { configOfWorker } from '../config/file/worker-config.ts'
import { accessFile, findHome } from '../config/home.ts'
import type { Contribution } from '../extensions/extension.ts'
import { openRequests } from '../http/entrance/admission.ts'
import { isLoopbackAddress } from '../http/origin-policy.ts'
import type { AccessPolicy, WebhookEntry } from '../limits/access-policy.ts'
import type { Logger } from '../observe/log.ts'
import type { WebhookTarget } from '../observe/webhook/webhook.ts'
import { priceBook } from '../prices/price-book.ts'
import { LearnedSizes } from '../prices/token-sizes.ts'
import { httpClient } from '../transport/http-client.ts'
import { activeConfig } from './active-config.ts'
import type { Dependencies } from './assemble.ts'
import { auditedFollow } from './audited-follow.ts'
import { capacityOf } from './capacity.ts'
import { checkAccess, checkOwnersNamed, checkStillGuarded } from './check-access.ts'
import { CommandSocket } from './command-socket.ts'
import { contentIntake } from './content-intake.ts'
import { drain } from './drain.ts'
import { checkExtensionNames } from './extensions/check-extension-files.ts'
import { RunningExtensions, type Switched } from './extensions/run-extensions.ts'
import { extensionNames, startExtensions } from './extensions/start-extensions.ts'
import { findTracer } from './find-telemetry.ts'
import { budgetsHere, AccessFile, ActiveAccess } from './follow-access.ts'
import { followPrices } from './follow-prices.ts'
import { KeyFiles } from './key-files.ts'
import { listen, readCorsOrigins } from './listen.ts'
import { programName } from './package.ts'
import { servePage } from './page/serve-page.ts'
import { PartList } from './parts.ts'
import type { Runtime } from './runtime.ts'
import { untilAborted, type ServeContext } from './serve-context.ts'
import { allAnswers, metricsServerOptions, servedRoutes, serverOptions } from './served-routes.ts'
import { SharedHistory } from './shared-history.ts'
import { SharedLedger } from './shared-ledger.ts'
import { shippedPrices } from './shipped-prices.ts'
import { startLines } from './start-lines.ts'
import { readTimers } from './timers.ts'
import { warnOfUnpriced } from './unpriced-models.ts'

/**
 * The service in this process: its parts, in the order of their start. Each entry names the parts that it needs, and
 * all are closed in reverse (`parts.ts`). Three parts are empty objects at first, so that others may ask them from the
 * beginning: `access` (the policy of access.json), `extensions`, and the limits in `capacity`.
 *
 * Facilities of the process come first (`runtime.ts`), then the database and the files. `active` has the configuration
 * with its gateway (`assemble.ts`), which `served-routes.ts` and `page/serve-page.ts` turn into routes. The server is
 * the last but one: it is drained before any part that a request needs is closed. The last entry announces the start,
 * and its close the stop.
 */
const serviceParts = PartList.of<ServeContext & { readonly runtime: Runtime }>()
  .add(
    ({ runtime, log }) => ({
      observer: runtime.observer,
      /** For facts about files, which every process finds. */
      warn: runtime.isReporter ? log.warn : () => undefined,
    }),
    async ({ runtime, log }) => {
      await runtime.close()
      await log.flush()
    },
  )
  .add(async ({ environment }) => ({ tracer: await findTracer(environment) }))
  .add(({ environment, given }) => ({
    timers: readTimers(environment),
    address: { corsOrigins: readCorsOrigins(environment), isLoopback: isLoopbackAddress(given.host) },
    accessPath: accessFile(environment),
  }))
  .add(
    () => ({ transport: httpClient() }),
    ({ transport }) => transport.close(),
  )
  .add(
    ({ runtime, environment, log }) => {
      const { isReplacement, isReporter } = runtime
      return { history: new SharedHistory({ environment, log, isReplacement, isSweeper: isReporter }) }
    },
    ({ history }) => history.close(),
  )
  .add(
    ({ runtime: { keepUse, isReplacement }, environment, log }) => ({
      ledger: new SharedLedger({ environment, log, onOpen: keepUse, isReplacement }),
    }),
    ({ ledger }) => ledger.close(),
  )
  .add(({ runtime, ledger, log }) => ({
    files: auditedFollow({ follow: runtime.follow, record: ledger.record, audit: ledger.audit, log }),
  }))
  .add(
    async ({ environment, runtime: { follow }, log, warn }) => ({
      keys: await KeyFiles.start({ environment, follow, log, warn }),
    }),
    ({ keys }) => keys.close(),
  )
  .add(({ observer }) => {
    const requests = openRequests()
    observer.trackRunning(requests.running)
    return {
      requests,
      /** Streams of live requests to pages. */
      followers: openRequests(),
      closing: new AbortController(),
    }
  })
  .add(({ runtime, transport, requests }) => ({
    capacity: capacityOf({
      limits: defaultLimits,
      upstreams: transport,
      openRequests: requests,
      workers: runtime.workers,
    }),
    access: new ActiveAccess(),
    extensions: new RunningExtensions(),
    tokenSizes: new LearnedSizes(),
    prices: priceBook(shippedPrices()),
  }))
  .add(
    async ({ environment, prices, files: { follow }, log }) => {
      const paths = priceFiles(environment)
      return { priceFiles: paths && (await followPrices({ files: paths, prices, follow, log })) }
    },
    (parts) => parts.priceFiles?.close(),
  )
  .add(async ({ environment, keys, transport, prices, access, runtime, capacity, log, modelsCache }) => {
    const presets = presetsFile(environment)
    if (presets !== undefined) await refuseDanglingLink(presets)
    const dependencies: Dependencies = {
      transport,
      keys,
      prices,
      budgets: () => access.budgets(),
      health: runtime.health,
      answerBudget: capacity.answerBudget,
      log,
      ...(modelsCache === undefined ? {} : { modelsCache }),
    }
    return { dependencies }
  })
  .add(
    async ({ given, environment, path, runtime, observer, history, ...parts }) => {
      const { access, capacity, dependencies, extensions, keys, log, warn } = parts
      const { port: ownPort, probe, workers } = runtime
      const source = {
        environment,
        keys,
        ownPort,
        probe,
        warn,
        ...(given.config === undefined ? {} : { file: given.config }),
      }
      const active = await activeConfig({
        path,
        dependencies,
        log,
        follow: parts.files.follow,
        async load(text) {
          const config = configOfWorker(await configOf(text, source), workers)
          await history.prepare(config)
          checkExtensionNames(config, path)
          await extensions.prepare(extensionNames(given, config))
          return config
        },
        // Extensions may change while a configuration is loaded.
        admit(config) {
          const switched = extensions.switch((contributions, earlier) => {
            checkOwnersNamed(config, contributions, path)
            checkStillGuarded(config, { contributions, earlier, file: path })
            const policy = access.policy()
            // Without this, limits of people would end with sign-in.
            if (earlier !== undefined && policy !== undefined && parts.accessPath !== undefined)
              checkAccess(policy, { providers: idsOf(config), contributions, file: parts.accessPath })
          })
          if (switched !== undefined && runtime.isReporter) logSwitched(switched, log)
        },
        onActive(config) {
          keys.keep(config.providers)
          capacity.replaceLimits(config.limits)
          history.activate(config)
        },
        onReload: (result) => observer.reloaded(result),
        onReplaced: (replaced) => void warnOfUnpriced({ active: replaced, access, log }),
      })
      keys.serve({ again: () => active.again(), providers: () => active.config.providers })
      return { active }
    },
    ({ active }) => {
      active.close()
      active.gateway.close()
    },
  )
  .add(
    ({ ledger, access, active, log }) => ({
      content: contentIntake({
        ledger,
        rules: () => access.contentRules(),
        providers: () => active.config.providers,
        log,
      }),
    }),
    ({ content }) => content.close(),
  )
  .add(({ active, accessPath, extensions }) => ({
    /** Checks that limits and keys can have an effect. @throws {ConfigError} */
    checkPolicy(
      policy: AccessPolicy | undefined,
      contributions: readonly Contribution[] = extensions.contributions,
    ): void {
      if (policy === undefined || accessPath === undefined) return
      checkAccess(policy, { providers: idsOf(active.config), contributions, file: accessPath })
    },
    checkFileKeys(): void {
      for (const contribution of extensions.contributions) void contribution.checkFileKeys?.()
    },
  }))
  .add(
    async (parts) => {
      await startExtensions(parts)
      return {}
    },
    ({ extensions }) => extensions.close(),
  )
  .add(
    ({ environment, runtime, extensions, log }) => {
      const socket = new CommandSocket({ people: () => extensions.people, log })
      const open = (): void => {
        if (runtime.isReporter && extensions.all.some(({ name }) => name !== 'keys'))
          socket.open(findHome(environment).sockets)
      }
      open()
      extensions.onSwitch(open)
      return { socket }
    },
    ({ socket }) => socket.close(),
  )
  .add(
    async ({ accessPath, runtime, ledger, active, access, content, tokenSizes, ...parts }) => {
      if (accessPath === undefined) return { accessFile: undefined }
      const { checkFileKeys, checkPolicy, files, keys, log, warn } = parts
      const followed = new AccessFile({
        access,
        path: accessPath,
        follow: files.follow,
        log,
        check: checkPolicy,
        makeLimiter: runtime.makeLimiter,
        onZone: runtime.setUseZone,
        onWebhook: (webhook) => runtime.useWebhook(targetOf(webhook, keys.environment, warn)),
        makeBudgets: () => budgetsHere({ runtime, ledger, tokenSizes }),
        prepareContent: content.prepare,
        onChange() {
          checkFileKeys()
          void warnOfUnpriced({ active, access, log })
        },
      })
      await followed.start()
      return { accessFile: followed }
    },
    (parts) => parts.accessFile?.close(),
  )
  .add(async ({ runtime, ledger, files, active, access, extensions, checkFileKeys, log, warn }) => {
    if (active.config.history === 'server' && extensions.guards.length === 0)
      warn('"history": "server" has no effect without sign-in: conversations stay in browsers')
    if (!runtime.isReporter) return {}
    checkFileKeys()
    void warnOfUnpriced({ active, access, log })
    // Machines with one database have files of their own, of which one may be older than the last entry.
    if (ledger.isOfThisMachine()) await files.noteEarlierChanges()
    return {}
  })
  .add((parts) => ({
    page: servePage(parts),
    /** Answers that go on without a reader. */
    answers: allAnswers(() => parts.closing.signal.aborted),
  }))
  .add(
    (parts) => {
      const { metricsPort } = parts.given
      if (metricsPort === undefined) return { metricsServer: undefined }
      return { metricsServer: listen(metricsServerOptions(parts, metricsPort), '--metrics-port') }
    },
    ({ metricsServer }) => metricsServer?.stop(true),
  )
  .add(
    (parts) => ({ server: listen(serverOptions(parts, servedRoutes(parts))) }),
    ({ runtime, server, requests, log, timers }) =>
      drain({
        server,
        requests,
        log,
        timers,
        isImmediate: runtime.stopping.reason === 'SIGINT',
        doOthersListen: runtime.doOthersListen,
        leftPort: runtime.leftPort,
      }),
  )
  .add(
    (parts) => {
      const { given, environment, path, runtime, active, extensions, page, warn, metricsServer } = parts
      const { host, metricsPort } = given
      const { port } = parts.server
      process.on('SIGHUP', runtime.reload)
      for (const { origin } of extensions.contributions) warnOfOtherPort(origin, port, warn)
      const program = programName(environment)
      const { config } = active
      runtime.listening(
        port,
        startLines({
          host,
          port,
          metrics: metricsServer && { host: metricsPort?.host ?? host, port: metricsServer.port },
          config,
          path,
          keysFile: keysEnvFile(environment),
          program,
          extensions: extensions.all,
        }),
      )
      page.build()
      return {}
    },
    ({ runtime, closing, followers, answers }) => {
      closing.abort()
      followers.stopAll()
      answers.ofPage.stopUnread()
      answers.ofRepeats.stopUnread()
      process.off('SIGHUP', runtime.reload)
    },
  )

/** The webhook with its secret. Without a secret nothing is sent: alerts must not keep a service down. */
function targetOf(
  webhook: WebhookEntry | undefined,
  environment: Environment,
  warn: (message: string) => void,
): WebhookTarget | undefined {
  if (webhook === undefined) return undefined
  const { secret, fault } = readWebhookSecret(webhook, environment)
  if (fault !== undefined) warn(`no alerts are sent to the webhook of access.json: ${fault}`)
  return secret === undefined ? undefined : { url: webhook.url, secret }
}

function idsOf({ providers }: Config): readonly string[] {
  return providers.map(({ id }) => id)
}

function logSwitched({ added, ended }: Switched, log: Logger): void {
  if (added.length > 0) log.info('switched on by "auth" in providers.json', { extensions: added.join(', ') })
  if (ended.length > 0) log.warn('switched off by "auth" in providers.json', { extensions: ended.join(', ') })
}

/** Sign-in that comes back to another port of this machine is the most frequent mistake of its set-up. */
function warnOfOtherPort(origin: string | undefined, port: number, warn: (message: string) => void): void {
  if (origin === undefined) return
  const { protocol, hostname, port: named } = new URL(origin)
  if (protocol !== 'http:' || !isLoopbackHost(hostname) || Number(named === '' ? 80 : named) === port) return
  warn(
    `sign-in comes back to ${origin} (redirect_uri), but svc listens on port ${port}: ` +
      'no sign-in can end, unless a proxy passes that address on to svc',
  )
}

/** Serves in this process until it is stopped: to the last byte of its last answer. @returns the exit code */
export async function serveHere(context: ServeContext, runtime: Runtime): Promise<number> {
  const { close } = await serviceParts.start({ ...context, runtime })
  await untilAborted(runtime.stopping)
  await close()
  return 0
}
