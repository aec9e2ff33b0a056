import type { Conversation, Draft, HistoryFault } from './conversation.ts'
import { byTime, inOrder } from './heads.ts'
import type { HistoryBackend } from './history-backend.ts'
import { ConversationRemoved, HistoryFull, HistoryOutdated } from './history-error.ts'

export interface FallbackOptions {
  /** The durable backend. It may open late; until `patience` resolves, everything waits for it. */
  readonly opening: Promise<HistoryBackend>
  /** When this resolves, the fallback is used until the durable backend opens. */
  readonly patience: Promise<void>
  /** Stores conversations that the durable backend refuses. */
  readonly fallback: HistoryBackend
  readonly onFault: (fault: HistoryFault | undefined) => void
}

/**
 * A durable backend with a fallback for writes that it refuses. These are read from the fallback, and moved as soon as
 * the durable backend accepts them.
 */
export function backendWithFallback({ opening, patience, fallback, onFault }: FallbackOptions): HistoryBackend {
  let durable: HistoryBackend | undefined
  let fault: HistoryFault | undefined
  let isClosed = false
  let lastChange: Promise<unknown> = Promise.resolve()

  /** Runs changes sequentially, so that a moved conversation is never older than the durable one. */
  function enqueue<Result>(change: () => Promise<Result>): Promise<Result> {
    const mine = lastChange.then(change)
    lastChange = mine.catch(() => undefined)
    return mine
  }

  function setFault(next: HistoryFault | undefined): void {
    if (fault === next) return
    fault = next
    onFault(next)
  }

  const opened = opening.then(
    async (backend) => {
      if (isClosed) return backend.close()
      durable = backend
      await enqueue(() => migrate(backend))
    },
    (error: unknown) => setFault(faultOf(error)),
  )
  const ready = Promise.race([
    opened,
    patience.then(() => {
      if (durable === undefined && fault === undefined) setFault('blocked')
    }),
  ])

  /** Moves conversations to the durable backend, until one is refused. */
  async function migrate(backend: HistoryBackend): Promise<void> {
    try {
      for (const conversation of await fallback.all()) {
        await backend.put(conversation, false)
        await fallback.remove(conversation.id)
      }
      setFault(undefined)
    } catch (error) {
      setFault(faultOf(error))
    }
  }

  async function put(conversation: Conversation, mustExist: boolean): Promise<void> {
    const isInFallback = (await fallback.head(conversation.id)) !== undefined
    if (durable === undefined) return await fallback.put(conversation, mustExist)
    try {
      await durable.put(conversation, mustExist && !isInFallback)
    } catch (error) {
      if (error instanceof ConversationRemoved) throw error
      await fallback.put(conversation, false)
      return setFault(faultOf(error))
    }
    if (isInFallback) await fallback.remove(conversation.id)
    if (fault !== undefined) await migrate(durable)
  }

  async function putDraft(id: string, draft: Draft | undefined): Promise<void> {
    await fallback.putDraft(id, undefined)
    try {
      return await (durable ?? fallback).putDraft(id, draft)
    } catch (error) {
      await fallback.putDraft(id, draft)
      setFault(faultOf(error))
    }
  }

  /** Removes from both backends; this may free space to move others. */
  async function removeFromBoth(remove: (backend: HistoryBackend) => Promise<void>): Promise<void> {
    if (durable !== undefined) await remove(durable)
    await remove(fallback)
    if (durable !== undefined && fault !== undefined) await migrate(durable)
  }

  async function afterReady<Result>(change: () => Promise<Result>): Promise<Result> {
    await ready
    return await enqueue(change)
  }

  /** Reads from both backends. For equal ids, the fallback takes precedence. */
  async function readBoth<Value>(
    read: (backend: HistoryBackend) => Promise<readonly Value[]>,
    idOf: (value: Value) => string,
  ): Promise<readonly Value[]> {
    await ready
    const [mine, others] = await Promise.all([read(fallback), durable === undefined ? [] : read(durable)])
    const fallbackIds = new Set((await fallback.heads()).map(({ id }) => id))
    return [...mine, ...others.filter((each) => !fallbackIds.has(idOf(each)))]
  }

  async function readFirst<Value>(
    read: (backend: HistoryBackend) => Promise<Value | undefined>,
  ): Promise<Value | undefined> {
    await ready
    return (await read(fallback)) ?? (await (durable === undefined ? undefined : read(durable)))
  }

  return {
    heads: async () =>
      (
        await readBoth(
          (backend) => backend.heads(),
          ({ id }) => id,
        )
      ).toSorted(inOrder),
    head: (id) => readFirst((backend) => backend.head(id)),
    get: (id) => readFirst((backend) => backend.get(id)),
    put: (conversation, mustExist) => afterReady(() => put(conversation, mustExist)),
    amend: (id, changes) =>
      afterReady(
        async () =>
          await ((await fallback.head(id)) === undefined ? (durable ?? fallback) : fallback).amend(id, changes),
      ),
    remove: (id) => afterReady(() => removeFromBoth((backend) => backend.remove(id))),
    clear: () => afterReady(() => removeFromBoth((backend) => backend.clear())),
    search: async (words, limit) =>
      (
        await readBoth(
          (backend) => backend.search(words, limit),
          ({ head }) => head.id,
        )
      )
        .toSorted((one, other) => byTime(one.head, other.head))
        .slice(0, limit),
    all: () =>
      readBoth(
        (backend) => backend.all(),
        ({ id }) => id,
      ),
    draft: (id) => readFirst((backend) => backend.draft(id)),
    putDraft: (id, draft) => afterReady(() => putDraft(id, draft)),
    changed: (id) => durable?.changed?.(id),
    close() {
      isClosed = true
      durable?.close()
      fallback.close()
    },
  }
}

function faultOf(error: unknown): HistoryFault {
  if (error instanceof HistoryFull) return 'full'
  return error instanceof HistoryOutdated ? 'outdated' : 'unavailable'
}
