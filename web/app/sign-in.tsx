import type { ReactNode } from 'react'
import { Icon } from '../ui/icon.tsx'
import { lazily } from '../ui/lazily.tsx'
import { Notice } from '../ui/notice.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import type { Parts } from './parts.ts'

const DefaultSignIn = lazily(async () => (await import('./default-sign-in.tsx')).DefaultSignIn)

/** What {@link SignIn} needs. */
export interface SignInProps {
  readonly parts: Parts
  readonly useToken: (token: string) => Promise<boolean>
}

/**
 * Whatever fills the slot SignIn: the page's own, or an extension's in its place. One that fails gives way to the
 * page's own.
 */
export function SignIn({ parts, useToken }: SignInProps): ReactNode {
  const filling = parts.fillings.SignIn
  const ownOne = <DefaultSignIn settings={{}} useToken={useToken} />
  return (
    <div className="text-center">
      {parts.failed.length === 0 ? null : <PartFailed name={parts.failed.join(', ')} />}
      {filling === undefined ? (
        ownOne
      ) : (
        <ErrorBoundary
          fallback={() => (
            <>
              <PartFailed name={filling.extension} />
              {ownOne}
            </>
          )}
        >
          <filling.component settings={filling.settings} useToken={useToken} />
        </ErrorBoundary>
      )}
    </div>
  )
}

function PartFailed({ name }: { readonly name: string }): ReactNode {
  return (
    <div className="mb-4 text-left">
      <Notice kind="warn" title={`A part of this page does not work (${name})`}>
        Reload the page. If that does not help, tell whoever runs this service.
      </Notice>
    </div>
  )
}

/** The page while nobody is signed in. */
export function SignInPage(props: SignInProps): ReactNode {
  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <div className="w-full max-w-sm rounded-2xl border border-line bg-panel p-8">
        <h1 className="mb-4 flex items-center justify-center gap-2 text-muted">
          <Icon name="chat" /> svc
        </h1>
        <SignIn {...props} />
      </div>
    </main>
  )
}
