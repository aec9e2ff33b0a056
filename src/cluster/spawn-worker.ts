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
export function spawnWorker<Theirs extends WorkerLifecycle>(options: SpawnOptions<Theirs>): SpawnedWorker<Theirs> {
  return new WorkerProcess(options)
}

class WorkerProcess<Theirs extends WorkerLifecycle> implements SpawnedWorker<Theirs> {
  readonly channel: Channel<Theirs>
  readonly exited: Promise<number>
  readonly #options: SpawnOptions<Theirs>
  readonly #child: Bun.Subprocess
  readonly #listening = Promise.withResolvers<Listening>()
  readonly #left = Promise.withResolvers<void>()
  readonly #starting: ReturnType<typeof setTimeout>
  #drainReason: string | undefined
  #unwatch = (): void => undefined

  constructor(options: SpawnOptions<Theirs>) {
    const { command, environment, slot, handlersOf, onError } = options
    this.#options = options
    // Callers that do not wait for it see the end by `exited`.
    this.#listening.promise.catch(() => undefined)
    const child = Bun.spawn([...command], {
      env: { ...runtimeSettings, ...environment, [workerVariable]: String(slot + 1) },
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      serialization: 'advanced',
      ipc: (message: unknown) => this.channel.receive(message),
    })
    this.#child = child
    this.#starting = setTimeout(() => this.#killHung(), startMsMax)
    const lifecycle: PrimaryLifecycle = {
      listening: (message) => this.#onListening(message),
      leftPort: () => this.#left.resolve(),
    }
    const ours: Record<string, Handlers[string]> = { ...lifecycle }
    this.channel = new Channel<Theirs>((message) => child.send(message), ours, onError)
    Object.assign(ours, handlersOf(this.channel))
    this.exited = child.exited.then((code) => this.#onExit(code))
  }

  get pid(): number {
    return this.#child.pid
  }

  get listening(): Promise<Listening> {
    return this.#listening.promise
  }

  drain(reason: string): Promise<void> {
    this.#drainReason = reason
    this.#plain.notify('drain', reason)
    return this.#left.promise
  }

  readonly kill = (): void => this.#child.kill('SIGKILL')

  /** Every worker has the functions of WorkerLifecycle. */
  get #plain(): Pick<Channel<WorkerLifecycle>, 'call' | 'notify'> {
    return this.channel
  }

  #onListening(message: Listening): void {
    clearTimeout(this.#starting)
    this.#unwatch = watchLiveness({
      ping: () => this.#plain.call('ping', undefined),
      onHung: () => this.#killHung(),
      everyMs: this.#options.livenessMs,
    })
    this.#listening.resolve(message)
    // An earlier message may have arrived before the worker could receive it.
    if (this.#drainReason !== undefined) this.#plain.notify('drain', this.#drainReason)
  }

  #onExit(code: number): number {
    clearTimeout(this.#starting)
    this.#unwatch()
    this.#options.onEnd(this.channel)
    this.channel.close()
    this.#listening.reject(new Error(`the worker ended with ${code}`))
    this.#left.resolve()
    return code
  }

  #killHung(): void {
    this.#options.onHung()
    this.#child.kill('SIGKILL')
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
