import type { RequestRecord } from '../observe/record.ts'
import type { SentBytes } from './media-text.ts'

/** Content of one request, as it passed. */
export interface TakenContent {
  /** Facts of the record of the request. */
  readonly request: Pick<RequestRecord, 'time' | 'id' | 'line' | 'person'>
  /** Milliseconds. */
  readonly keepMs: number
  /** Patterns of text to be removed. */
  readonly redact: readonly string[]
  readonly question: SentBytes
  /** Absent: there was no answer. */
  readonly answer?: TakenAnswer
}

/** An answer as it passed. */
export type TakenAnswer =
  | { readonly kind: 'whole'; readonly sent: SentBytes }
  /** Of a stream: text of the first choice, and JSON of events with other content. */
  | { readonly kind: 'parts'; readonly pieces: readonly (string | Uint8Array)[]; readonly isCut: boolean }
  /** Of a stream of media, which was measured while it passed. */
  | { readonly kind: 'media'; readonly contentType: string; readonly length: number; readonly sha256: string }
