import type { ReactNode } from 'react'
import type { PagePart, SlotProps } from '../../../web/slots.ts'

/** The page's SignIn, and a line of its menu: whom people sign in with, and how they sign out (docs/sign-in.md). */
export const part: PagePart = {
  replace: { SignIn },
  add: { userMenu: [{ label: 'Sign Out', run: signOut }] },
}

/** A plain link: signing in leaves the page, and comes back to it. */
function SignIn({ settings: { providerName, startUrl } }: SlotProps['SignIn']): ReactNode {
  return (
    <>
      <h2 className="text-xl font-semibold">Sign in</h2>
      <a
        href={startUrl}
        className="mt-6 inline-flex min-h-11 max-w-full items-center justify-center rounded-lg bg-accent px-5 py-2 font-medium text-on-accent transition-colors [overflow-wrap:anywhere] hover:opacity-90"
      >
        Sign in with {providerName}
      </a>
    </>
  )
}

/**
 * By script, not by a form: over plain http browsers do not say of a form where it comes from, so it would be refused
 * as another site's.
 */
async function signOut(): Promise<void> {
  const response = await fetch('/auth/logout', { method: 'POST', cache: 'no-store' }).catch(() => undefined)
  if (response === undefined)
    throw new Error('The service cannot be reached, so you are still signed in. Try again in a moment.')
  if (!response.ok)
    throw new Error(`The service answered with ${response.status}, so you are still signed in. Try again in a moment.`)
}
