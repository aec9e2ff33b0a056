import type { ArgumentOf, Channel, Handlers, ResultOf } from './channel.ts'
import { socketOrder, type SocketPosition } from './socket-order.ts'

/** The running workers, and the order of their listening sockets. */
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
  /** The worker starts to listen, or has stopped. A repeated stop (left the port, then ended) is ignored. */
  setListening(worker: Channel<Theirs>, isListening: boolean): void
  /** The position of the worker's socket; `undefined`: it does not listen. */
  positionOf(worker: Channel<Theirs>): SocketPosition | undefined
}

/** Handled by a worker: spread new connections evenly over the remaining sockets. */
export type SpreadHandler = { spread(nothing: undefined): void }

/** An empty group. */
export function workerGroup<Theirs extends SpreadHandler & Handlers>(): WorkerGroup<Theirs> {
  const workers = new Set<Channel<Theirs>>()
  const order = socketOrder<Channel<Theirs>>()

  function spread(): void {
    // Any listening worker can do it for all.
    const listening: Pick<Channel<SpreadHandler>, 'notify'> | undefined = [...workers].find(
      (worker) => order.positionOf(worker) !== undefined,
    )
    listening?.notify('spread', undefined)
  }

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
    setListening(worker, isListening) {
      if (isListening) return order.add(worker)
      // A second spread would undo the departure of the next worker.
      if (order.positionOf(worker) === undefined) return
      order.remove(worker)
      spread()
    },
    positionOf: (worker) => order.positionOf(worker),
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
