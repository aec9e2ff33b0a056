import type { FileCoordinatorAnswers, FileFollowerAnswers } from '../cluster/file-messages.ts'
import type { PlaceInGroup } from '../cluster/shared-port-order.ts'
import type { PrimaryLife, WorkerLife } from '../cluster/worker-life.ts'
import type { Probe } from '../config/detect.ts'
import type { PrimaryObservation, WorkerObservation } from '../observe/observer-messages.ts'
import type { HealthNews } from '../service/health-news.ts'
import type { StoreAnswer, StoreOperation } from '../stores/remote.ts'

/** What a worker is told when it starts. */
export interface Welcome {
  /** Where to listen. 0: the first worker picks a free one. */
  readonly port: number
  readonly workers: number
  /** Whether others serve, or have served. */
  readonly hasBegun: boolean
  /** What is known of providers in trouble. */
  readonly standing: readonly HealthNews[]
}

/** What a worker may ask of its primary, and tell it. */
export type PrimaryAnswers = PrimaryLife &
  FileCoordinatorAnswers &
  PrimaryObservation & {
    welcome(nothing: undefined): Welcome
    /** Every file anew, at all workers. */
    reloadAll(nothing: undefined): Promise<void>
    /** A new worker in the place of each, as SIGUSR2 asks for. */
    roll(nothing: undefined): void
    /** Something done with the stores that the primary keeps. */
    store(operation: StoreOperation): Promise<StoreAnswer>
    news(news: HealthNews): void
    /** What this worker means by the ids of providers from now on. */
    targets(targets: ReadonlyMap<string, string>): void
    /** Where this worker's socket stands; nothing where all leave. */
    placeInGroup(nothing: undefined): PlaceInGroup | undefined
    /** The models of a server at this port of 127.0.0.1, the same for all workers until a configuration is loaded anew. */
    probe(port: number): ReturnType<Probe>
    /** Answered when the page has been built. */
    buildPage(nothing: undefined): Promise<void>
  }

/** What the primary may ask of a worker, and tell it. */
export type WorkerAnswers = WorkerLife &
  FileFollowerAnswers &
  WorkerObservation & {
    news(news: HealthNews): void
    /** Another has left the port: newcomers are to be spread over those that stay. */
    spread(nothing: undefined): void
  }
