import type { ContentQuestion, KeptContent } from '../content/content-question.ts'
import type { OutcomeAnswer, OutcomeQuestion } from './outcome-question.ts'
import type { RequestSearch } from './search-requests.ts'
import type { UseAnswer, UseFilter, UseQuestion } from './use-question.ts'

/** Reads the use. Methods reject with {@link LedgerUnavailable} when it cannot be read. */
export interface UseReader {
  read(question: UseQuestion): Promise<UseAnswer>
  /** The cost since a local midnight in nano-USD. @param since Unix milliseconds; 0: all */
  costSince(filter: UseFilter, since: number, now: number): Promise<number>
  /** Speed and failures. */
  outcomes(question: OutcomeQuestion): Promise<OutcomeAnswer>
  readonly requests: RequestSearch
  /** Content that is kept, and has not expired. */
  content(question: ContentQuestion): Promise<KeptContent | undefined>
  /** Whether the open database is still the one to be read. */
  isCurrent(): boolean
  close(): void | Promise<void>
}
