import { useEffect, useState, type ReactNode } from 'react'
import type { Boot } from '../../src/http/page-api.ts'
import { useServices } from '../services.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import type { Parts } from './parts.ts'
import { SignIn } from './sign-in.tsx'
import { listenForStart, startAnew } from './start-anew.ts'

/** What {@link SessionEnded} needs. */
export interface SessionEndedProps {
  readonly parts: Parts
  readonly useToken: (token: string) => Promise<boolean>
}

/**
 * Asks to sign in again when an answer says that nobody is signed in any more. What a person was doing stays behind it:
 * what is typed is kept in the browser, so following a link loses nothing. Signing in or out in another tab is noticed
 * when they come back to this one.
 */
export function SessionEnded({ parts, useToken }: SessionEndedProps): ReactNode {
  const { boot, client } = useServices()
  const [state, setState] = useState<'signed-in' | 'asking' | 'put-off'>('signed-in')
  // Views that ask again and again are refused again and again: whoever has put it off is not asked anew.
  useEffect(() => client.onSignedOut(() => setState((now) => (now === 'signed-in' ? 'asking' : now))), [client])
  useEffect(() => listenForStart(), [])
  // Where nobody signs in, nobody can have changed.
  const isWatched = boot.isClosed || state !== 'signed-in'
  useEffect(() => {
    if (!isWatched) return undefined
    const look = (): void => {
      if (document.visibilityState !== 'visible') return
      client.get<Boot>('/api/boot').then(
        (now) => {
          if (now.isClosed && now.user === undefined) setState((before) => (before === 'signed-in' ? 'asking' : before))
          // Somebody else must not see what is on the page, nor another's conversations.
          else if (now.user?.id === boot.user?.id) setState('signed-in')
          else startAnew()
        },
        () => {
          // Not reached: it stays as it is.
        },
      )
    }
    document.addEventListener('visibilitychange', look)
    addEventListener('focus', look)
    addEventListener('pageshow', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      removeEventListener('focus', look)
      removeEventListener('pageshow', look)
    }
  }, [isWatched, boot, client])

  async function useTokenHere(token: string): Promise<boolean> {
    const isAccepted = await useToken(token)
    if (isAccepted) setState('signed-in')
    return isAccepted
  }

  return (
    <>
      {state === 'put-off' ? (
        <div className="p-2">
          <Notice
            kind="warn"
            title="Your session has ended"
            actions={
              <Button variant="primary" onClick={() => setState('asking')}>
                Sign in again
              </Button>
            }
          />
        </div>
      ) : null}
      <Dialog title="Your session has ended" isOpen={state === 'asking'} onClose={() => setState('put-off')}>
        <p className="mb-6 text-sm">Sign in again to go on. What you have typed is kept.</p>
        <SignIn parts={parts} useToken={useTokenHere} />
      </Dialog>
    </>
  )
}
