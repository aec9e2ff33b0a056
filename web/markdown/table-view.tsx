import { memo, type ReactNode } from 'react'
import type { Alignment, Block, Row } from './block.ts'
import type { Definitions } from './definitions.ts'
import { InlineText } from './inline-view.tsx'

const alignmentStyles: Readonly<Record<Alignment, string>> = { start: 'text-start', left: 'text-left', center: 'text-center', right: 'text-right' }

interface RowProps {
  readonly alignments: readonly Alignment[]
  readonly definitions: Definitions
}

/** A table, which scrolls in a box of its own. */
export function TableView({ table, definitions }: { readonly table: Extract<Block, { kind: 'table' }>; readonly definitions: Definitions }): ReactNode {
  return (
    <div role="group" tabIndex={0} aria-label={labelOf(table.header)} className="overflow-x-auto">
      <table dir="auto" className="border-collapse text-sm wrap-break-word">
        <thead>
          <tr>{table.header.map((cell, index) => <Cell key={index} isHeader text={cell} alignment={table.alignments[index] ?? 'start'} definitions={definitions} />)}</tr>
        </thead>
        <tbody>{table.rows.groups.map((group, index) => <RowGroup key={index} group={group} alignments={table.alignments} definitions={definitions} />)}</tbody>
      </table>
    </div>
  )
}

const RowGroup = memo(function RowGroup({ group, ...props }: RowProps & { readonly group: readonly Row[] }): ReactNode {
  return group.map((row, index) => <TableRow key={index} row={row} {...props} />)
})

const TableRow = memo(function TableRow({ row, alignments, definitions }: RowProps & { readonly row: Row }): ReactNode {
  const missing = alignments.length - row.length
  return (
    <tr>
      {row.map((cell, index) => <Cell key={index} isHeader={false} text={cell} alignment={alignments[index] ?? 'start'} definitions={definitions} />)}
      {missing > 0 && <td colSpan={missing} className="border border-line" />}
    </tr>
  )
})

interface CellProps {
  readonly isHeader: boolean
  readonly text: string
  readonly alignment: Alignment
  readonly definitions: Definitions
}

function Cell({ isHeader, text, alignment, definitions }: CellProps): ReactNode {
  const className = `max-w-96 border border-line px-3 py-1.5 align-top [unicode-bidi:plaintext] ${alignmentStyles[alignment]}`
  const content = <InlineText text={text} definitions={definitions} />
  return isHeader ? <th scope="col" className={`bg-panel font-semibold ${className}`}>{content}</th> : <td className={className}>{content}</td>
}

function labelOf(header: Row): string {
  const names = header.map((cell) => cell.replace(/[*_`~]/g, '').trim()).filter((name) => name !== '').join(', ')
  return names === '' ? 'Table' : `Table: ${names.slice(0, 120)}`
}
