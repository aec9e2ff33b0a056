import type { Conversation, Draft, HistoryFault } from './conversation.ts'
import { byTime, inOrder } from './heads.ts'
import { ConversationRemoved, HistoryFull, HistoryOutdated } from './history-error.ts'
import type { Shelf } from './shelf.ts'

/** What {@link shelfWithSpare} is told and tells. */
export interface SpareOptions {
  /** Of the lasting shelf. It may come late; until `patience` resolves everything waits for it. */
  readonly opening: Promise<Shelf>
  /** After this the spare one is used, until the lasting one comes. */
  readonly patience: Promise<void>
  /** Where lies what the lasting one does not take. */
  readonly spare: Shelf
  readonly onFault: (fault: HistoryFault | undefined) => void
}

/**
 * A shelf that lasts, and a spare one for what it does not take: that is read from there, and moved over as soon as
 * there is room.
 */
export function shelfWithSpare({ opening, patience, spare, onFault }: SpareOptions): Shelf {
  let lasting: Shelf | undefined
  let fault: HistoryFault | undefined
  let isClosed = false
  let last: Promise<unknown> = Promise.resolve()

  /** One change after the other, so that what is moved over is never older than what is there. */
  function inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const mine = last.then(change)
    last = mine.catch(() => undefined)
    return mine
  }

  function setFault(next: HistoryFault | undefined): void {
    if (fault === next) return
    fault = next
    onFault(next)
  }

  const opened = opening.then(
    async (shelf) => {
      if (isClosed) return shelf.close()
      lasting = shelf
      await inTurn(() => moveOver(shelf))
    },
    (error: unknown) => setFault(faultOf(error)),
  )
  const ready = Promise.race([
    opened,
    patience.then(() => {
      if (lasting === undefined && fault === undefined) setFault('blocked')
    }),
  ])

  /** What does not fit now stays where it is. */
  async function moveOver(shelf: Shelf): Promise<void> {
    try {
      for (const conversation of await spare.all()) {
        await shelf.put(conversation, false)
        await spare.remove(conversation.id)
      }
      setFault(undefined)
    } catch (error) {
      setFault(faultOf(error))
    }
  }

  async function put(conversation: Conversation, mustBeThere: boolean): Promise<void> {
    const isSpare = (await spare.head(conversation.id)) !== undefined
    if (lasting === undefined) return await spare.put(conversation, mustBeThere)
    try {
      await lasting.put(conversation, mustBeThere && !isSpare)
    } catch (error) {
      if (error instanceof ConversationRemoved) throw error
      await spare.put(conversation, false)
      return setFault(faultOf(error))
    }
    if (isSpare) await spare.remove(conversation.id)
    if (fault !== undefined) await moveOver(lasting)
  }

  async function putDraft(id: string, draft: Draft | undefined): Promise<void> {
    await spare.putDraft(id, undefined)
    try {
      return await (lasting ?? spare).putDraft(id, draft)
    } catch (error) {
      await spare.putDraft(id, draft)
      setFault(faultOf(error))
    }
  }

  /** Removes from both; what is gone makes room. */
  async function removeFrom(remove: (shelf: Shelf) => Promise<void>): Promise<void> {
    if (lasting !== undefined) await remove(lasting)
    await remove(spare)
    if (lasting !== undefined && fault !== undefined) await moveOver(lasting)
  }

  async function afterReady<Result>(change: () => Promise<Result>): Promise<Result> {
    await ready
    return await inTurn(change)
  }

  /** From both; of two of the same id the spare one counts. */
  async function merged<Value>(
    read: (shelf: Shelf) => Promise<readonly Value[]>,
    idOf: (value: Value) => string,
  ): Promise<readonly Value[]> {
    await ready
    const [mine, others] = await Promise.all([read(spare), lasting === undefined ? [] : read(lasting)])
    const spareIds = new Set((await spare.heads()).map(({ id }) => id))
    return [...mine, ...others.filter((each) => !spareIds.has(idOf(each)))]
  }

  async function first<Value>(read: (shelf: Shelf) => Promise<Value | undefined>): Promise<Value | undefined> {
    await ready
    return (await read(spare)) ?? (await (lasting === undefined ? undefined : read(lasting)))
  }

  return {
    heads: async () =>
      (
        await merged(
          (shelf) => shelf.heads(),
          ({ id }) => id,
        )
      ).toSorted(inOrder),
    head: (id) => first((shelf) => shelf.head(id)),
    get: (id) => first((shelf) => shelf.get(id)),
    put: (conversation, mustBeThere) => afterReady(() => put(conversation, mustBeThere)),
    amend: (id, changes) =>
      afterReady(
        async () => await ((await spare.head(id)) === undefined ? (lasting ?? spare) : spare).amend(id, changes),
      ),
    remove: (id) => afterReady(() => removeFrom((shelf) => shelf.remove(id))),
    clear: () => afterReady(() => removeFrom((shelf) => shelf.clear())),
    search: async (words, limit) =>
      (
        await merged(
          (shelf) => shelf.search(words, limit),
          ({ head }) => head.id,
        )
      )
        .toSorted((one, other) => byTime(one.head, other.head))
        .slice(0, limit),
    all: () =>
      merged(
        (shelf) => shelf.all(),
        ({ id }) => id,
      ),
    draft: (id) => first((shelf) => shelf.draft(id)),
    putDraft: (id, draft) => afterReady(() => putDraft(id, draft)),
    close() {
      isClosed = true
      lasting?.close()
      spare.close()
    },
  }
}

function faultOf(error: unknown): HistoryFault {
  if (error instanceof HistoryFull) return 'full'
  return error instanceof HistoryOutdated ? 'outdated' : 'unavailable'
}
