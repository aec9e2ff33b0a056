import type { ReactNode } from 'react'
import type { AttemptEntry, RequestEntry } from '../../src/observe/request-entry.ts'
import { say } from '../texts/say.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCost, formatCount, formatMs, markEstimate } from '../ui/format.ts'
import { lazily } from '../ui/lazily.tsx'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { TrailList } from '../ui/trail-list.tsx'
import { useLoaded } from '../ui/use-answer.ts'
import { costInWords, hasNoPrice, shortCost } from './cost-words.ts'
import { formatSecond } from './format-day.ts'
import { metInWords } from './met-words.ts'
import { modelless, StatusWord } from './request-line.tsx'
import { kindsInWords, notesOf } from './request-notes.ts'

const KeptContent = lazily(async () => (await import('./kept-content.tsx')).KeptContent)

export interface RequestPageProps {
  readonly id: string
  /** The request, if the list has it. */
  readonly known: RequestEntry | undefined
}

/** All data about one request. */
export function RequestPage({ id, known }: RequestPageProps): ReactNode {
  const { request, error } = useRequest(id, known)
  return (
    <div className="flex max-w-4xl flex-col gap-4">
      {error === undefined ? null : (
        <Notice kind="error" title={say.requests.cannotBeShown}>
          {error}
        </Notice>
      )}
      {request === undefined ? error === undefined ? <Loading /> : null : <Facts request={request} />}
    </div>
  )
}

function useRequest(id: string, known: RequestEntry | undefined) {
  const { answer, error } = useLoaded(
    async (client, signal) => known ?? (await client.get<RequestEntry>(`/api/requests/${id}`, signal)),
    id,
    known !== undefined,
  )
  return { request: known ?? answer, error: known === undefined ? error : undefined }
}

function Facts({ request }: { readonly request: RequestEntry }): ReactNode {
  const {
    id,
    api,
    time,
    user,
    person,
    model,
    stream,
    provider,
    firstTokenMs,
    totalMs,
    session,
    promptTokens,
    completionTokens,
    isEstimated,
    tokens: kinds,
    error,
  } = request
  const tokens = (count = 0): string => markEstimate(formatCount(count), isEstimated)
  return (
    <>
      <dl
        className={
          'grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 rounded-xl border border-line bg-panel p-4 text-sm ' +
          'tabular-nums'
        }
      >
        <Fact name={say.requests.requestId}>
          <span className="inline-flex max-w-full items-center gap-1">
            <code className="font-mono [overflow-wrap:anywhere]">{id}</code>
            <CopyButton text={id} label={say.requests.copyRequestId} />
          </span>
        </Fact>
        <Fact name={say.common.time}>{formatSecond(time)}</Fact>
        {user === undefined ? null : (
          <Fact name={say.requests.user}>
            {user}
            {person === undefined ? '' : say.requests.keyOf(person)}
          </Fact>
        )}
        {session === undefined ? null : (
          <Fact name={say.requests.session}>
            <code className="font-mono">{session}</code>
          </Fact>
        )}
        <Fact name={say.common.model}>
          {model === '' ? modelless(request) : model}
          {stream ? say.requests.asStream : ''}
        </Fact>
        <Fact name={say.requests.format}>{api}</Fact>
        <Fact name={say.common.status}>
          <StatusWord request={request} />
        </Fact>
        {error === undefined ? null : (
          <Fact name={say.requests.error}>
            <code className="font-mono">{error}</code>
          </Fact>
        )}
        <Fact name={say.requests.servedBy}>{provider ?? say.requests.noProvider}</Fact>
        {stream ? (
          <Fact name={say.common.firstToken}>
            {firstTokenMs === undefined ? say.requests.noneReceived : formatMs(firstTokenMs)}
          </Fact>
        ) : null}
        <Fact name={say.requests.duration}>{formatMs(totalMs)}</Fact>
        <Fact name={say.common.tokens}>
          {promptTokens === undefined && completionTokens === undefined
            ? say.requests.unknown
            : say.common.inAndOut(tokens(promptTokens), tokens(completionTokens)) +
              (isEstimated === true ? say.requests.estimated : '')}
        </Fact>
        {kinds === undefined || kinds.cached + kinds.cacheWrite + kinds.reasoning === 0 ? null : (
          <Fact name={say.requests.byKind}>{kindsInWords(kinds)}</Fact>
        )}
        <Fact name={say.common.cost}>{costInWords(request)}</Fact>
        <Lines name={say.requests.met.name} texts={metInWords(request)} />
        <Lines name={say.requests.notes} texts={notesOf(request)} />
      </dl>
      <Attempts request={request} />
      <KeptContent request={request} />
    </>
  )
}

/** A fact with a line for each text; nothing without texts. */
function Lines({ name, texts }: { readonly name: string; readonly texts: readonly string[] }): ReactNode {
  if (texts.length === 0) return null
  return (
    <Fact name={name}>
      <ul>
        {texts.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </Fact>
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

/** The attempts in their order, each with its time, tokens and cost. */
function Attempts({ request }: { readonly request: RequestEntry }): ReactNode {
  const { trail } = request
  if (trail.length === 0) return <p className="text-sm">{say.requests.noProviderAsked}</p>
  return (
    <section className="rounded-xl border border-line bg-panel p-4 text-sm">
      <h2 className="font-medium">{say.ui.attempts(trail.length)}</h2>
      <TrailList
        trail={trail}
        label={say.requests.attempts}
        more={(attempt) =>
          [tokensOf(request, attempt), costOf(request, attempt)].map((words) => words && ` · ${words}`)
        }
      />
    </section>
  )
}

function isAnswer({ provider }: RequestEntry, attempt: AttemptEntry): boolean {
  return attempt.failure === undefined && attempt.provider === provider
}

function tokensOf(request: RequestEntry, attempt: AttemptEntry): string {
  const { promptTokens, completionTokens } = isAnswer(request, attempt) ? request : attempt
  if (promptTokens === undefined && completionTokens === undefined) return ''
  const isEstimated = isAnswer(request, attempt) ? request.isEstimated : undefined
  const words = (count = 0): string => markEstimate(formatCount(count), isEstimated)
  return say.common.inAndOut(words(promptTokens), words(completionTokens))
}

function costOf(request: RequestEntry, attempt: AttemptEntry): string {
  if (isAnswer(request, attempt)) return request.cost === undefined && !hasNoPrice(request) ? '' : shortCost(request)
  if (attempt.cost !== undefined) return formatCost(attempt.cost)
  if (attempt.bookedCost !== undefined) return say.requests.booked(`≈${formatCost(attempt.bookedCost)}`)
  return attempt.mayBeBilled === true ? say.requests.mayBeBilled : ''
}
