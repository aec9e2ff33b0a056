import { useId, useState, type FormEvent, type ReactNode } from 'react'
import { messageOf } from '../message-of.ts'
import type { SlotProps } from '../slots.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'

/** Default of the slot SignIn: asks for an access token. */
export function DefaultSignIn({ enterToken }: SlotProps['SignIn']): ReactNode {
  const field = useId(),
    hint = useId()
  const [token, setToken] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (token.trim() === '' || isBusy) return
    setBusy(true)
    try {
      // If the token is accepted, the page restarts and this form is gone.
      setProblem((await enterToken(token.trim())) ? undefined : say.app.tokenRefused)
    } catch (error) {
      setProblem(say.app.tryInAMoment(messageOf(error)))
    }
    setBusy(false)
  }

  return (
    <>
      <h2 className="text-xl font-semibold">{say.common.signIn}</h2>
      <form className="mt-4 flex flex-col gap-3 text-left" onSubmit={(event) => void submit(event)}>
        <label htmlFor={field} className="text-sm font-medium">
          {say.app.accessToken}
        </label>
        <input
          id={field}
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={token}
          aria-describedby={hint}
          aria-invalid={problem !== undefined}
          onChange={(event) => setToken(event.target.value)}
          className="w-full rounded-lg border border-muted bg-page px-3 py-2 text-base"
        />
        <p
          id={hint}
          className={`text-sm ${problem === undefined ? 'text-muted' : 'text-bad'}`}
          role={problem === undefined ? undefined : 'alert'}
        >
          {problem ?? say.app.tokenHint}
        </p>
        <Button type="submit" variant="primary" aria-disabled={isBusy}>
          {isBusy ? say.app.signingIn : say.common.signIn}
        </Button>
      </form>
    </>
  )
}
