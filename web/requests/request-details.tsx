import type { ReactNode } from 'react'
import type { RequestEntry } from '../../src/http/page/page-api.ts'
import { AttemptsTable } from '../ui/attempts-table.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { formatCount, formatMoment, formatMs, markEstimate } from '../ui/format.ts'
import { costInWords } from './cost-words.ts'
import { StatusWord } from './request-line.tsx'

/** All data about one request. The service does not keep its content. */
export function RequestDetails({
  request,
  onClose,
}: {
  readonly request: RequestEntry | undefined
  readonly onClose: () => void
}): ReactNode {
  return (
    <Dialog title="Request" size="lg" isOpen={request !== undefined} onClose={onClose}>
      {request === undefined ? null : <Details request={request} />}
    </Dialog>
  )
}

function Details({ request }: { readonly request: RequestEntry }): ReactNode {
  const {
    id,
    api,
    time,
    user,
    model,
    stream,
    provider,
    firstTokenMs,
    totalMs,
    promptTokens,
    completionTokens,
    isEstimated,
    error,
  } = request
  const tokens = (count = 0): string => markEstimate(formatCount(count), isEstimated)
  return (
    <div className="flex flex-col gap-4">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm tabular-nums">
        <Fact name="Request id">
          <span className="inline-flex max-w-full items-center gap-1">
            <code className="font-mono [overflow-wrap:anywhere]">{id}</code>
            <CopyButton text={id} label="Copy the request id" />
          </span>
        </Fact>
        <Fact name="Time">{formatMoment(time)}</Fact>
        {user === undefined ? null : <Fact name="User">{user}</Fact>}
        <Fact name="Model">
          {model === '' ? 'unreadable' : model}
          {stream ? ', as a stream' : ''}
        </Fact>
        <Fact name="Format">{api}</Fact>
        <Fact name="Status">
          <StatusWord request={request} />
        </Fact>
        {error === undefined ? null : (
          <Fact name="Error">
            <code className="font-mono">{error}</code>
          </Fact>
        )}
        <Fact name="Served by">{provider ?? 'no provider'}</Fact>
        {stream ? (
          <Fact name="First token">{firstTokenMs === undefined ? 'none received' : formatMs(firstTokenMs)}</Fact>
        ) : null}
        <Fact name="Total">{formatMs(totalMs)}</Fact>
        <Fact name="Tokens">
          {promptTokens === undefined && completionTokens === undefined
            ? 'unknown'
            : `${tokens(promptTokens)} in, ${tokens(completionTokens)} out${isEstimated === true ? ', estimated' : ''}`}
        </Fact>
        <Fact name="Cost">{costInWords(request)}</Fact>
      </dl>
      <Attempts request={request} />
      <p className="text-sm text-muted">Questions and answers are not kept.</p>
    </div>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <>
      <dt className="self-center text-muted">{name}</dt>
      <dd className="min-w-0 self-center [overflow-wrap:anywhere]">{children}</dd>
    </>
  )
}

function Attempts({ request: { trail } }: { readonly request: RequestEntry }): ReactNode {
  if (trail.length === 0) return <p className="text-sm">No provider was asked.</p>
  return (
    <div className="overflow-x-auto text-sm" tabIndex={0} role="region" aria-label="Attempts">
      <AttemptsTable trail={trail} hasCaption />
    </div>
  )
}
