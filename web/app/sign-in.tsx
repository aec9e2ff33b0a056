import type { ReactNode } from 'react'
import { serviceName } from '../service-name.ts'
import { say } from '../texts/say.ts'
import { lazily } from '../ui/lazily.tsx'
import { Mark } from '../ui/mark.tsx'
import { Notice } from '../ui/notice.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import type { Parts } from './parts.ts'

const DefaultSignIn = lazily(async () => (await import('./default-sign-in.tsx')).DefaultSignIn)

export interface SignInProps {
  readonly parts: Parts
  readonly enterToken: (token: string) => Promise<boolean>
}

/**
 * The slot SignIn: an extension's component, or the page's default. If the component fails, the default takes its
 * place.
 */
export function SignIn({ parts, enterToken }: SignInProps): ReactNode {
  const filling = parts.fillings.SignIn
  const defaultSignIn = <DefaultSignIn settings={{}} enterToken={enterToken} />
  return (
    <div className="text-center">
      {parts.failed.length === 0 ? null : <PartFailed name={parts.failed.join(', ')} />}
      {filling === undefined ? (
        defaultSignIn
      ) : (
        <ErrorBoundary
          fallback={() => (
            <>
              <PartFailed name={filling.extension} />
              {defaultSignIn}
            </>
          )}
        >
          <filling.component settings={filling.settings} enterToken={enterToken} />
        </ErrorBoundary>
      )}
    </div>
  )
}

function PartFailed({ name }: { readonly name: string }): ReactNode {
  return (
    <div className="mb-4 text-left">
      <Notice kind="warn" title={say.app.partFailed(name)}>
        {say.app.partFailedAdvice}
      </Notice>
    </div>
  )
}

/** The page while sign-in is required. */
export function SignInPage(props: SignInProps): ReactNode {
  return (
    <main className="flex min-h-full items-center justify-center px-4 pt-8 pb-[12vh]">
      <div className="w-88 max-w-full text-center">
        <Mark className="mx-auto size-12" />
        <h1 className="mt-3 mb-6 text-[1.75rem]/9 font-semibold tracking-tight">
          <bdi className="min-w-0 [overflow-wrap:anywhere]">{serviceName}</bdi>
        </h1>
        <SignIn {...props} />
      </div>
    </main>
  )
}
