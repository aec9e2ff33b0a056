import type { RequestEntry, TokenKinds } from '../../src/observe/request-entry.ts'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import { hasNoPrice } from './cost-words.ts'

/** Facts about a request that are easily missed, each as a sentence. */
export function notesOf(request: RequestEntry): readonly string[] {
  const { trail, error, isEstimated, provider, served } = request
  const answered = trail.at(-1)
  const isResumed =
    provider !== undefined && error === undefined && answered?.failure === undefined && trail.some(isCut)
  return [
    ...(isResumed ? [say.requests.notesOf.resumed] : []),
    ...(served === undefined ? [] : [say.requests.notesOf.served(served)]),
    ...(isEstimated === true ? [say.requests.notesOf.estimated] : []),
    ...(hasNoPrice(request) ? [say.requests.notesOf.noPrice] : []),
    ...(trail.some(({ bookedCost }) => bookedCost !== undefined) ? [say.requests.notesOf.unsettled] : []),
    ...(trail.some(({ mayBeBilled }) => mayBeBilled === true) ? [say.requests.notesOf.mayBeBilled] : []),
  ]
}

function isCut({ failure }: RequestEntry['trail'][number]): boolean {
  return failure === 'cut'
}

/** Tokens by kind, without kinds that have none. */
export function kindsInWords({ input, cached, cacheWrite, output, reasoning }: TokenKinds): string {
  const words = [
    [input, say.requests.kinds.input],
    [cached, say.requests.kinds.cached],
    [cacheWrite, say.requests.kinds.cacheWrite],
    [output, say.requests.kinds.output],
    [reasoning, say.requests.kinds.reasoning],
  ] as const
  return words.flatMap(([count, wordsOf]) => (count === 0 ? [] : wordsOf(formatCount(count)))).join(', ')
}
