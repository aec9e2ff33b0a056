import type { FollowerHandlers, SharedFileHandlers } from '../../cluster/shared-files.ts'
import type { PrimaryLifecycle, WorkerLifecycle } from '../../cluster/worker-lifecycle.ts'
import type { Probe } from '../../config/detect.ts'
import type { RelayedBytes, RelayedRead } from '../../http/page/answers-api.ts'
import type { AnswerName } from '../../http/page/kept-answers.ts'
import type { LedgerPlace } from '../../ledger/ledger-place.ts'
import type { BudgetUse } from '../../limits/budgets/budget-account.ts'
import type { AskedBudget, SpendingQuestion } from '../../limits/budgets/opened-budgets.ts'
import type { AskedClaim, ClaimDecision, LeaseReports } from '../../limits/lease-messages.ts'
import type { PrimaryObserverHandlers, WorkerObserverHandlers } from '../../observe/observer-messages.ts'
import type { Alert, WebhookTarget } from '../../observe/webhook/webhook.ts'
import type { HealthEvent } from '../../service/health/health-event.ts'
import type { StoreAnswer, StoreOperation } from '../../stores/remote.ts'

/** Sent to a worker when it starts. */
export interface Welcome {
  /** Port to listen on. 0: the first worker picks a free one. */
  readonly port: number
  readonly workers: number
  /** Whether the service has started: this worker replaces another one. */
  readonly isReplacement: boolean
  /** Events that bring the health of providers up to date. */
  readonly healthEvents: readonly HealthEvent[]
}

/** Handled by the primary. */
export type PrimaryHandlers = PrimaryLifecycle &
  SharedFileHandlers &
  PrimaryObserverHandlers & {
    welcome(nothing: undefined): Welcome
    /** Reloads all files in all workers. */
    reloadAll(nothing: undefined): Promise<void>
    /** Starts a rolling restart, as SIGUSR2 does. */
    roll(nothing: undefined): void
    /** Performs an operation on the primary's stores. */
    store(operation: StoreOperation): Promise<StoreAnswer>
    /**
     * Decides about limits and budgets, for all workers. A worker of another version than its primary must get no
     * grant: what is sent has another name when it changes.
     */
    claimAccounts(claims: readonly AskedClaim[]): Promise<ClaimDecision>
    /** Takes a worker's reports about its leases. */
    reportLeases(reports: LeaseReports): void
    budgetUses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]>
    /** The spending in a scope since a time, by the sums of the ledger. */
    spentSince(question: SpendingQuestion): Promise<number>
    healthEvent(event: HealthEvent): void
    /** Reads an answer to the page that another worker keeps. */
    readAnswer(wanted: RelayedRead): Promise<RelayedBytes | undefined>
    /** Whether the worker shall answer a request that may also be sent to others. */
    claimAnswer(name: AnswerName): boolean
    /** A worker does not keep the answer that it has claimed. */
    releaseAnswer(name: AnswerName): void
    /** Stops an answer to the page in every other worker. */
    stopAnswer(name: AnswerName): void
    /** The targets of the active configuration: provider → target. */
    targets(targets: ReadonlyMap<string, string>): void
    /** Whether the service goes on when this worker ends. */
    isServing(nothing: undefined): boolean
    /** The models of a server at this port of 127.0.0.1. Cached until the configuration is reloaded. */
    probe(port: number): ReturnType<Probe>
    /** Records the use by the requests of all workers from now on. */
    keepUse(place: LedgerPlace): void
    /** Sums of use are cut at the hours of this time zone from now on. */
    setUseZone(zone: string): void
    /** Sends the alerts of all workers there from now on. */
    useWebhook(target: WebhookTarget | undefined): void
    /** Sends an alert of a budget that a worker counts in the store of several machines. */
    alert(alert: Alert): void
    /** Resolves when the page is built. */
    buildPage(nothing: undefined): Promise<void>
  }

/** Handled by a worker. */
export type WorkerHandlers = WorkerLifecycle &
  FollowerHandlers &
  WorkerObserverHandlers & {
    healthEvent(event: HealthEvent): void
    /** Reads an answer to the page, if this worker keeps it. */
    readAnswer(wanted: RelayedRead): Promise<RelayedBytes | undefined>
    stopAnswer(name: AnswerName): void
    /** Calls back the unused part of the worker's leases. */
    callBackLeases(keys: readonly string[]): Promise<LeaseReports>
  }
