import type { Person } from '../people/person.ts'
import type { RequestRecord } from './record.ts'
import type { AskedProvider, AttemptEntry } from './request-entry.ts'

/** Estimated costs of attempts under way, or whose request is not recorded yet, of one caller, model and provider. */
export interface HeldCost {
  /** Id of the first key of the line; 0: no key. */
  readonly line: number
  /** As in {@link RequestRecord}. */
  readonly person?: Person | undefined
  /** Name of the team that the key belongs to. */
  readonly team?: string | undefined
  /** As `listedAs` of {@link RequestRecord}, else `upstream`. */
  readonly model: string
  readonly provider: string
  /** Number of the attempts. */
  readonly attempts: number
  readonly nanoUsd: number
}

/** What a process holds, as it was at one moment. */
export interface HeldBy {
  /** Names the process, so that others can see that it has ended. */
  readonly holder: string
  readonly costs: readonly HeldCost[]
}

/** A request under way. */
export interface RunningRequest extends Pick<
  RequestRecord,
  'time' | 'id' | 'api' | 'model' | 'stream' | 'user' | 'line' | 'person'
> {
  readonly firstTokenMs?: number | undefined
  /** The attempts so far. */
  readonly trail: readonly AttemptEntry[]
  /** Absent: a provider answers, or none was asked yet. */
  readonly asking?: AskedProvider | undefined
}

/** The requests under way. */
export interface RunningRequests {
  readonly count: number
  /** At most 200, the oldest first. */
  readonly requests: readonly RunningRequest[]
}

/** Describes the requests under way, or those with this id. */
export type RunningSource = (id: string | undefined) => RunningRequests

/** Requests under way that are described. */
export const runningMax = 200
