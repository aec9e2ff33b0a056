import { useEffect, useState, type ReactNode } from 'react'
import type { RunningAnswer, RunningEntry } from '../../src/http/page/page-api.ts'
import type { AssistantMessage } from '../history/conversation.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { TrailRow } from '../ui/trail-row.tsx'
import { stepsOf } from '../ui/trail-steps.ts'
import { useElapsed } from '../ui/use-elapsed.ts'
import { hasContent } from './conversation-changes.ts'
import { requestIdOf } from './live-answer.ts'

/** Most answers begin before, and ask nothing more. */
const askAfterMs = 600
const askEveryMs = 500
/** Time after which a text is shown if it is not known who is asked. */
const textAfterMs = 2_000

/**
 * Below an answer that has not ended: who is asked, and who failed; then who answers. The line of the ended answer
 * takes its place. Screen readers read changes of the way, and no seconds.
 */
export function LiveLine({ answer }: { readonly answer: AssistantMessage }): ReactNode {
  const { live, provenance } = answer
  const id = live === undefined ? '' : requestIdOf(live.id)
  const isWaiting = !hasContent(answer)
  const running = useRunning(id, isWaiting)
  const isLong = useElapsed(textAfterMs)
  const isAnswered = provenance?.requestId === id && provenance.provider !== undefined
  const steps = isAnswered ? stepsOf(provenance) : isWaiting && running !== undefined ? stepsOf(running) : []
  return (
    <p role="status" aria-atomic="false" className="mt-1 flex min-h-9 items-center gap-2 text-sm text-muted">
      {steps.length > 0 ? (
        <TrailRow steps={steps} />
      ) : isWaiting ? (
        <>
          <span aria-hidden="true" className="size-4 animate-pulse rounded-full border-4 border-accent" />
          {isLong ? say.chat.waiting : null}
        </>
      ) : null}
    </p>
  )
}

/** The service's facts of a request under way, while it is waited for. */
function useRunning(id: string, isWaiting: boolean): RunningEntry | undefined {
  const { client } = useServices()
  const [found, setFound] = useState<RunningEntry>()
  useEffect(() => {
    if (!isWaiting || id === '') return undefined
    const leaving = new AbortController()
    async function look(): Promise<void> {
      const path = `/api/running?id=${id}`
      const answer = await client.get<RunningAnswer>(path, leaving.signal).catch(() => undefined)
      if (leaving.signal.aborted) return
      setFound((before) => answer?.requests.at(-1) ?? before)
      timer = setTimeout(look, askEveryMs)
    }
    let timer = setTimeout(look, askAfterMs)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [client, id, isWaiting])
  return found?.id === id ? found : undefined
}
