import type { LimitEntry } from '../../src/http/page/page-api.ts'
import { formatCost, formatCount } from '../ui/format.ts'

const kinds: Readonly<Record<string, string>> = {
  requests: ' requests',
  tokens: ' tokens',
  at_once: ' requests at once',
  usd: '',
}

/** A limit in words, such as `58 of 60 requests a minute (each person)`. The amounts of shared budgets are not told. */
export function limitText({ for: subject, kind, limit, per, models, remaining }: LimitEntry): string {
  const number = kind === 'usd' ? formatCost : formatCount
  const isShared = limit === null || remaining === null
  const amount = isShared ? 'a shared budget' : `${number(remaining)} of ${number(limit)}${kinds[kind] ?? ` ${kind}`}`
  const period = per === null ? '' : per === 'total' ? ' in total' : ` a ${per}`
  const ofModels = models === null ? '' : `, ${models.join(', ')}`
  return `${amount}${period} (${subject}${ofModels})`
}
