import { useId, useState, type FormEvent, type ReactNode } from 'react'
import type { SlotProps } from '../slots.ts'
import { Button } from '../ui/button.tsx'

/** The page's own SignIn: takes an access token, for a service whose extension brings no page part of its own. */
export function DefaultSignIn({ useToken }: SlotProps['SignIn']): ReactNode {
  const field = useId(), hint = useId()
  const [token, setToken] = useState('')
  const [state, setState] = useState<'idle' | 'busy' | 'refused'>('idle')

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (token.trim() === '' || state === 'busy') return
    setState('busy')
    // Accepted, the page begins anew, and this form is gone.
    if (!(await useToken(token.trim()))) setState('refused')
  }

  return (
    <>
      <h2 className="text-xl font-semibold">Sign in</h2>
      <form className="mt-4 flex flex-col gap-3 text-left" onSubmit={(event) => void submit(event)}>
        <label htmlFor={field} className="text-sm font-medium">Access token</label>
        <input
          id={field}
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={token}
          aria-describedby={hint}
          aria-invalid={state === 'refused'}
          onChange={(event) => setToken(event.target.value)}
          className="w-full rounded-lg border border-muted bg-page px-3 py-2 text-base"
        />
        <p id={hint} className={`text-sm ${state === 'refused' ? 'text-bad' : 'text-muted'}`} role={state === 'refused' ? 'alert' : undefined}>
          {state === 'refused' ? 'This token is not accepted.' : 'Whoever runs this service gives it to you. It is kept until this page is closed.'}
        </p>
        <Button type="submit" variant="primary" disabled={state === 'busy'}>{state === 'busy' ? 'Signing in…' : 'Sign in'}</Button>
      </form>
    </>
  )
}
