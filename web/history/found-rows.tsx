import { useMemo, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import type { SearchHit } from './conversation.ts'
import { findWords } from './find-words.ts'
import type { RowContext } from './grouped-rows.tsx'
import { HistoryRow } from './history-row.tsx'
import { wordsOf } from './search.ts'

export interface FoundRowsProps {
  readonly query: string
  readonly hits: readonly SearchHit[]
  readonly context: RowContext
}

/** The results of a search, each with its match. */
export function FoundRows({ query, hits, context }: FoundRowsProps): ReactNode {
  const words = useMemo(() => wordsOf(query), [query])
  return (
    <ul aria-label={say.history.found} className="m-0 p-0">
      {hits.map(({ head, excerpt }, index) => (
        <HistoryRow
          key={head.id}
          head={head}
          place={index + 1}
          count={hits.length}
          isCurrent={head.id === context.currentId}
          isTabStop={head.id === context.tabStop}
          isBeingRenamed={head.id === context.renaming}
          titleRange={findWords(head.title, words)}
          excerpt={excerpt}
          onCommand={context.onCommand}
          onRename={context.onRename}
        />
      ))}
    </ul>
  )
}
