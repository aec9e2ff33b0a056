import { formats } from '../formats/format-list.ts'
import { descriptionRoutes } from '../http/description-routes.ts'
import type { OpenRequests } from '../http/entrance/admission.ts'
import { apiPaths, apiRoute, apiRoutes } from '../http/entrance/api-call.ts'
import type { EntranceOptions } from '../http/entrance/entrance-options.ts'
import { modelRoutes } from '../http/entrance/models.ts'
import { ownKeyRoute } from '../http/entrance/own-key.ts'
import { extendedRouting } from '../http/extended-routing.ts'
import { lateRefusals } from '../http/late-refusals.ts'
import { isLoopbackAddress } from '../http/origin-policy.ts'
import { answerOnce, onceLimits } from '../http/page/answer-once.ts'
import { answersApi } from '../http/page/answers-api.ts'
import { keptAnswers, keptLimits, type KeptAnswers, type SharedAnswers } from '../http/page/kept-answers.ts'
import type { Route } from '../http/route.ts'
import type { Routing, ServerOptions } from '../http/server.ts'
import { metricsRoute, statusRoutes } from '../http/status-routes.ts'
import { auditMetricText, budgetMetricText } from '../observe/late-metrics.ts'
import { errorFields } from '../observe/log.ts'
import { requestLog } from '../observe/request-line.ts'
import type { Tracer } from '../observe/trace.ts'
import type { LearnedSizes } from '../prices/token-sizes.ts'
import { ownTimers } from '../service/shared-timers.ts'
import type { Capacity } from './capacity.ts'
import type { KeptIntake } from './content-intake.ts'
import { tracerFor } from './find-telemetry.ts'
import type { PageNeeds, ServedPage } from './page/serve-page.ts'
import type { Runtime } from './runtime.ts'

/** The parts of the service that its routes need. */
export interface RouteNeeds extends PageNeeds {
  readonly runtime: Runtime
  readonly address: { readonly isLoopback: boolean; readonly corsOrigins: readonly string[] }
  readonly page: ServedPage
  readonly answers: AllAnswers
  readonly content: Pick<KeptIntake, 'current'>
  readonly capacity: Capacity
  readonly requests: OpenRequests
  readonly tokenSizes: LearnedSizes
  /** Of the exporter. */
  readonly tracer: Tracer | undefined
}

/** The answers that this process keeps. */
export interface AllAnswers {
  readonly ofPage: KeptAnswers
  /** To requests with `Idempotency-Key`. */
  readonly ofRepeats: KeptAnswers
}

export function allAnswers(isClosing: () => boolean): AllAnswers {
  return {
    ofPage: keptAnswers(ownTimers, isClosing, keptLimits),
    ofRepeats: keptAnswers(ownTimers, isClosing, onceLimits),
  }
}

/** What other processes may read. */
function sharedAnswers({ ofPage, ofRepeats }: AllAnswers): SharedAnswers {
  return { find: (name) => ofPage.find(name) ?? ofRepeats.find(name), stop: (name) => ofPage.stop(name) }
}

/** The service's own routes: its API, its status, and the page. */
export function servedRoutes(needs: RouteNeeds): readonly Route[] {
  const { runtime, active, access, answers, closing, page, timers } = needs
  const entrance = entranceOptions(needs)
  const others = runtime.shareAnswers(sharedAnswers(answers))
  function unready(): string | undefined {
    if (closing.signal.aborted && !runtime.doOthersStay()) return 'stopping'
    return active.gateway.providers.length === 0 ? 'no provider is usable' : undefined
  }
  return [
    ...apiRoutes(entrance).map(
      answerOnce({ ...entrance, answers: answers.ofRepeats, others, stallMs: timers.stallMs }),
    ),
    ...answersApi({
      chat: apiRoute(formats.chat, entrance),
      answers: answers.ofPage,
      others,
      stallMs: timers.stallMs,
    }),
    ...modelRoutes(() => active.gateway, Date.now()),
    ownKeyRoute(() => access),
    ...statusRoutes({ unready, metrics: () => metricsText(needs), isOwner: page.isOwner, page: page.front }),
    ...descriptionRoutes(),
    ...page.routes,
  ]
}

/** Options of the server that serves these routes, with those of the extensions. */
export function serverOptions(needs: RouteNeeds, routes: readonly Route[]): ServerOptions {
  const { given, runtime, address, extensions, page, closing, timers, log } = needs
  const bodyTimes = { totalMs: timers.bodyMs, idleMs: timers.bodyIdleMs }
  const options = { ...address, bodyTimes, isOwner: page.isOwner }
  let routing: Routing | undefined
  let version: number | undefined
  return {
    host: given.host,
    port: runtime.port,
    isPortShared: runtime.isPortShared,
    commonPaths: apiPaths,
    /** Made for the first request after the start, and after a change of an extension. */
    routing() {
      if (routing === undefined || version !== extensions.version) {
        routing = extendedRouting(routes, extensions.contributions, options)
        version = extensions.version
      }
      return routing
    },
    isClosing: () => closing.signal.aborted,
    refusalDelay: lateRefusals({ delayMs: timers.lateRefusalMs }),
    onInternalError: (error, id) => log.error('internal error', { id, ...errorFields(error) }),
  }
}

/** Options of the server of metrics alone: no guard is asked, since their address decides who reads them. */
export function metricsServerOptions(
  needs: RouteNeeds,
  { host, port }: { readonly host: string; readonly port: number },
): ServerOptions {
  const { runtime, timers, log } = needs
  const isOwner = () => true
  const routing = extendedRouting([metricsRoute({ metrics: () => metricsText(needs), isOwner })], [], {
    ...{ isLoopback: isLoopbackAddress(host), corsOrigins: [], isOwner },
    bodyTimes: { totalMs: timers.bodyMs, idleMs: timers.bodyIdleMs },
  })
  return {
    ...{ host, port, isPortShared: runtime.isPortShared },
    routing: () => routing,
    isClosing: () => false,
    onInternalError: (error, id) => log.error('internal error', { id, ...errorFields(error) }),
  }
}

function entranceOptions(needs: RouteNeeds): EntranceOptions {
  const { active, access, address, capacity, content, log, observer, requests, timers, tokenSizes, tracer } = needs
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
    limiter: () => access.limiter(),
    content: content.current,
    tracer: tracerFor(tracer, active),
    trustsAll: address.isLoopback,
    tokenSizes,
    streamsOpen: observer.streamsOpen,
    record(record, cause) {
      observer.record(record)
      logRequest(record)
      if (cause instanceof Error) log.error('internal error', { id: record.id, error: cause })
    },
  }
}

async function metricsText({ observer, ledger, access }: RouteNeeds): Promise<string> {
  const audit = ledger.audit()
  const budgets = access.budgets()
  const texts = await Promise.all([
    observer.metricsText(),
    audit === undefined ? '' : auditMetricText(async () => (await audit.list(Number.MAX_SAFE_INTEGER, 1))[0]),
    budgets === undefined ? '' : budgetMetricText(() => budgets.sharedStates()),
  ])
  return texts.join('')
}
