import type { ReactNode } from 'react'
import { say } from '../../texts/say.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useElapsed } from '../../ui/use-elapsed.ts'
import type { SyncStatus } from './sync.ts'

export interface SyncNoticeProps {
  readonly status: SyncStatus
  /** Uploads the conversations from before, or keeps them in this browser. */
  readonly decide: (isUploaded: boolean) => void
  /** Hides that conversations cannot be read. */
  readonly hideUnreadable: () => void
}

/** Says which conversations are not at the service, and why. */
export function SyncNotice({ status, decide, hideUnreadable }: SyncNoticeProps): ReactNode {
  const { kind, unsent, refused, undecided, kept, unreadable, isFetched, days } = status
  if (undecided > 0)
    return (
      <InSidebar>
        <Notice
          kind="info"
          title={say.sync.onlyHere(undecided)}
          actions={
            <>
              <Button variant="primary" onClick={() => decide(true)}>
                {say.sync.upload}
              </Button>
              <Button onClick={() => decide(false)}>{say.sync.keepHere}</Button>
            </>
          }
        >
          {say.sync.onlyHereAdvice}
        </Notice>
      </InSidebar>
    )
  if (kind === 'away' && unsent > 0) return <Away title={say.sync.away(unsent)} advice={say.sync.awayAdvice} />
  if (kind === 'away' && !isFetched) return <Away title={say.sync.notFetched} advice={say.sync.notFetchedAdvice} />
  if (refused > 0)
    return (
      <InSidebar>
        <Notice kind="warn" title={say.sync.refused(refused)}>
          {say.sync.refusedAdvice}
        </Notice>
      </InSidebar>
    )
  return (
    <>
      {unreadable === 0 ? null : <Unreadable count={unreadable} onHide={hideUnreadable} />}
      {kept === 0 ? null : <Kept kept={kept} onUpload={() => decide(true)} />}
      {days === undefined ? null : (
        <InSidebar>
          <p className="text-xs text-muted">{say.sync.keptFor(days)}</p>
        </InSidebar>
      )}
    </>
  )
}

function Unreadable({ count, onHide }: { readonly count: number; readonly onHide: () => void }): ReactNode {
  return (
    <InSidebar>
      <Notice
        kind="warn"
        title={say.sync.unreadable(count)}
        actions={<Button onClick={onHide}>{say.sync.hide}</Button>}
      >
        {say.sync.unreadableAdvice}
      </Notice>
    </InSidebar>
  )
}

/** What stays in this browser by choice is said in one line, with a button for the day when it shall not. */
function Kept({ kept, onUpload }: { readonly kept: number; readonly onUpload: () => void }): ReactNode {
  return (
    <InSidebar>
      <div className="flex flex-wrap items-center justify-between gap-x-2 text-xs text-muted">
        <span>{say.sync.kept(kept)}</span>
        <Button variant="quiet" onClick={onUpload}>
          {say.sync.upload}
        </Button>
      </div>
    </InSidebar>
  )
}

/** A short outage is not worth a message. */
function Away({ title, advice }: { readonly title: string; readonly advice: string }): ReactNode {
  if (!useElapsed(1_000)) return null
  return (
    <InSidebar>
      <Notice kind="warn" title={title}>
        {advice}
      </Notice>
    </InSidebar>
  )
}

function InSidebar({ children }: { readonly children: ReactNode }): ReactNode {
  return <div className="px-2 pb-2">{children}</div>
}
