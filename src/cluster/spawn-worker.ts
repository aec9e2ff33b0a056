import { Channel, type Handlers } from './channel.ts'
import { workerVariable, type Listening, type PrimaryLifecycle, type WorkerLifecycle } from './worker-lifecycle.ts'
import type { Worker } from './worker.ts'

/** A worker that does not listen by then is killed. A start may wait for an identity provider, or a busy machine. */
const startMsMax = 60_000

/** As in bin/svc, which the compiled program does not pass through. */
const runtimeSettings = {
  BUN_JSC_heapGrowthMaxIncrease: '1',
  BUN_JSC_heapGrowthSteepnessFactor: '300',
  BUN_JSC_forceCodeBlockLiveness: '1',
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '4000',
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '1000',
}

export interface SpawnOptions<Theirs extends WorkerLifecycle> {
  /** Command line that starts this program with its flags. */
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** From 0. */
  readonly slot: number
  /** Makes the primary's functions for this worker, beside those of {@link PrimaryLifecycle}. */
  readonly handlersOf: (worker: Channel<Theirs>) => Handlers
  /** Milliseconds between liveness checks. */
  readonly livenessMs: number
  /** The worker has missed four liveness checks, or did not start in time. It is killed. */
  readonly onHung: () => void
  /** Gets internal errors in handling the worker's messages. */
  readonly onError: (error: unknown) => void
  /** The worker has ended. Called before its pending calls reject. */
  readonly onEnd: (worker: Channel<Theirs>) => void
}

/** A worker with its channel. */
export interface SpawnedWorker<Theirs extends WorkerLifecycle> extends Worker {
  readonly channel: Channel<Theirs>
}

/** Starts a worker process. It inherits standard output and error. */
export function spawnWorker<Theirs extends WorkerLifecycle>({
  command,
  environment,
  slot,
  handlersOf,
  livenessMs,
  onHung,
  onError,
  onEnd,
}: SpawnOptions<Theirs>): SpawnedWorker<Theirs> {
  const listening = Promise.withResolvers<Listening>(),
    left = Promise.withResolvers<void>()
  // Callers that do not wait for it see the end by `exited`.
  listening.promise.catch(() => undefined)
  let drainReason: string | undefined
  let unwatch = (): void => undefined
  const lifecycle: PrimaryLifecycle = {
    listening(message) {
      clearTimeout(starting)
      unwatch = watchLiveness({ ping: () => plain.call('ping', undefined), onHung: killHung, everyMs: livenessMs })
      listening.resolve(message)
      // An earlier message may have arrived before the worker could receive it.
      if (drainReason !== undefined) plain.notify('drain', drainReason)
    },
    leftPort: () => left.resolve(),
  }
  const child = Bun.spawn([...command], {
    env: { ...runtimeSettings, ...environment, [workerVariable]: String(slot + 1) },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    serialization: 'advanced',
    ipc: (message: unknown) => own.receive(message),
  })
  const starting = setTimeout(killHung, startMsMax)
  const ours: Record<string, Handlers[string]> = { ...lifecycle }
  const own = new Channel<Theirs>((message) => child.send(message), ours, onError)
  Object.assign(ours, handlersOf(own))
  // Every worker has the functions of WorkerLifecycle.
  const plain: Pick<Channel<WorkerLifecycle>, 'call' | 'notify'> = own
  const exited = child.exited.then((code) => {
    clearTimeout(starting)
    unwatch()
    onEnd(own)
    own.close()
    listening.reject(new Error(`the worker ended with ${code}`))
    left.resolve()
    return code
  })

  function killHung(): void {
    onHung()
    child.kill('SIGKILL')
  }

  return {
    pid: child.pid,
    channel: own,
    listening: listening.promise,
    exited,
    drain(reason) {
      drainReason = reason
      plain.notify('drain', reason)
      return left.promise
    },
    kill: () => child.kill('SIGKILL'),
  }
}

/** Consecutive pings without an answer. A machine that slept counts as one. */
const unansweredMax = 4

interface LivenessOptions {
  /** Settles when the process has answered or ended. */
  readonly ping: () => Promise<unknown>
  /** The process has not answered the last pings. Called once. */
  readonly onHung: () => void
  /** Milliseconds between pings. */
  readonly everyMs: number
}

/**
 * Pings a process: one that is stopped, or in an endless loop, does not exit and still accepts connections.
 *
 * @returns stops the pings
 */
export function watchLiveness({ ping, onHung, everyMs }: LivenessOptions): () => void {
  let unanswered = 0
  const timer = setInterval(() => {
    if (unanswered >= unansweredMax) {
      clearInterval(timer)
      onHung()
      return
    }
    unanswered += 1
    ping().then(
      () => {
        unanswered = 0
      },
      () => undefined,
    )
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
