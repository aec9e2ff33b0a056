import type { ContentQuestion, KeptContent } from '../content/content-question.ts'
import { counterNames, type CounterName } from './counters.ts'
import type { OutcomeAnswer, OutcomeQuestion } from './outcome-question.ts'
import type { RequestSearch } from './search-requests.ts'
import type { UseAnswer, UseFilter, UseQuestion, UseRow } from './use-question.ts'

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

/** Hours are kept for 100 days; the sums of longer times are read from days. */
export const hoursReadMs = 99 * 86_400_000

/** Whether a model is among names in lower case, or beginnings of names and `*`. */
export function isModelOf(name: string, models: readonly string[]): boolean {
  const model = name.toLowerCase()
  return isAmong(model, models) || isAmong(withoutProvider(model), models)
}

/** Of a name as `provider/model`, the model. */
function withoutProvider(name: string): string {
  return name.slice(name.indexOf('/') + 1)
}

function isAmong(model: string, names: readonly string[]): boolean {
  return names.some((name) => (name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : model === name))
}

/** A row of a query: `time`, the id of its name as `name`, and the counters. */
export function useRow(row: Readonly<Record<string, number>>, named: (id: number) => string): UseRow {
  const counters = Object.fromEntries(counterNames.map((name) => [name, row[name] ?? 0]))
  return { time: row['time'] ?? 0, name: named(row['name'] ?? 0), counters: { ...noCounters, ...counters } }
}

const noCounters: Readonly<Record<CounterName, number>> = {
  requests: 0,
  errors: 0,
  left_early: 0,
  attempts: 0,
  input: 0,
  cached: 0,
  write5: 0,
  write60: 0,
  output: 0,
  reasoning: 0,
  cost: 0,
  cost_reported: 0,
  cost_estimated: 0,
  unpriced: 0,
  estimated: 0,
  unsettled: 0,
}
