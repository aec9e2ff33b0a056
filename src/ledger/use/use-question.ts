import type { CounterName } from './counters.ts'

/**
 * The names by which use can be grouped; `team`: those of the question; `session`: once each, at its first time; `all`:
 * one group.
 */
export type UseGroup = 'model' | 'provider' | 'person' | 'team' | 'key' | 'session' | 'all'

/** People, in all three ways. */
export type PeopleFilter = Required<Pick<UseFilter, 'people' | 'userIds' | 'userNames'>>

/** A team of people. */
export interface UseTeam extends PeopleFilter {
  readonly name: string
}

/** Whose use is asked for. Absent members do not limit it. */
export interface UseFilter {
  /** A line of keys. */
  readonly line?: number
  /** Subjects of people, as in `Person`. */
  readonly people?: readonly string[]
  /** People by their user ids, at any identity provider, and by their user names, whose case does not matter. */
  readonly userIds?: readonly string[]
  readonly userNames?: readonly string[]
  /** Name of a team: its keys, besides the people. */
  readonly team?: string
  readonly provider?: string
  /** Names of models in lower case, or beginnings of names and `*`. */
  readonly models?: readonly string[]
}

/** A question for the use in a span of time. */
export interface UseQuestion extends UseFilter {
  /** The first hour in Unix milliseconds, or the first day as a number such as 20261123. */
  readonly from: number
  /** The last hour or day. */
  readonly to: number
  readonly unit: 'hour' | 'day'
  readonly by: UseGroup
  /** By `team`: people of several teams count in the first one, so that sums are those of all. */
  readonly teams?: readonly UseTeam[]
  /** Most rows; further ones are left out. */
  readonly rowsMax: number
}

/** The use of one group in one hour or day. */
export interface UseRow {
  /** Unix milliseconds of the hour, or the day as a number. */
  readonly time: number
  /** Empty: no model, provider, person, team or key. */
  readonly name: string
  readonly counters: Readonly<Record<CounterName, number>>
}

/** Answer to {@link UseQuestion}. */
export interface UseAnswer {
  /** By time, then cost. */
  readonly rows: readonly UseRow[]
  /** There were more rows. */
  readonly isCut: boolean
  /** IANA name of the zone in which the last days began. */
  readonly timeZone: string
  /** When sums were last written, Unix milliseconds; absent: never. */
  readonly writtenAt?: number
}
