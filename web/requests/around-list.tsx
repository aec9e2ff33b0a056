import type { ReactNode } from 'react'
import type { RunningAnswer, RunningEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { formatCount, formatMoment, formatMs } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { TrailRow } from '../ui/trail-row.tsx'
import { stepsOf } from '../ui/trail-steps.ts'
import { useAnswer } from '../ui/use-answer.ts'
import { useNow } from '../ui/use-now.ts'
import type { RequestsState } from './requests-feed.ts'
import type { OlderRequests } from './use-older.ts'

const looks = {
  live: { word: say.requests.live.live, dot: 'bg-ok', text: 'text-ok' },
  connecting: { word: say.requests.live.connecting, dot: 'bg-muted', text: 'text-muted' },
  reconnecting: { word: say.requests.live.reconnecting, dot: 'bg-warn', text: 'text-warn' },
  paused: { word: say.requests.live.paused, dot: 'bg-muted', text: 'text-muted' },
} as const

/** State of the live connection, with a pause button. */
export function LiveState({
  connection,
  isPaused,
  onPause,
}: Pick<RequestsState, 'connection'> & {
  readonly isPaused: boolean
  readonly onPause: (isPaused: boolean) => void
}): ReactNode {
  const { word, dot, text } = looks[isPaused && connection === 'live' ? 'paused' : connection]
  return (
    <div className="flex items-center gap-3">
      <p role="status" className={`inline-flex items-center gap-1.5 text-sm font-medium ${text}`}>
        <span className={`size-2 rounded-full ${dot}`} />
        {word}
      </p>
      <Button icon={isPaused ? 'play' : 'pause'} isShort onClick={() => onPause(!isPaused)}>
        {isPaused ? say.requests.live.resume : say.requests.live.pause}
      </Button>
    </div>
  )
}

/** Below the list: loads older requests, and says how far back they reach. */
export function OlderBar({
  older,
  isFiltering,
  oldest,
}: {
  readonly older: OlderRequests
  readonly isFiltering: boolean
  /** Arrival of the oldest stored request. */
  readonly oldest: number | undefined
}): ReactNode {
  const { isLoading, isComplete, searchedTo, error, load } = older
  return (
    <div className="flex flex-col items-center gap-2 py-2 text-sm text-muted">
      {error === undefined ? null : (
        <Notice kind="warn" title={say.requests.older}>
          {error}
        </Notice>
      )}
      {isComplete ? null : (
        <Button onClick={load} disabled={isLoading}>
          {isLoading ? say.requests.searching : isFiltering ? say.requests.search : say.requests.hasOlder}
        </Button>
      )}
      <p role="status" className="tabular-nums">
        {isComplete ? endWords(oldest, isFiltering) : reachWords(searchedTo, oldest)}
      </p>
    </div>
  )
}

function endWords(oldest: number | undefined, isFiltering: boolean): string {
  if (oldest === undefined) return say.requests.noOlder
  const moment = formatMoment(oldest)
  return isFiltering ? say.requests.noOlderThatMatch(moment) : say.requests.noOlderOnes(moment)
}

function reachWords(searchedTo: number | undefined, oldest: number | undefined): string {
  if (searchedTo !== undefined) return say.requests.backTo(formatMoment(searchedTo))
  return oldest === undefined ? '' : say.requests.kept(formatMoment(oldest))
}

const refreshMs = 2_000
const shownMax = 20

/** The requests under way, the longest first. Nothing while there are none. */
export function RunningRequests(): ReactNode {
  const { answer } = useAnswer<RunningAnswer>(() => '/api/running', 'running', refreshMs)
  const now = useNow(1_000)
  if (answer === undefined || answer.count === 0) return null
  const { requests, count } = answer
  const shown = requests.slice(0, shownMax)
  return (
    <section aria-labelledby="running" className="rounded-xl border border-line bg-panel p-4 text-sm">
      <h2 id="running" className="font-semibold">
        {say.requests.running(formatCount(count))}
      </h2>
      <ul className="mt-1 flex flex-col gap-1">
        {shown.map((request) => (
          <li key={`${request.time} ${request.id}`} className="tabular-nums [overflow-wrap:anywhere]">
            <RunningLine request={request} now={now} />
          </li>
        ))}
      </ul>
      {count > shown.length ? (
        <p className="mt-1 text-muted">{say.requests.andMore(formatCount(count - shown.length))}</p>
      ) : null}
    </section>
  )
}

function RunningLine({ request, now }: { readonly request: RunningEntry; readonly now: number }): ReactNode {
  const { time, user, model, api, trail, asking, firstTokenMs } = request
  const facts = [
    formatMs(Math.max(0, now - time)),
    model === '' ? say.requests.bodyIsRead : model,
    api === 'chat' ? '' : api,
    user ?? '',
    ...(firstTokenMs === undefined ? [] : [say.requests.sends]),
  ]
  return (
    <>
      {facts.filter((fact) => fact !== '').join(' · ')} <TrailRow steps={stepsOf({ trail, asking })} isQuiet />
    </>
  )
}
