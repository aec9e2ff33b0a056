import type { ArgumentOf, Answers, Channel } from './channel.ts'
import { groupOrder, type PlaceInGroup } from './shared-port-order.ts'

/** The workers there are, and who of them listens. */
export interface Circle<Theirs extends Answers> {
  joined(worker: Channel<Theirs>): void
  /** It has ended. */
  left(worker: Channel<Theirs>): void
  /** Tells all but one. */
  tell<Name extends keyof Theirs & string>(
    name: Name,
    argument: ArgumentOf<Theirs, Name>,
    except?: Channel<Theirs>,
  ): void
  /** It listens, or does so no longer: told of twice, when it leaves and when it ends, it is the first time that counts. */
  noteSocket(worker: Channel<Theirs>, isListening: boolean): void
  /** Where its socket stands; nothing when it does not listen. */
  placeOf(worker: Channel<Theirs>): PlaceInGroup | undefined
}

/** What a worker of a circle answers: another has left the port, newcomers are to be spread over those that stay. */
export type Spreading = { spread(nothing: undefined): void }

/** An empty circle. */
export function circle<Theirs extends Spreading & Answers>(): Circle<Theirs> {
  const workers = new Set<Channel<Theirs>>()
  const group = groupOrder<Channel<Theirs>>()

  function spread(): void {
    // One of them can do it for all.
    const staying: Pick<Channel<Spreading>, 'tell'> | undefined = [...workers].find(
      (worker) => group.placeOf(worker) !== undefined,
    )
    staying?.tell('spread', undefined)
  }

  return {
    joined: (worker) => void workers.add(worker),
    left: (worker) => void workers.delete(worker),
    tell(name, argument, except) {
      for (const worker of workers) if (worker !== except) worker.tell(name, argument)
    },
    noteSocket(worker, isListening) {
      if (isListening) return group.joined(worker)
      // Spreading for a second time would undo the leaving of the next.
      if (group.placeOf(worker) === undefined) return
      group.left(worker)
      spread()
    },
    placeOf: (worker) => group.placeOf(worker),
  }
}
