import { gatewayMetrics, type GatewayMetricsOptions } from './gateway-metrics.ts'
import type { Observer } from './observer.ts'
import { recentRequests } from './recent-requests.ts'
import type { RequestRecord } from './record.ts'
import type { MetricValues } from './registry.ts'
import type { RunningSource } from './under-way.ts'

export interface LocalObserverOptions extends GatewayMetricsOptions {
  /** Unix milliseconds. */
  readonly now: () => number
  /** Called with each record. */
  readonly onRecord?: (record: RequestRecord) => void
}

/** An observer that has the metrics. */
interface LocalObserver extends Observer {
  metricValues(): readonly MetricValues[]
}

/** Makes the observer of a service of one process. */
export function localObserver({ now, onRecord, ...options }: LocalObserverOptions): LocalObserver {
  const metrics = gatewayMetrics(options)
  const recent = recentRequests(now)
  let running: RunningSource = () => ({ count: 0, requests: [] })
  return {
    record(record) {
      metrics.record(record)
      recent.record(record)
      onRecord?.(record)
    },
    streamsOpen: metrics.streamsOpen,
    reloaded: (result) => metrics.reloaded(result),
    metricsText: async () => metrics.text(),
    metricValues: metrics.read,
    remembered: async (scope, after) => recent.since(scope, after),
    find: async (scope, id) => recent.find(scope, id),
    trackRunning(source) {
      running = source
    },
    running: async (id) => running(id),
    callers: async () => recent.callers(),
    attempts: async (providers) => new Map(providers.map((provider) => [provider, recent.attempts(provider)])),
    subscribe: recent.subscribe,
    flush: async () => undefined,
  }
}
