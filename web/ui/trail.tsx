import type { ReactNode } from 'react'
import type { TrailEntry } from '../../src/observe/request-entry.ts'
import { say } from '../texts/say.ts'
import { inWords } from './format.ts'

/** The attempts of a request in one line: `groq ✗ 429 → openai ✓`. */
export function TrailLine({ trail }: { readonly trail: readonly TrailEntry[] }): ReactNode {
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-1.5">
      {trail.map((attempt, index) => (
        <span key={index} className="whitespace-nowrap">
          {index === 0 ? null : (
            <span className="mr-1.5 text-muted" aria-hidden="true">
              →
            </span>
          )}
          {index === 0 ? null : <span className="sr-only">{say.ui.thenNext}</span>}
          {attempt.provider}{' '}
          {attempt.failure === undefined ? (
            <span className="text-ok">
              <span aria-hidden="true">✓</span>
              <span className="sr-only">{say.ui.answered}</span>
            </span>
          ) : (
            <span className="text-bad">
              <span aria-hidden="true">✗ </span>
              <span className="sr-only">{say.ui.failedBefore}</span>
              {attemptOutcome(attempt)}
            </span>
          )}
        </span>
      ))}
    </span>
  )
}

/** Shortest reason of a failed attempt: its status, else its failure class in words. */
export function attemptOutcome({ status, failure }: TrailEntry): string {
  if (failure?.startsWith('skipped') === true) return inWords(failure)
  return status === undefined || status < 400 ? inWords(failure ?? say.failures.failed) : String(status)
}
