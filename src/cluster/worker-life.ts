/** The number of a worker, in the environment the primary gives it. Not for people. */
export const workerVariable = 'SVC_WORKER'

/**
 * Why a worker is told to leave when another has taken its place: the service goes on. Other reasons are names of
 * signals.
 */
export const restartReason = 'restart'

/** What a worker says when it listens. */
export interface Listening {
  readonly port: number
  /** For whoever started the service. */
  readonly lines: string
}

/** What the primary has a worker do. */
export type WorkerLife = {
  /** Leave: take in no newcomers, let what is under way finish, end. */
  leave(reason: string): void
  /** Answered by whoever is alive. */
  alive(nothing: undefined): void
}

/** What a worker tells the primary of itself. */
export type PrimaryLife = {
  listening(said: Listening): void
  /** It has closed its socket, and takes nobody in any more. */
  leftPort(nothing: undefined): void
}
