import type { LoadTarget } from '../load.ts'
import type { RunningProxy } from '../proxies/proxy.ts'
import type { WarmUp } from '../warm-up.ts'

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

const rateNames = ['rate-100', 'rate-1000', 'rate-3000'] as const
/** Plain requests at a fixed rate. */
export type RateName = (typeof rateNames)[number]

const pacedNames = ['paced-1', 'paced-64', 'paced-1000'] as const
/** Streams at the pace of a model. */
export type PacedName = (typeof pacedNames)[number]

export const measureNames = [
  ...rateNames,
  'plain',
  'aged',
  'latency',
  ...pacedNames,
  'stream-throughput',
  'first-token',
  'memory',
  'bodies',
  'start',
] as const
export type MeasureName = (typeof measureNames)[number]

/** Default measures of a run. */
export const usualMeasures: readonly MeasureName[] = [
  ...rateNames,
  'plain',
  'aged',
  ...pacedNames,
  'stream-throughput',
  'first-token',
  'memory',
]

/** Measures of the side by side. */
export const sideBySideMeasures: readonly MeasureName[] = measureNames.filter((name) => name !== 'aged')

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
  /** Warms up a contender, once for each kind. */
  readonly warmUp: (kind: WarmUp, contender: Contender) => Promise<void>
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
  /** Names of the proxies that are measured. Absent: all. */
  readonly only?: readonly string[]
  /** Maximum of rounds, for a measure that takes long. Absent: those of the run. */
  readonly roundsMax?: number
  /** Whether other proxies are measured in the first round only: a round takes long, and no ratio is made. */
  readonly peersOnce: boolean
  /** Whether proxies that cannot stream are left out. */
  readonly needsStreams: boolean
  /** Load before the first round. Absent: none. */
  readonly warmUp?: WarmUp
  /** Measures one proxy in one round. @returns metric → value @throws ProgramError when the proxy fails */
  readonly run: (
    contender: Contender,
    round: number,
    setting: MeasureSetting,
  ) => Promise<Readonly<Record<string, number>>>
}
