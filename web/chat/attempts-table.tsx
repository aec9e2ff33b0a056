import type { ReactNode } from 'react'
import type { TrailEntry } from '../../src/http/page-api.ts'
import { formatMs } from '../ui/format.ts'

/** Every attempt at an answer, in order. */
export function AttemptsTable({ trail }: { readonly trail: readonly TrailEntry[] }): ReactNode {
  return (
    <table className="w-full max-w-lg text-left text-xs tabular-nums">
      <thead className="text-muted">
        <tr>{['Provider', 'Outcome', 'Status', 'Time'].map((name) => <th key={name} scope="col" className="py-0.5 pr-3 font-medium">{name}</th>)}</tr>
      </thead>
      <tbody className="text-ink">
        {trail.map(({ provider, failure, status, ms }, index) => (
          <tr key={index} className="border-t border-line">
            <td className="py-1 pr-3 wrap-anywhere">{provider}</td>
            <td className={`py-1 pr-3 ${failure === undefined ? 'text-ok' : 'text-bad'}`}>{failure === undefined ? 'answered' : failure.replaceAll('_', ' ')}</td>
            <td className="py-1 pr-3">{status ?? '–'}</td>
            <td className="py-1">{formatMs(ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
