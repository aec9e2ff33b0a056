import type { ReactNode } from 'react'
import type { AuditAnswer, AuditLine } from '../../src/http/page/page-api.ts'
import { AnswerView } from '../app/answer-view.tsx'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatExactly } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { changeWords, factsOf, itsWords, momentOf, objectWords, viaWords } from './audit-words.ts'
import { useAudit, useChain } from './use-audit.ts'

/** The recorded changes of keys, for owners. */
export function AuditView(): ReactNode {
  const state = useAudit()
  return (
    <AnswerView title={say.views.audit} about={say.audit.about} state={state}>
      {(answer) => (
        <>
          <Chain round={answer.entries[0]?.seq} />
          <Entries answer={answer} isLoading={state.isLoading} onOlder={state.loadOlder} />
        </>
      )}
    </AnswerView>
  )
}

/** Whether the chain of all entries is whole. */
function Chain({ round }: { readonly round: unknown }): ReactNode {
  const { answer, error } = useChain(round)
  if (error !== undefined)
    return (
      <Notice kind="warn" title={say.audit.notChecked}>
        {error}
      </Notice>
    )
  if (answer === undefined) return <p role="status">{say.audit.checking}</p>
  const { newest, faults } = answer
  if (faults.length > 0)
    return (
      <Notice kind="error" title={say.audit.changed}>
        <ul className="list-disc pl-5">
          {faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
        <p className="mt-1">{say.audit.compare}</p>
      </Notice>
    )
  if (newest === undefined) return null
  return (
    <Notice kind="info" title={say.audit.whole(answer.entries)}>
      <p className="flex items-center gap-1">
        <span>{rich(say.audit.keep, { chain: <code>{newest.chain}</code> })}</span>
        <CopyButton text={newest.chain} label={say.audit.copyChain} />
      </p>
    </Notice>
  )
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
    return <p className="rounded-xl border border-line bg-panel p-8 text-center">{say.audit.none}</p>
  return (
    <>
      <ol className="flex flex-col gap-2" aria-label={say.audit.changes}>
        {entries.map((entry) => (
          <Entry key={entry.seq} entry={entry} />
        ))}
      </ol>
      {hasMore ? (
        <Button className="self-center" aria-disabled={isLoading} onClick={onOlder}>
          {isLoading ? say.common.loading : say.audit.older}
        </Button>
      ) : null}
    </>
  )
}

function Entry({ entry }: { readonly entry: AuditLine }): ReactNode {
  const { seq, time, actor, via, chain } = entry
  const facts = factsOf(entry)
  const exactly = momentOf(time, formatExactly)
  return (
    <li className="rounded-xl border border-line bg-panel px-4 py-3 [overflow-wrap:anywhere]">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="text-sm text-muted tabular-nums">{seq}</span>
        <span className="font-medium">{rich(changeWords(entry), { object: <bdi>{objectWords(entry)}</bdi> })}</span>
        <span className="text-sm text-muted">
          {via === actor
            ? null
            : rich(say.audit.by, {
                person: <bdi>{actor === undefined ? say.audit.forgotten : itsWords(actor)}</bdi>,
              })}{' '}
          {viaWords(entry)} · <span title={exactly}>{momentOf(time)}</span>
        </span>
      </p>
      <details className="mt-1 text-sm text-muted">
        <summary>{say.common.details}</summary>
        <ul className="mt-1 list-disc pl-5">
          <li>{exactly}</li>
          {facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
          <li>
            {say.audit.chain} <code>{chain}</code>
          </li>
        </ul>
      </details>
    </li>
  )
}
