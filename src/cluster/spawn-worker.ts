import { channel, type Answers, type Channel } from './channel.ts'
import { watchLiveness } from './liveness.ts'
import { workerVariable, type Listening, type PrimaryLife, type WorkerLife } from './worker-life.ts'
import type { Worker } from './worker.ts'

/** A start may wait for an identity provider, or a busy machine; one that takes longer hangs. */
const startMsMost = 60_000

/** As bin/svc has it, which the compiled program does not pass through. */
const heapSetting = { BUN_JSC_heapGrowthSteepnessFactor: '300' }

/** What {@link spawnWorker} needs. */
export interface SpawnOptions<Theirs extends WorkerLife> {
  /** What starts this program, with the flags it was started with. */
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** From 0. */
  readonly place: number
  /** What this worker may ask, beside what its life is about. */
  readonly answersTo: (worker: Channel<Theirs>) => Answers
  /** It listens; or it does so no longer, having left or ended. */
  readonly onPort: (worker: Channel<Theirs>, isListening: boolean) => void
  /** Milliseconds between questions whether it is alive. */
  readonly livenessMs: number
  /** It has left four of them unanswered, and is ended. */
  readonly onHung: () => void
  /** A mistake of ours in what a worker told. */
  readonly onFault: (error: unknown) => void
  /** It has ended; called before those who wait for an answer of it learn of that. */
  readonly onEnd: (worker: Channel<Theirs>) => void
}

/** A worker, and the channel to it. */
export interface SpawnedWorker<Theirs extends WorkerLife> extends Worker {
  readonly channel: Channel<Theirs>
}

/** Starts a worker process. Its standard output and error are ours. */
export function spawnWorker<Theirs extends WorkerLife>({
  command,
  environment,
  place,
  answersTo,
  onPort,
  livenessMs,
  onHung,
  onFault,
  onEnd,
}: SpawnOptions<Theirs>): SpawnedWorker<Theirs> {
  const listening = Promise.withResolvers<Listening>(),
    left = Promise.withResolvers<void>()
  // Whoever does not wait for it learns of its end by `exited`.
  listening.promise.catch(() => undefined)
  let reason: string | undefined
  let unwatch = (): void => undefined
  const life: PrimaryLife = {
    listening(said) {
      clearTimeout(starting)
      onPort(own, true)
      unwatch = watchLiveness({ ask: () => plain.ask('alive', undefined), onHung: endHung, everyMs: livenessMs })
      listening.resolve(said)
      // It may have been told before it could hear.
      if (reason !== undefined) tellToLeave(reason)
    },
    leftPort() {
      onPort(own, false)
      left.resolve()
    },
  }
  const child = Bun.spawn([...command], {
    env: { ...heapSetting, ...environment, [workerVariable]: String(place + 1) },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    serialization: 'advanced',
    ipc: (message: unknown) => own.take(message),
  })
  const starting = setTimeout(endHung, startMsMost)
  const ours: Record<string, Answers[string]> = { ...life }
  const own = channel<Theirs>((message) => child.send(message), ours, onFault)
  Object.assign(ours, answersTo(own))
  // A plain worker's life is part of every worker's.
  const plain: Pick<Channel<WorkerLife>, 'ask' | 'tell'> = own
  const exited = child.exited.then((code) => {
    clearTimeout(starting)
    unwatch()
    onPort(own, false)
    onEnd(own)
    own.close()
    listening.reject(new Error(`the worker ended with ${code}`))
    left.resolve()
    return code
  })

  function tellToLeave(why: string): void {
    plain.tell('leave', why)
  }

  function endHung(): void {
    onHung()
    child.kill('SIGKILL')
  }

  return {
    pid: child.pid,
    channel: own,
    listening: listening.promise,
    exited,
    leave(why) {
      reason = why
      tellToLeave(why)
      return left.promise
    },
    kill: () => child.kill('SIGKILL'),
  }
}
