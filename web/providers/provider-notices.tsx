import { useEffect, useRef, type ReactNode } from 'react'
import type { ProvidersAnswer, ReloadNotice, WantedProviderChange } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatMoment } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import type { ChangeOutcome } from './providers-feed.ts'

/** A change that was not made. */
export type FailedChange = Exclude<ChangeOutcome, { readonly kind: 'done' }> & { readonly wanted: WantedProviderChange }

const initCommand = 'npm run svc -- init'

/** Reports errors in providers.json, which is not loaded. */
export function FaultsNotice({
  notice,
  file,
}: {
  readonly notice: ReloadNotice
  readonly file: string | undefined
}): ReactNode {
  return (
    <Notice kind="error" title={say.providers.fileBroken}>
      <ul className="list-disc pl-5">
        {notice.faults.map((fault) => (
          <li key={fault} className="whitespace-pre-wrap">
            {fault}
          </li>
        ))}
      </ul>
      <p className="mt-1 text-muted">
        {say.providers.fileBrokenSince(formatMoment(notice.time), file === undefined ? '' : say.providers.in(file))}
      </p>
    </Notice>
  )
}

/**
 * Reports that a change was not made, because the file had changed or the service refused. Scrolls into view, since the
 * pressed button may be far below.
 */
export function ChangeNotice(props: ChangeNoticeProps): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // In some browsers it returns a promise.
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [props.trouble])
  return (
    <div ref={box} className="scroll-my-4">
      <ChangeWords {...props} />
    </div>
  )
}

export interface ChangeNoticeProps {
  readonly trouble: FailedChange
  readonly answer: ProvidersAnswer
  readonly onRetry: () => void
  readonly onClose: () => void
}

function ChangeWords({ trouble, answer, onRetry, onClose }: ChangeNoticeProps): ReactNode {
  const { wanted } = trouble,
    words = changeWords(wanted)
  const isInFile = answer.version !== undefined && answer.providers.some(({ id }) => id === wanted.id)
  const actions = (
    <>
      {isInFile ? (
        <Button variant="primary" icon="retry" onClick={onRetry}>
          {trouble.kind === 'conflict' ? say.providers.nowAsItIs(words) : say.common.tryAgain}
        </Button>
      ) : null}
      <Button onClick={onClose}>{say.providers.leaveIt}</Button>
    </>
  )
  if (trouble.kind === 'failed')
    return (
      <Notice kind="error" title={say.providers.notDone(words)} actions={actions}>
        {trouble.error.message}
      </Notice>
    )
  return (
    <Notice kind="warn" title={say.providers.changedMeanwhile} actions={actions}>
      {say.providers.notDoneNow(words, isInFile ? '' : say.providers.gone(wanted.id))}{' '}
      {answer.providers.map(({ id, enabled }) => (enabled ? id : say.providers.offMark(id))).join(', ')}.
    </Notice>
  )
}

function changeWords(wanted: WantedProviderChange): string {
  const { id } = wanted
  switch (wanted.change) {
    case 'enable':
      return say.providers.changes.enable(id)
    case 'disable':
      return say.providers.changes.disable(id)
    case 'up':
      return say.providers.changes.up(id)
    case 'down':
      return say.providers.changes.down(id)
    case 'move':
      return say.providers.changes.move(id, wanted.to + 1)
    case 'add':
      return say.providers.changes.add(id)
    case 'edit':
      return say.providers.changes.edit(id)
    case 'remove':
      return say.providers.changes.remove(id)
  }
}

/** Explains that there is no file to change, and how to create one. */
export function NoFileNotice({
  source,
  isOwner,
  mayAdd,
}: {
  readonly source: 'detected' | 'echo'
  readonly isOwner: boolean
  /** There is a button that adds a provider, which writes the file. */
  readonly mayAdd: boolean
}): ReactNode {
  const hint = source === 'echo' ? say.providers.echoHint : say.providers.foundHint
  return (
    <Notice kind="info" title={source === 'echo' ? say.providers.echo : say.providers.found}>
      {!isOwner ? null : mayAdd && source === 'echo' ? (
        <p>
          {hint}
          {say.providers.addFirst}
        </p>
      ) : (
        <>
          <p>
            {hint}
            {mayAdd ? say.providers.addWrites : say.providers.noFileHint}
          </p>
          <p className="mt-1 flex items-center gap-1">
            <code className="rounded-md border border-line bg-raised px-2 py-1 font-mono">{initCommand}</code>
            <CopyButton text={initCommand} label={say.providers.copyCommand} />
          </p>
        </>
      )}
    </Notice>
  )
}
