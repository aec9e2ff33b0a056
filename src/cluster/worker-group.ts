import type { ArgumentOf, Channel, Handlers, ResultOf } from './channel.ts'

/** The running workers. */
export interface WorkerGroup<Theirs extends Handlers> {
  add(worker: Channel<Theirs>): void
  /** The worker has ended. */
  remove(worker: Channel<Theirs>): void
  /** Calls a function of all workers but one, without waiting. */
  notifyAll<Name extends keyof Theirs & string>(
    name: Name,
    argument: ArgumentOf<Theirs, Name>,
    except?: Channel<Theirs>,
  ): void
  /** Calls a function of all workers but one. @returns the first result that is not `undefined` */
  firstOf<Name extends keyof Theirs & string>(
    name: Name,
    argument: ArgumentOf<Theirs, Name>,
    except: Channel<Theirs>,
  ): Promise<ResultOf<Theirs, Name> | undefined>
}

/** An empty group. */
export function workerGroup<Theirs extends Handlers>(): WorkerGroup<Theirs> {
  const workers = new Set<Channel<Theirs>>()

  return {
    add: (worker) => void workers.add(worker),
    remove: (worker) => void workers.delete(worker),
    notifyAll(name, argument, except) {
      for (const worker of workers) if (worker !== except) worker.notify(name, argument)
    },
    firstOf(name, argument, except) {
      const calls = [...workers].filter((worker) => worker !== except).map((worker) => worker.call(name, argument))
      return firstFound(calls)
    },
  }
}

/** The first result that is not `undefined`. A worker that has ended has none. */
function firstFound<Result>(calls: readonly Promise<Result>[]): Promise<Result | undefined> {
  return new Promise((resolve) => {
    void Promise.allSettled(
      calls.map(async (call) => {
        const found = await call
        if (found !== undefined) resolve(found)
      }),
    ).then(() => resolve(undefined))
  })
}
