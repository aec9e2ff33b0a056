import type { UseBatch } from './use-batch.ts'
import type { UseStoreOptions, WriteResult } from './use-store.ts'

/** Sent to the thread. The first message opens the files. */
export type ToThread =
  | { readonly kind: 'open'; readonly options: Pick<UseStoreOptions, 'path' | 'rowsPath' | 'zone'> }
  | { readonly kind: 'write'; readonly batches: readonly UseBatch[] }
  | { readonly kind: 'zone'; readonly zone: string }
  /** Closes the files and ends the thread. */
  | { readonly kind: 'close' }

/** Sent by the thread: the result of each `write`, in order. */
export interface FromThread {
  readonly kind: 'written'
  readonly result: WriteResult
}
