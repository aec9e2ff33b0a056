import type { ContentQuestion, KeptContent } from '../content/content-question.ts'
import { findContent } from '../content/content-works.ts'
import type { OutcomeAnswer, OutcomeQuestion } from './outcome-question.ts'
import { outcomeReader } from './read-outcomes.ts'
import { sumsReader } from './read-sums.ts'
import { requestSearch, type RequestSearch, type SearchLimits } from './search-requests.ts'
import type { UseTables } from './stored-requests.ts'
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

/** Reads the tables of a database. */
export function readerOf(tables: UseTables, limits: SearchLimits): Omit<UseReader, 'isCurrent' | 'close'> {
  return {
    ...sumsReader(tables),
    outcomes: outcomeReader(tables),
    requests: requestSearch(tables, limits),
    content: (question) => findContent(tables, question),
  }
}
