import { useEffect, useRef, type ReactNode } from 'react'
import type { ProvidersAnswer, ReloadNotice, WantedProviderChange } from '../../src/http/page/page-api.ts'
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
    <Notice kind="error" title="providers.json has an error: the previous configuration stays active">
      <ul className="list-disc pl-5">
        {notice.faults.map((fault) => (
          <li key={fault} className="whitespace-pre-wrap">
            {fault}
          </li>
        ))}
      </ul>
      <p className="mt-1 text-muted">
        Since {formatMoment(notice.time)}
        {file === undefined ? '' : `, in ${file}`}. It takes effect as soon as it is corrected.
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

/** Props of {@link ChangeNotice}. */
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
          {trouble.kind === 'conflict' ? `${words} as it is now` : 'Try again'}
        </Button>
      ) : null}
      <Button onClick={onClose}>Leave it</Button>
    </>
  )
  if (trouble.kind === 'failed')
    return (
      <Notice kind="error" title={`“${words}” was not done`} actions={actions}>
        {trouble.error.message}
      </Notice>
    )
  return (
    <Notice kind="warn" title="providers.json was changed meanwhile" actions={actions}>
      “{words}” was not done. Shown below is what is in the file now
      {isInFile ? '' : `; ${wanted.id} is not in it any more`}:{' '}
      {answer.providers.map(({ id, enabled }) => (enabled ? id : `${id} (off)`)).join(', ')}.
    </Notice>
  )
}

function changeWords(wanted: WantedProviderChange): string {
  const { id } = wanted
  switch (wanted.change) {
    case 'enable':
      return `Switch ${id} on`
    case 'disable':
      return `Switch ${id} off`
    case 'up':
      return `Move ${id} up`
    case 'down':
      return `Move ${id} down`
    case 'move':
      return `Move ${id} to place ${wanted.to + 1}`
    case 'add':
      return `Add ${id}`
    case 'edit':
      return `Change the settings of ${id}`
    case 'remove':
      return `Remove ${id}`
  }
}

/** Explains that there is no file to change, and how to create one. */
export function NoFileNotice({
  source,
  isOwner,
}: {
  readonly source: 'detected' | 'echo'
  readonly isOwner: boolean
}): ReactNode {
  return (
    <Notice
      kind="info"
      title={
        source === 'echo'
          ? 'Nothing is configured and nothing was found: the built-in echo answers'
          : 'There is no providers.json yet: these were found on this machine'
      }
    >
      {!isOwner ? null : (
        <>
          <p>
            {source === 'echo'
              ? 'It answers with the words of the question, so that everything can be tried. '
              : 'They are tried in a fixed order. '}
            The order cannot be changed here, since there is no file it could be written to. This command writes one
            from what it finds:
          </p>
          <p className="mt-1 flex items-center gap-1">
            <code className="rounded-md border border-line bg-raised px-2 py-1 font-mono">{initCommand}</code>
            <CopyButton text={initCommand} label="Copy the command" />
          </p>
        </>
      )}
    </Notice>
  )
}
