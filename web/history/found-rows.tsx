import { useMemo, type ReactNode } from 'react'
import type { SearchHit } from './conversation.ts'
import { placeOf } from './fold.ts'
import type { RowContext } from './grouped-rows.tsx'
import { HistoryRow } from './history-row.tsx'
import { wordsOf } from './search.ts'

/** What {@link FoundRows} shows. */
export interface FoundRowsProps {
  readonly query: string
  readonly hits: readonly SearchHit[]
  readonly context: RowContext
}

/** What a search found, each with the place where it was found. */
export function FoundRows({ query, hits, context }: FoundRowsProps): ReactNode {
  const words = useMemo(() => wordsOf(query), [query])
  return (
    <ul aria-label="Found" className="m-0 p-0">
      {hits.map(({ head, excerpt }, index) => (
        <HistoryRow
          key={head.id}
          head={head}
          place={index + 1}
          count={hits.length}
          isCurrent={head.id === context.currentId}
          isTabStop={head.id === context.tabStop}
          isBeingRenamed={head.id === context.renaming}
          titlePlace={placeOf(head.title, words)}
          excerpt={excerpt}
          onWish={context.onWish}
          onRename={context.onRename}
        />
      ))}
    </ul>
  )
}
