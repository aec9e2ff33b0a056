import type { LoadTarget } from '../load.ts'
import type { RunningProxy } from '../proxies/proxy.ts'

/** Name of the upstream itself in measurements. */
export const directName = 'direct'

/** Name of the service in measurements. */
export const serviceName = 'svc'

/** One figure of one proxy in one round. */
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

/** Default measures of a run. */
export const usualMeasures: readonly MeasureName[] = ['plain', 'latency', 'stream', 'first-token', 'memory']

/** Measures of the side by side. */
export const sideBySideMeasures: readonly MeasureName[] = measureNames.filter((name) => name !== 'stream')

/** A proxy under load. */
export interface Contender extends LoadTarget {
  /** Root process. Absent for the upstream itself. */
  readonly pid?: number
  /** Whether it can stream. */
  readonly canStream: boolean
}

/** Parameters of the run for a measure. */
export interface MeasureSetting {
  /** Duration of each measurement, seconds. */
  readonly seconds: number
  /** Core of the load and the upstream. */
  readonly loadCore: number
  /** Starts a new instance of a proxy. */
  readonly startFresh: (name: string) => Promise<RunningProxy>
  /** The same without waiting until it listens. */
  readonly launch: (name: string) => Promise<RunningProxy>
}

/** A measurement of each proxy, one round at a time. */
export interface Measure {
  readonly name: MeasureName
  /** Whether the upstream without a proxy is measured too. */
  readonly includesDirect: boolean
  /** Whether other proxies are measured in the first round only: a round takes long, and no ratio is made. */
  readonly peersOnce: boolean
  /** Whether proxies that cannot stream are left out. */
  readonly needsStreams: boolean
  /** Measures one proxy in one round. @returns metric → value @throws ProgramError when the proxy fails */
  readonly run: (
    contender: Contender,
    round: number,
    setting: MeasureSetting,
  ) => Promise<Readonly<Record<string, number>>>
}
