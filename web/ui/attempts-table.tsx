import type { ReactNode } from 'react'
import type { TrailEntry } from '../../src/observe/request-entry.ts'
import { say } from '../texts/say.ts'
import { formatMs, inWords } from './format.ts'

/** Table of the attempts of a request: provider, outcome, status, time. Inherits the font size. */
export function AttemptsTable({
  trail,
  hasCaption = false,
}: {
  readonly trail: readonly TrailEntry[]
  readonly hasCaption?: boolean
}): ReactNode {
  return (
    <table className="w-full text-left tabular-nums">
      <caption className={hasCaption ? 'pb-1 text-left font-medium' : 'sr-only'}>
        {say.ui.attempts(trail.length)}
      </caption>
      <thead className="text-xs text-muted">
        <tr>
          {[say.common.provider, say.ui.outcome, say.common.status, say.common.time].map((name) => (
            <th key={name} scope="col" className="py-0.5 pr-3 font-medium last:pr-0 last:text-right">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="text-ink">
        {trail.map(({ provider, failure, status, ms }, index) => (
          <tr key={index} className="border-t border-line">
            <th scope="row" className="min-w-20 py-1 pr-3 font-medium wrap-anywhere">
              {provider}
            </th>
            <td className={`pr-3 ${failure === undefined ? 'text-ok' : 'text-bad'}`}>
              <span aria-hidden="true">{failure === undefined ? '✓' : '✗'} </span>
              {failure === undefined ? say.ui.answered : inWords(failure)}
            </td>
            <td className="pr-3">{status ?? <span className="text-muted">{say.common.noneOfThese}</span>}</td>
            <td className="text-right">{formatMs(ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
