import type { Probe } from '../config/detect.ts'
import type { FollowFile } from '../config/follow-file.ts'
import type { Observer } from '../observe/observer.ts'
import type { HealthBook } from '../service/health.ts'
import type { Stores } from '../stores/store.ts'

/**
 * What the processes of one service have in common, as the one that serves sees it: it may be the only one
 * (`commons-alone.ts`) or a worker (`commons-of-worker.ts`).
 */
export interface Commons {
  /** Where to listen. 0: a free one. */
  readonly port: number
  /** How many processes share the port, and the limits of the configuration. */
  readonly workers: number
  readonly isPortShared: boolean
  /** Whether what every process finds alike when it reads a file is for this one to tell people of. */
  readonly isSpeaker: boolean
  /**
   * Whether the service has begun without this process: whoever started it no longer waits to hear what is wrong with a
   * file.
   */
  readonly joinsLate: boolean
  readonly health: HealthBook
  readonly stores: Stores
  readonly observer: Observer
  readonly follow: FollowFile
  /** Asks a local port for its models, all processes with the same result. */
  readonly probe: Probe
  /** Has the page built where that is to be done, once for all. @throws when it cannot be */
  buildPage(): Promise<void>
  /** Aborts when this process is to end. Its reason is a signal's name, or the cause in words. */
  readonly leaving: AbortSignal
  /** Whether others of this service go on serving when this process leaves. */
  doOthersStay(): boolean
  /** It listens. @param lines for whoever started the service */
  listening(port: number, lines: string): void
  /** Everything anew, as SIGHUP asks for. */
  reload(): void
  /**
   * Leaves a port that others of this service go on listening on, losing nobody. The server must go on serving until
   * its connections have gone.
   *
   * @returns whether it was left; if not, it still listens
   */
  leavePort(): Promise<boolean>
  /** The server listens no more. */
  leftPort(): void
  close(): Promise<void>
}
