import type { UseBatch } from './use-batch.ts'
import type { UseFilter, UseQuestion } from './use-question.ts'
import type { UseStoreOptions, WriteResult } from './use-store.ts'

/** Sent to the thread. The first message opens the files. */
export type ToThread =
  | { readonly kind: 'open'; readonly options: Pick<UseStoreOptions, 'path' | 'rowsPath' | 'zone'> }
  | { readonly kind: 'write'; readonly batches: readonly UseBatch[] }
  | { readonly kind: 'zone'; readonly zone: string }
  /** A question for the use; it needs no `open`. */
  | { readonly kind: 'ask'; readonly id: number; readonly path: string; readonly question: ThreadQuestion }
  /** Closes the files and ends the thread. */
  | { readonly kind: 'close' }

/** Sent by the thread: the result of each `write`, in order, and of each `ask`. */
export type FromThread =
  | { readonly kind: 'written'; readonly result: WriteResult }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }

/** A question for the use. */
export type ThreadQuestion =
  | { readonly kind: 'rows'; readonly question: UseQuestion }
  | { readonly kind: 'cost'; readonly filter: UseFilter; readonly since: number }
