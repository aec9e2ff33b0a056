import type { LimitEntry } from '../../src/http/page/page-api.ts'
import { kindWords, periodWords, subjectWords } from '../limits/limit-words.ts'
import { say } from '../texts/say.ts'
import { formatCost, formatCount } from '../ui/format.ts'

/** A limit in words, such as `58 of 60 requests a minute (each person)`. The amounts of shared budgets are not told. */
export function limitText({ for: subject, kind, limit, per, models, remaining }: LimitEntry): string {
  const number = kind === 'usd' ? formatCost : formatCount
  const isShared = limit === null || remaining === null
  const amount = isShared
    ? say.keys.sharedBudget
    : kindWords(kind, say.keys.remaining(number(remaining), number(limit)))
  const ofModels = models === null ? '' : `, ${models.join(', ')}`
  const text = `${periodWords(amount, per ?? undefined)} (${subjectWords(subject)}${ofModels})`
  return isShared ? say.keys.hiddenAmount(text) : text
}
