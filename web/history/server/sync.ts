import { ApiError, Unreachable } from '../../api/client.ts'
import { createStore, type Store } from '../../store.ts'
import { ChangeFetcher } from './fetch-changes.ts'
import type { HistoryClient } from './history-client.ts'
import { isToSend, sendChanges, sendClearing } from './send-changes.ts'
import { SyncedCopy, type SyncedCopyOptions } from './synced-copy.ts'

/** How far this browser and the service are. */
export interface SyncStatus {
  readonly kind:
    | 'working'
    /** Everything is sent. */
    | 'done'
    /** The service was not reached, or cannot store conversations now. */
    | 'away'
    /** The service does not store conversations any more, or the session has ended. */
    | 'off'
  /** Changes that are not sent yet. */
  readonly unsent: number
  /** Conversations that the service refuses as too large. */
  readonly refused: number
  /** Conversations from before, of which the person has not decided whether they are uploaded. */
  readonly undecided: number
  /** Conversations from before that the person keeps in this browser. They can be uploaded later. */
  readonly kept: number
  /** Conversations at the service that cannot be read; 0 after {@link Synchronizer.hideUnreadable}. */
  readonly unreadable: number
  /** The conversations of the service were fetched at least once. */
  readonly isFetched: boolean
  /** Days without a change after which the service deletes conversations; `undefined`: never, or not known yet. */
  readonly days: number | undefined
}

const noStatus: SyncStatus = {
  kind: 'working',
  unsent: 0,
  refused: 0,
  undecided: 0,
  kept: 0,
  unreadable: 0,
  isFetched: true,
  days: undefined,
}

/** A conversation that changes at the service again and again is sent at the next run. */
const roundsMax = 5

/**
 * Exchanges conversations with the service (docs/decisions/0031-history-on-the-server.md). A run first clears there if
 * all were removed here. Then `fetch-changes.ts` fetches what others changed, and `send-changes.ts` sends what changed
 * here: a version that another one has overtaken is refused, merged by `synced-copy.ts`, and sent again.
 */
export class Synchronizer {
  readonly status: Store<SyncStatus> = createStore(noStatus)
  readonly #copy: SyncedCopy
  readonly #client: HistoryClient
  readonly #changes: ChangeFetcher

  constructor({ client, ...copy }: SyncedCopyOptions & { readonly client: HistoryClient }) {
    this.#copy = new SyncedCopy(copy)
    this.#client = client
    this.#changes = new ChangeFetcher(this.#copy, client)
  }

  /** Finds conversations that were changed without records, such as those from before. Called once, first. */
  prepare(): Promise<void> {
    return this.#copy.findUnrecorded()
  }

  /** Fetches what others changed, and sends what changed here. Never rejects. @returns whether everything is sent */
  async run(): Promise<boolean> {
    try {
      await this.#copy.exclusively('sync', async () => {
        await this.#show('working')
        await this.#exchange()
      })
      await this.#show('done')
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof Unreachable))
        console.error('conversations were not exchanged with the service', error)
      await this.#show(error instanceof ApiError && [401, 403, 404].includes(error.status) ? 'off' : 'away')
    }
    const { kind, unsent } = this.status.get()
    return kind === 'done' && unsent === 0
  }

  async #exchange(): Promise<void> {
    await sendClearing(this.#copy, this.#client)
    await this.#changes.run()
    for (let round = 0; round < roundsMax && (await sendChanges(this.#copy, this.#client)); round++)
      await this.#changes.run()
  }

  /** Uploads the conversations from before, or keeps them in this browser. */
  async decide(isUploaded: boolean): Promise<void> {
    if (isUploaded)
      await this.#copy.changeAll((record) =>
        record.isLocal === true ? { ...record, isLocal: undefined, unsent: record.unsent + 1 } : record,
      )
    await this.#copy.changeState((state) => ({ ...state, isKeptHere: isUploaded ? undefined : true }))
    await this.#show()
  }

  /** Leaves out the conversations that cannot be read from the status, until there are more. */
  async hideUnreadable(): Promise<void> {
    const { unreadable } = this.status.get()
    await this.#copy.changeState((state) => ({ ...state, unreadableHidden: unreadable }))
    await this.#show()
  }

  async #show(kind: SyncStatus['kind'] = this.status.get().kind): Promise<void> {
    const { records } = this.#copy
    const [all, { isKeptHere, cursor, unreadableHidden = 0 }] = await Promise.all([records.all(), records.state()])
    const unreadable = all.filter(({ isUnreadable }) => isUnreadable === true).length
    const local = all.filter(({ isLocal }) => isLocal === true).length
    this.status.set({
      kind,
      unsent: all.filter((record) => isToSend(record)).length,
      refused: all.filter(({ isRefused }) => isRefused === true).length,
      undecided: isKeptHere === true ? 0 : local,
      kept: isKeptHere === true ? local : 0,
      unreadable: unreadable > unreadableHidden ? unreadable : 0,
      isFetched: cursor > 0 || !this.#changes.isFirst,
      days: this.#changes.days,
    })
  }
}
