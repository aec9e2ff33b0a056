import type { MetLimit, RequestEntry } from '../../src/observe/request-entry.ts'
import { kindWords, periodWords, subjectWords } from '../limits/limit-words.ts'
import { say } from '../texts/say.ts'
import { formatCost, formatCount, formatMs } from '../ui/format.ts'

/** The limits that a request met, each as a line. */
export function metInWords({ limits = [], waitedMs }: Pick<RequestEntry, 'limits' | 'waitedMs'>): readonly string[] {
  return limits.map((limit) => {
    const words = `${limitInWords(limit)} (${[subjectOf(limit), ...(limit.models ?? [])].join(', ')})`
    if (limit.met === 'waited') return say.requests.met.waited(formatMs(waitedMs ?? 0), words)
    return limit.met === 'refused' ? say.requests.met.refused(words) : say.requests.met.passedOver(words)
  })
}

/** The amounts of budgets that others share are not told. */
function limitInWords({ kind, limit, per }: MetLimit): string {
  const number = kind === 'usd' ? formatCost : formatCount
  return periodWords(limit === undefined ? say.keys.sharedBudget : kindWords(kind, number(limit)), per)
}

function subjectOf({ for: subject }: MetLimit): string {
  return subject === 'person' ? say.requests.met.person : subjectWords(subject)
}
