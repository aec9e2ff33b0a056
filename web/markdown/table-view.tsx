import { memo, useLayoutEffect, useRef, useState, type ReactNode, type Ref, type RefObject } from 'react'
import { say } from '../texts/say.ts'
import type { Alignment, Block, Row } from './block.ts'
import type { Definitions } from './definitions.ts'
import { InlineText } from './inline-view.tsx'

type Table = Extract<Block, { kind: 'table' }>

const alignmentStyles: Readonly<Record<Alignment, string>> = {
  start: 'text-start',
  left: 'text-left',
  center: 'text-center',
  right: 'text-right',
}
const groupsInPart = 2

/**
 * Renders a table that scrolls in its own box. A very long one is split into several elements with equal column widths,
 * since the browser would lay out all rows again for each new one. ARIA roles present them as one table.
 */
export function TableView({
  table,
  definitions,
}: {
  readonly table: Table
  readonly definitions: Definitions
}): ReactNode {
  const first = useRef<HTMLTableElement>(null),
    { groups } = table.rows
  const isLong = groups.length > groupsInPart,
    widths = useColumnWidths(first, isLong)
  const parts = Array.from({ length: Math.max(1, Math.ceil(groups.length / groupsInPart)) }, (_, index) =>
    groups.slice(index * groupsInPart, (index + 1) * groupsInPart),
  )
  return (
    <div role="group" tabIndex={0} aria-label={labelOf(table.header)} className="overflow-x-auto">
      <div role={isLong ? 'table' : undefined} dir="auto" className="w-max max-w-full">
        {parts.map((part, index) => (
          <TablePart
            key={index}
            table={table}
            groups={part}
            definitions={definitions}
            isPart={isLong}
            isFirst={index === 0}
            box={index === 0 ? first : undefined}
            widths={index === 0 ? [] : widths}
          />
        ))}
      </div>
    </div>
  )
}

interface PartProps {
  readonly table: Table
  readonly groups: readonly (readonly Row[])[]
  readonly definitions: Definitions
  readonly isPart: boolean
  readonly isFirst: boolean
  readonly box: Ref<HTMLTableElement> | undefined
  readonly widths: readonly number[]
}

function TablePart({ table, groups, definitions, isPart, isFirst, box, widths }: PartProps): ReactNode {
  const { header, alignments } = table
  const isFixed = widths.length > 0,
    width = widths.reduce((sum, each) => sum + each, 0)
  return (
    <table
      ref={box}
      role={isPart ? 'presentation' : undefined}
      style={isFixed ? { width } : undefined}
      className={`border-collapse text-sm wrap-break-word ${isFixed ? 'table-fixed' : ''} ${isFirst ? '' : '-mt-px'}`}
    >
      {isFixed && (
        <colgroup>
          {widths.map((each, index) => (
            <col key={index} style={{ width: each }} />
          ))}
        </colgroup>
      )}
      {isFirst && (
        <thead role={isPart ? 'rowgroup' : undefined}>
          <tr role={isPart ? 'row' : undefined}>
            {header.map((cell, index) => (
              <HeaderCell
                key={index}
                text={cell}
                alignment={alignments[index] ?? 'start'}
                definitions={definitions}
                isPart={isPart}
              />
            ))}
          </tr>
        </thead>
      )}
      <tbody role={isPart ? 'rowgroup' : undefined}>
        {groups.map((group, index) => (
          <RowGroup key={index} group={group} alignments={alignments} definitions={definitions} isPart={isPart} />
        ))}
      </tbody>
    </table>
  )
}

interface RowProps {
  readonly alignments: readonly Alignment[]
  readonly definitions: Definitions
  readonly isPart: boolean
}

const RowGroup = memo(function RowGroup({ group, ...props }: RowProps & { readonly group: readonly Row[] }): ReactNode {
  return group.map((row, index) => <TableRow key={index} row={row} {...props} />)
})

const TableRow = memo(function TableRow({
  row,
  alignments,
  definitions,
  isPart,
}: RowProps & { readonly row: Row }): ReactNode {
  const missing = alignments.length - row.length,
    role = isPart ? 'cell' : undefined
  return (
    <tr role={isPart ? 'row' : undefined}>
      {row.map((cell, index) => (
        <td key={index} role={role} className={`${cellStyle} ${alignmentStyles[alignments[index] ?? 'start']}`}>
          <InlineText text={cell} definitions={definitions} />
        </td>
      ))}
      {missing > 0 && <td role={role} colSpan={missing} className="border border-line" />}
    </tr>
  )
})

const cellStyle = 'max-w-96 border border-line px-3 py-1.5 align-top [unicode-bidi:plaintext]'

interface HeaderCellProps {
  readonly text: string
  readonly alignment: Alignment
  readonly definitions: Definitions
  readonly isPart: boolean
}

function HeaderCell({ text, alignment, definitions, isPart }: HeaderCellProps): ReactNode {
  return (
    <th
      scope="col"
      role={isPart ? 'columnheader' : undefined}
      className={`bg-panel font-semibold ${cellStyle} ${alignmentStyles[alignment]}`}
    >
      <InlineText text={text} definitions={definitions} />
    </th>
  )
}

function labelOf(header: Row): string {
  const names = header
    .map((cell) => cell.replace(/[*_`~]/g, '').trim())
    .filter((name) => name !== '')
    .join(', ')
  return names === '' ? say.markdown.table : say.markdown.tableOf(names.slice(0, 120))
}

const unknown: readonly number[] = []

/** Returns the column widths of a table in CSS pixels, and keeps them current while wanted. Empty until known. */
function useColumnWidths(table: RefObject<HTMLTableElement | null>, isWanted: boolean): readonly number[] {
  const [widths, setWidths] = useState(unknown)
  useLayoutEffect(() => {
    const element = table.current
    if (!isWanted || element === null) return undefined
    const measure = () =>
      setWidths((before) => {
        const now = widthsOf(element)
        return now.length === before.length && now.every((width, index) => width === before[index]) ? before : now
      })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [table, isWanted])
  return widths
}

function widthsOf(table: HTMLTableElement): readonly number[] {
  return [...(table.rows[0]?.cells ?? [])].map((cell) => cell.getBoundingClientRect().width)
}
