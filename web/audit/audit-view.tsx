import type { ReactNode } from 'react'
import type { AuditAnswer, AuditLine } from '../../src/http/page/page-api.ts'
import { hrefOf } from '../app/route.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCount } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { ViewFrame } from '../ui/view-frame.tsx'
import { changeWords, factsOf, momentOf } from './audit-words.ts'
import { useAudit, useChain } from './use-audit.ts'

/** The recorded changes of keys, for owners. */
export function AuditView(): ReactNode {
  const state = useAudit()
  return (
    <ViewFrame
      title="Audit"
      about="Who changed keys, files and stored costs. Entries are never changed or removed."
      actions={<ButtonLink href={hrefOf({ view: 'keys' })}>Keys</ButtonLink>}
      state={state}
    >
      {(answer) => (
        <>
          <Chain round={answer.entries[0]?.seq} />
          <Entries answer={answer} isLoading={state.isLoading} onOlder={state.loadOlder} />
        </>
      )}
    </ViewFrame>
  )
}

/** Whether the chain of all entries is whole. */
function Chain({ round }: { readonly round: unknown }): ReactNode {
  const state = useChain(round)
  switch (state.kind) {
    case 'checking':
      return <p role="status">Checking the chain of all entries…</p>
    case 'failed':
      return (
        <Notice kind="warn" title="The chain of entries was not checked">
          {state.why}
        </Notice>
      )
    case 'checked': {
      const { entries, newest, faults } = state.report
      if (faults.length > 0)
        return (
          <Notice kind="error" title="The entries are not as they were written">
            <ul className="list-disc pl-5">
              {faults.map((fault) => (
                <li key={fault}>{fault}</li>
              ))}
            </ul>
            <p className="mt-1">Compare svc.db with a backup.</p>
          </Notice>
        )
      if (newest === undefined) return null
      return (
        <Notice
          kind="info"
          title={`The chain of ${formatCount(entries)} ${entries === 1 ? 'entry' : 'entries'} is whole`}
        >
          <p className="flex items-center gap-1">
            <span>
              Keep the newest chain elsewhere: <code>{newest.chain}</code>
            </span>
            <CopyButton text={newest.chain} label="Copy the newest chain" />
          </p>
        </Notice>
      )
    }
  }
}

function Entries({
  answer: { entries, hasMore },
  isLoading,
  onOlder,
}: {
  readonly answer: AuditAnswer
  readonly isLoading: boolean
  readonly onOlder: () => void
}): ReactNode {
  if (entries.length === 0)
    return <p className="rounded-xl border border-line bg-panel p-8 text-center">No change is recorded.</p>
  return (
    <>
      <ol className="flex flex-col gap-2" aria-label="Changes, the newest first">
        {entries.map((entry) => (
          <Entry key={entry.seq} entry={entry} />
        ))}
      </ol>
      {hasMore ? (
        <Button className="self-center" aria-disabled={isLoading} onClick={onOlder}>
          {isLoading ? 'Loading…' : 'Older entries'}
        </Button>
      ) : null}
    </>
  )
}

function Entry({ entry }: { readonly entry: AuditLine }): ReactNode {
  const { seq, time, actor, via, chain } = entry
  const facts = factsOf(entry)
  return (
    <li className="rounded-xl border border-line bg-panel px-4 py-3 [overflow-wrap:anywhere]">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="text-sm text-muted tabular-nums">{seq}</span>
        <span className="font-medium">{changeWords(entry)}</span>
        <span className="text-sm text-muted">
          by <bdi>{actor ?? 'a forgotten person'}</bdi> {via === actor ? '' : `via ${via} `}· {momentOf(time)}
        </span>
      </p>
      <details className="mt-1 text-sm text-muted">
        <summary>Details</summary>
        <ul className="mt-1 list-disc pl-5">
          {facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
          <li>
            chain: <code>{chain}</code>
          </li>
        </ul>
      </details>
    </li>
  )
}
