import { useCallback, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { RequestLine, wideColumns } from './request-line.tsx'
import type { RequestRow } from './request-rows.ts'
import { useVisibleRows } from './use-visible-rows.ts'
import { piecesOf } from './visible-rows.ts'

export interface RequestsTableProps {
  readonly rows: readonly RequestRow[]
  readonly hasUsers: boolean
  readonly onOpen: (row: RequestRow) => void
  /** Called when the person starts or stops reading: a row has the focus, or the first ones are scrolled away. */
  readonly onReading: (isReading: boolean) => void
}

/** The requests as a table. Renders visible rows only. Tab reaches one row; arrow keys move on. */
export function RequestsTable({ rows, hasUsers, onOpen, onReading }: RequestsTableProps): ReactNode {
  const body = useRef<HTMLTableSectionElement>(null)
  const { first, last, rowHeight, isScrolled } = useVisibleRows(body, rows.length)
  const [active, setActive] = useState<string>()
  const [hasFocus, setFocus] = useState(false)
  const wanted = useRef<string>(undefined)
  const at = active === undefined ? -1 : rows.findIndex(({ key }) => key === active)

  useEffect(() => onReading(hasFocus || isScrolled), [onReading, hasFocus, isScrolled])
  useEffect(() => {
    if (wanted.current === undefined) return
    body.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(wanted.current)}"] button`)?.focus()
    wanted.current = undefined
  }, [active])

  function onKeyDown(event: KeyboardEvent): void {
    const next = rows[nextIndex(event.key, at, rows.length) ?? -1]
    if (next === undefined) return
    event.preventDefault()
    wanted.current = next.key
    setActive(next.key)
  }

  const noteFocus = useCallback((row: RequestRow) => setActive(row.key), [])
  const pieces = piecesOf(rows.length, { first, last }, at === -1 ? undefined : at)
  const tabStop = at === -1 ? first : at
  return (
    <table
      role="table"
      aria-label={say.requests.list}
      aria-rowcount={rows.length + 1}
      aria-describedby="requests-keys"
      className="block overflow-clip rounded-xl border border-line"
    >
      <thead role="rowgroup" className="@max-4xl:sr-only @4xl:sticky @4xl:top-13 @4xl:z-[1] @4xl:block">
        <Headings hasUsers={hasUsers} />
      </thead>
      <tbody
        role="rowgroup"
        ref={body}
        className="block"
        onKeyDown={onKeyDown}
        onFocus={() => setFocus(true)}
        onBlur={(event) => {
          if (!event.currentTarget.contains(event.relatedTarget)) setFocus(false)
        }}
      >
        {pieces.map((piece, index) => {
          if (piece.kind === 'gap')
            return (
              <tr
                key={`gap ${index}`}
                role="presentation"
                aria-hidden="true"
                className="block"
                style={{ height: piece.rows * rowHeight }}
              />
            )
          const row = rows[piece.index]
          return row === undefined ? null : (
            <RequestLine
              key={row.key}
              row={row}
              place={piece.index + 2}
              hasUsers={hasUsers}
              isTabStop={piece.index === tabStop}
              onOpen={onOpen}
              onFocus={noteFocus}
            />
          )
        })}
      </tbody>
    </table>
  )
}

const columns: readonly (readonly [name: string, isFigure?: true])[] = [
  [say.common.time],
  [say.requests.user],
  [say.common.model],
  [say.requests.trail],
  [say.common.status],
  [say.common.firstToken, true],
  [say.requests.duration, true],
  [say.requests.tokensInOut, true],
  [say.common.cost, true],
]

function Headings({ hasUsers }: { readonly hasUsers: boolean }): ReactNode {
  return (
    <tr
      role="row"
      aria-rowindex={1}
      className={
        'grid items-center gap-x-3 bg-panel px-3 py-2 text-xs text-muted ' +
        (hasUsers ? wideColumns.withUsers : wideColumns.withoutUsers)
      }
    >
      {columns
        .filter(([name]) => hasUsers || name !== say.requests.user)
        .map(([name, isFigure]) => (
          <th
            key={name}
            role="columnheader"
            scope="col"
            className={`font-medium ${isFigure === true ? 'text-right' : 'text-left'}`}
          >
            {name}
          </th>
        ))}
    </tr>
  )
}

function nextIndex(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return Math.min(count - 1, at + 1)
    case 'ArrowUp':
      return Math.max(0, at - 1)
    case 'PageDown':
      return Math.min(count - 1, at + 10)
    case 'PageUp':
      return Math.max(0, at - 10)
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return undefined
  }
}
