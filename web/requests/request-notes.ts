import type { RequestEntry, TokenKinds } from '../../src/http/page/page-api.ts'
import { formatCount } from '../ui/format.ts'
import { shortCost } from './cost-words.ts'

/** Facts about a request that are easily missed, each as a sentence. */
export function notesOf(request: RequestEntry): readonly string[] {
  const { trail, error, isEstimated, provider } = request
  const answered = trail.at(-1)
  const isResumed =
    provider !== undefined && error === undefined && answered?.failure === undefined && trail.some(isCut)
  return [
    ...(isResumed ? ['Resumed: the answer was cut, and another attempt went on with it.'] : []),
    ...(isEstimated === true ? ['Estimated: the provider did not count all tokens.'] : []),
    ...(shortCost(request) === 'no price' ? ['No price: its cost is not known, which is not 0.'] : []),
    ...(trail.some(({ bookedCost }) => bookedCost !== undefined)
      ? ['Unsettled: budgets booked an attempt at its estimate, since its provider reported nothing.']
      : []),
    ...(trail.some(({ mayBeBilled }) => mayBeBilled === true)
      ? ['An attempt without an answer may have been billed.']
      : []),
  ]
}

function isCut({ failure }: RequestEntry['trail'][number]): boolean {
  return failure === 'cut'
}

/** Tokens by kind, without kinds that have none. */
export function kindsInWords({ input, cached, cacheWrite, output, reasoning }: TokenKinds): string {
  const words = [
    [input, 'input'],
    [cached, 'from the cache'],
    [cacheWrite, 'written to the cache'],
    [output, 'output'],
    [reasoning, 'reasoning'],
  ] as const
  return words.flatMap(([count, word]) => (count === 0 ? [] : `${formatCount(count)} ${word}`)).join(', ')
}
