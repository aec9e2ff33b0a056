import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import type { RequestsState } from './requests-feed.ts'

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
      <Button icon={isPaused ? 'play' : 'pause'} onClick={() => onPause(!isPaused)}>
        {isPaused ? say.requests.live.resume : say.requests.live.pause}
      </Button>
    </div>
  )
}
