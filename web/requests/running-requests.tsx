import type { ReactNode } from 'react'
import type { RunningAnswer, RunningEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { formatCount, formatMs } from '../ui/format.ts'
import { useAnswer } from '../ui/use-answer.ts'
import { useNow } from '../ui/use-now.ts'

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
            {runningWords(request, now)}
          </li>
        ))}
      </ul>
      {count > shown.length ? (
        <p className="mt-1 text-muted">{say.requests.andMore(formatCount(count - shown.length))}</p>
      ) : null}
    </section>
  )
}

function runningWords({ time, user, model, api, stream, providers, firstTokenMs }: RunningEntry, now: number): string {
  const step =
    firstTokenMs !== undefined
      ? say.requests.steps.sends
      : stream
        ? say.requests.steps.waitsForToken
        : say.requests.steps.waits
  const facts = [
    formatMs(Math.max(0, now - time)),
    model === '' ? say.requests.bodyIsRead : model,
    api === 'chat' ? '' : api,
    user ?? '',
    providers.join(' → '),
    model === '' ? '' : step,
  ]
  return facts.filter((fact) => fact !== '').join(' · ')
}
