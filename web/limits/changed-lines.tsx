import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import { lineChanges, type LineChange } from './line-changes.ts'

const shownMax = 1_000

/** The lines that a new text removes and adds. */
export function ChangedLines({
  before,
  after,
  hasNumbers = true,
}: {
  readonly before: string
  readonly after: string
  /** The texts are whole files. */
  readonly hasNumbers?: boolean
}): ReactNode {
  const changes = lineChanges(before, after)
  return (
    <div className="flex flex-col gap-2">
      <p className="text-sm">{say.accessFile.isSound}</p>
      <ol
        aria-label={say.accessFile.changes}
        tabIndex={0}
        className="max-h-[50dvh] overflow-auto rounded-lg border border-line font-mono text-sm"
      >
        {changes.slice(0, shownMax).map((change) => (
          <Line key={`${change.kind} ${change.line}`} {...change} hasNumber={hasNumbers} />
        ))}
      </ol>
      {changes.length > shownMax ? (
        <p className="text-sm text-muted">{say.accessFile.more(formatCount(changes.length - shownMax))}</p>
      ) : null}
    </div>
  )
}

function Line({ kind, line, text, hasNumber }: LineChange & { readonly hasNumber: boolean }): ReactNode {
  const isRemoved = kind === 'removed'
  const Changed = isRemoved ? 'del' : 'ins'
  return (
    <li className={`flex w-max min-w-full gap-2 px-2 whitespace-pre ${isRemoved ? 'bg-bad-soft' : 'bg-ok-soft'}`}>
      <span className="sr-only">{isRemoved ? say.accessFile.removed : say.accessFile.added}</span>
      <span aria-hidden="true">{isRemoved ? '−' : '+'}</span>
      {hasNumber ? <span className="w-10 text-right text-muted">{line}</span> : null}
      <Changed dir="ltr" className="no-underline">
        {text}
      </Changed>
    </li>
  )
}
