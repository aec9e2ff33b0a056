import { watchConfig, type ConfigWatch, type WatchTiming } from './watch-config.ts'

/** A file that a service follows while it runs: what it makes of it, and what it does with that. */
export interface Followed<Value> {
  readonly path: string
  /** Makes something of the file as it is now. @throws when it is not sound */
  load(): Promise<Value>
  /**
   * Puts in force what was made. @param isSpeaker this process is the one, of all that do the same, that tells people
   * of it
   */
  apply(value: Value, isSpeaker: boolean): void | Promise<void>
  /** The file as it is now was not taken over; what is in force stays. */
  report(error: unknown, isSpeaker: boolean): void | Promise<void>
  /** What was made is not put in force, since another process could not take the file over. */
  discard?(value: Value): void | Promise<void>
}

/** Follows a file: as {@link watchConfig} does, be it this process that watches or another. */
export type FollowFile = <Value>(followed: Followed<Value>) => ConfigWatch

/** Follows files in this process alone. */
export function followHere(timing?: WatchTiming): FollowFile {
  return ({ path, load, apply, report }) =>
    watchConfig(
      path,
      load,
      (value) => apply(value, true),
      (error) => report(error, true),
      timing,
    )
}
