import type { ProviderSecrets } from '../../content/remove-secrets.ts'
import type { TakenContent } from '../../content/taken-content.ts'
import type { ContentQuestion } from '../content/content-question.ts'
import type { LedgerPlace } from '../ledger-place.ts'
import type { OutcomeQuestion } from './outcome-question.ts'
import type { RequestQuestion, RequestScope } from './request-question.ts'
import type { RecordedUse, SummedUse } from './use-batch.ts'
import type { UseFilter, UseQuestion } from './use-question.ts'
import type { WriteResult } from './use-store.ts'

/** Options of the thread. */
export interface ThreadOptions {
  readonly place: LedgerPlace
  /** IANA name. */
  readonly zone: string
}

/** Sent to the thread. The first message opens the database. */
export type ToThread =
  | { readonly kind: 'open'; readonly options: ThreadOptions }
  /** Requests for the next `write`. Only strings and numbers: the runtime hands such a message over without a copy. */
  | ({ readonly kind: 'records'; readonly holds?: string } & Omit<RecordedUse, 'holds'>)
  /** Sums for the next `write`. */
  | { readonly kind: 'sums'; readonly batch: SummedUse }
  /** Writes what was sent since the last `write`. */
  | { readonly kind: 'write' }
  | { readonly kind: 'zone'; readonly zone: string }
  /** A question for the use; it needs no `open`. */
  | { readonly kind: 'ask'; readonly id: number; readonly place: LedgerPlace; readonly question: ThreadQuestion }
  /** Content to be kept; it needs no `open`. */
  | {
      readonly kind: 'content'
      readonly place: LedgerPlace
      readonly taken: readonly TakenContent[]
      readonly secrets: ProviderSecrets
    }
  /** Closes the database and ends the thread. */
  | { readonly kind: 'close' }

/** Sent by the thread: the result of each `write` and `content`, in order, and of each `ask`. */
export type FromThread =
  /** The keys cannot be read from the server; without a problem they can again. */
  | { readonly kind: 'keys'; readonly problem?: string }
  /** The database is open, as far as it can be, and the holds of dead processes are booked. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'written'; readonly result: WriteResult }
  /** The content of a message is stored. With a reason: the content of `lost` requests is not. */
  | { readonly kind: 'kept'; readonly lost: number; readonly reason?: string }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }

/** A question for the use. */
export type ThreadQuestion =
  | { readonly kind: 'rows'; readonly question: UseQuestion }
  | { readonly kind: 'cost'; readonly filter: UseFilter; readonly since: number }
  | { readonly kind: 'outcomes'; readonly question: OutcomeQuestion }
  | { readonly kind: 'requests'; readonly question: RequestQuestion }
  | { readonly kind: 'request'; readonly scope: RequestScope; readonly id: string }
  | { readonly kind: 'choices'; readonly scope: RequestScope }
  | { readonly kind: 'callers' }
  | { readonly kind: 'content'; readonly question: ContentQuestion }
