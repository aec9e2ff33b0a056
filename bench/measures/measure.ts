import type { LoadTarget } from '../load.ts'
import type { RunningProxy } from '../proxies/proxy.ts'

/** The upstream itself is measured under this name. */
export const directName = 'direct'

/** The service is measured under this name. */
export const serviceName = 'svc'

/** One figure, from one round on one proxy. */
export interface Measurement {
  readonly measure: MeasureName
  /** From 1. */
  readonly round: number
  /** Name of a proxy, or `direct`. */
  readonly proxy: string
  /** Ends with its unit, such as `cpuUs`. */
  readonly metric: string
  readonly value: number
}

export const measureNames = [
  'plain',
  'latency',
  'throughput',
  'stream',
  'streams-64',
  'stream-throughput',
  'first-token',
  'memory',
  'bodies',
  'start',
] as const
export type MeasureName = (typeof measureNames)[number]

/** What a run measures unless told otherwise. */
export const usualMeasures: readonly MeasureName[] = ['plain', 'latency', 'stream', 'first-token', 'memory']

/** What the side by side is made of. */
export const sideBySideMeasures: readonly MeasureName[] = measureNames.filter((name) => name !== 'stream')

/** A proxy under load. */
export interface Contender extends LoadTarget {
  /** Root of its processes. Absent for the upstream itself. */
  readonly pid?: number
  /** Whether it answers a request for a stream with one. */
  readonly canStream: boolean
}

/** What a measure needs to know of the run. */
export interface MeasureSetting {
  /** How long each measurement of a round lasts, seconds. */
  readonly seconds: number
  /** Core of the load and the upstream. */
  readonly loadCore: number
  /** Starts a further instance of a proxy, for a measure that needs a fresh one. */
  readonly startFresh: (name: string) => Promise<RunningProxy>
  /** The same without waiting until it listens. */
  readonly launch: (name: string) => Promise<RunningProxy>
}

/** One thing to find out about each proxy, one round at a time. */
export interface Measure {
  readonly name: MeasureName
  /** Whether the upstream without a proxy is measured too. */
  readonly includesDirect: boolean
  /**
   * Whether proxies other than the service are measured in the first round only, because a round takes long and no
   * ratio is made.
   */
  readonly peersOnce: boolean
  /** Whether those who do not stream are left out. */
  readonly needsStreams: boolean
  /** Metric → value. @throws ProgramError when the proxy does not do what is asked of it. */
  readonly run: (
    contender: Contender,
    round: number,
    setting: MeasureSetting,
  ) => Promise<Readonly<Record<string, number>>>
}
