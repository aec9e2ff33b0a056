import type { Probe } from '../config/detect.ts'
import type { FollowFile } from '../config/watch/follow-file.ts'
import type { OtherAnswers } from '../http/page/answers-api.ts'
import type { SharedAnswers } from '../http/page/kept-answers.ts'
import type { LedgerPlace } from '../ledger/ledger-place.ts'
import type { BudgetAuthority } from '../limits/budgets/budget-authority.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Observer } from '../observe/observer.ts'
import type { HeldCost } from '../observe/under-way.ts'
import type { WebhookTarget } from '../observe/webhook/webhook.ts'
import type { HealthBook } from '../service/health/health.ts'
import type { Stores } from '../stores/store.ts'

/**
 * Facilities of a process that serves requests, shared with the other processes of its service: the only process
 * (`single-runtime.ts`) or a worker (`workers/worker-runtime.ts`).
 */
export interface Runtime {
  /** Port to listen on. 0: a free one. */
  readonly port: number
  /** Number of processes that share the port, and the limits of the configuration. */
  readonly workers: number
  readonly isPortShared: boolean
  /** Whether this process logs for all processes what each of them finds in a file. */
  readonly isReporter: boolean
  /** Whether this process replaces another one, after the start of the service. */
  readonly isReplacement: boolean
  readonly health: HealthBook
  readonly stores: Stores
  readonly observer: Observer
  /** Stores the holds of this process from now on. @returns to be called when that has changed */
  storeHolds(sums: () => readonly HeldCost[] | undefined): () => void
  /** Records the use by requests in the database from now on. */
  keepUse(place: LedgerPlace): void
  /** Sums of use are cut at the hours of this time zone from now on. @param zone IANA name */
  setUseZone(zone: string): void
  /** Sends the alerts of all processes there from now on. */
  useWebhook(target: WebhookTarget | undefined): void
  /** Shares the kept answers of this process. @returns those of the others; `undefined`: there are no others */
  shareAnswers(answers: SharedAnswers): OtherAnswers | undefined
  readonly follow: FollowFile
  /** Asks a local port for its models, with the same result for all processes. */
  readonly probe: Probe
  /** Makes the limiter of this process, which limits all processes together. It is loaded only then. */
  makeLimiter(): Promise<Limiter>
  /** Makes what decides on holds of money, for all processes together. It is loaded only then. */
  makeBudgetAuthority(): Promise<BudgetAuthority>
  /** Builds the page if needed, once for all processes. @throws when the build fails */
  buildPage(): Promise<void>
  /** Aborts when this process has to end. The reason is a signal's name, or the cause. */
  readonly stopping: AbortSignal
  /** Whether other processes go on serving when this one ends. */
  doOthersStay(): boolean
  /** Whether other processes listen on the port when this one leaves it. */
  doOthersListen(): Promise<boolean>
  /** The server listens. @param lines text for the terminal that started the service */
  listening(port: number, lines: string): void
  /** Reloads all files, as SIGHUP asks for. */
  reload(): void
  /** The server has stopped listening. */
  leftPort(): void
  close(): Promise<void>
}
