import { useEffect, useState, type ReactNode } from 'react'
import type { Boot } from '../../src/http/page/page-api.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import type { Parts } from './parts.ts'
import { onRestartRequested, restartPage } from './restart-page.ts'
import { SignIn } from './sign-in.tsx'

export interface SessionEndedProps {
  readonly parts: Parts
  readonly enterToken: (token: string) => Promise<boolean>
}

/**
 * Asks to sign in again after an answer of 401. The view behind it stays, and drafts are kept in the browser, so
 * following a link loses nothing. Sign-in state is also checked each time the tab is shown, since another tab may have
 * changed it.
 */
export function SessionEnded({ parts, enterToken }: SessionEndedProps): ReactNode {
  const { boot, client } = useServices()
  const [state, setState] = useState<'signed-in' | 'asking' | 'dismissed'>('signed-in')
  // Views that poll get 401 repeatedly: after the dialog was closed, it does not open again by itself.
  useEffect(() => client.onSignedOut(() => setState((now) => (now === 'signed-in' ? 'asking' : now))), [client])
  useEffect(() => onRestartRequested(), [])
  // Without sign-in the user cannot change.
  const isWatched = boot.isClosed || state !== 'signed-in'
  useEffect(() => {
    if (!isWatched) return undefined
    const check = (): void => {
      if (document.visibilityState !== 'visible') return
      client.get<Boot>('/api/boot').then(
        (now) => {
          if (now.isClosed !== boot.isClosed) restartPage()
          else if (now.isClosed && now.user === undefined)
            setState((before) => (before === 'signed-in' ? 'asking' : before))
          // Another user must not see this page's conversations.
          else if (now.user?.id === boot.user?.id) setState('signed-in')
          else restartPage()
        },
        () => {
          // The service was not reached: nothing changes.
        },
      )
    }
    // Sign-in was switched on since: this page knows nothing of its identity provider.
    if (!boot.isClosed) check()
    document.addEventListener('visibilitychange', check)
    addEventListener('focus', check)
    addEventListener('pageshow', check)
    return () => {
      document.removeEventListener('visibilitychange', check)
      removeEventListener('focus', check)
      removeEventListener('pageshow', check)
    }
  }, [isWatched, boot, client])

  async function enterTokenAndClose(token: string): Promise<boolean> {
    const isAccepted = await enterToken(token)
    if (isAccepted) setState('signed-in')
    return isAccepted
  }

  return (
    <>
      {state === 'dismissed' ? (
        <div className="p-2">
          <Notice
            kind="warn"
            title={say.app.sessionEnded}
            actions={
              <Button variant="primary" onClick={() => setState('asking')}>
                {say.app.signInAgain}
              </Button>
            }
          />
        </div>
      ) : null}
      <Dialog title={say.app.sessionEnded} isOpen={state === 'asking'} onClose={() => setState('dismissed')}>
        <p className="mb-6 text-sm">{say.app.sessionEndedAdvice}</p>
        <SignIn parts={parts} enterToken={enterTokenAndClose} />
      </Dialog>
    </>
  )
}
