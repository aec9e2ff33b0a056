import type { ReactNode } from 'react'
import type { PagePart, SlotProps } from '../../../web/slots.ts'
import { en as say } from './texts/en.ts'

/** The page's SignIn, and menu items to sign out (docs/sign-in.md). */
export const part: PagePart = {
  replace: { SignIn },
  add: {
    userLinks: [{ label: say.agents, setting: 'agentsUrl' }],
    userMenu: [
      { label: say.signOut, run: signOut },
      { label: say.signOutEverywhere, icon: 'users', run: signOutEverywhere },
    ],
  },
}

const buttonStyle =
  'inline-flex min-h-11 w-full items-center justify-center gap-2 rounded-lg border border-transparent bg-ink px-4 ' +
  'py-2 font-medium text-page transition-colors [overflow-wrap:anywhere] hover:opacity-90'

/**
 * A button; signing in leaves the page and returns to it. The form is not sent: the page's `form-action 'none'` would
 * hold for every redirect of the identity provider, too.
 */
function SignIn({ settings: { providerName = '', startUrl = '', note, icon } }: SlotProps['SignIn']): ReactNode {
  return (
    <>
      {note === undefined ? null : (
        <p dir="auto" className="mb-6 text-sm text-balance text-muted [overflow-wrap:anywhere]">
          {note}
        </p>
      )}
      <form
        action={startUrl}
        onSubmit={(event) => {
          event.preventDefault()
          location.assign(startUrl)
        }}
      >
        <button type="submit" className={buttonStyle}>
          {icon === undefined ? (
            <span
              aria-hidden="true"
              data-initial={[...providerName][0]?.toUpperCase()}
              className={
                'inline-flex size-6 shrink-0 items-center justify-center rounded-md border border-transparent ' +
                'bg-accent-soft text-xs font-semibold text-accent before:content-[attr(data-initial)]'
              }
            />
          ) : (
            <img src={icon} alt="" className="size-6 shrink-0" />
          )}
          {say.signInWith(providerName)}
        </button>
      </form>
    </>
  )
}

/**
 * Signs out by `fetch`, not by a form: over plain http a form is sent without the headers that prove its origin, and
 * would be refused as cross-site.
 */
async function signOut(): Promise<void> {
  await postLogout({})
}

/** Signs out all sessions of the user. Requires a valid session, which identifies the user. */
async function signOutEverywhere(): Promise<void> {
  const response = await postLogout({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ everywhere: true }),
  })
  if ((await endedCount(response)) === 0) throw new Error(say.noneEnded)
}

async function postLogout(options: RequestInit): Promise<Response> {
  const response = await fetch('/auth/logout', { method: 'POST', cache: 'no-store', ...options }).catch(() => undefined)
  if (response === undefined) throw new Error(say.unreachableStillIn)
  if (!response.ok) throw new Error(say.answeredStillIn(String(response.status)))
  return response
}

/** Reads the number of ended sessions; `undefined` if the response does not contain it. */
async function endedCount(response: Response): Promise<number | undefined> {
  const answer: unknown = await response.json().catch(() => undefined)
  if (typeof answer !== 'object' || answer === null || !('ended' in answer)) return undefined
  return typeof answer.ended === 'number' ? answer.ended : undefined
}
