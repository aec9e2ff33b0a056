/** Environment variable with the number of a worker, from 1. Set by the primary. */
export const workerVariable = 'SVC_WORKER'

/** Reason to drain when another worker has replaced this one. Other reasons are names of signals. */
export const restartReason = 'restart'

/** Sent by a worker once it listens. */
export interface Listening {
  readonly port: number
  /** Text for the terminal that started the service. */
  readonly lines: string
}

/** Handled by every worker. */
export type WorkerLifecycle = {
  /** Stop listening, finish open requests, exit. */
  drain(reason: string): void
  /** Answered while the event loop runs. */
  ping(nothing: undefined): void
}

/** Handled by the primary for every worker. */
export type PrimaryLifecycle = {
  listening(message: Listening): void
  /** The worker has closed its listening socket. */
  leftPort(nothing: undefined): void
}
