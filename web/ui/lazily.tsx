import { useEffect, useState, type ComponentType, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'

/** Options of {@link lazily}: content shown while loading, and after a failure. */
export interface LazilyOptions {
  readonly placeholder?: ReactNode
  /** Shown when loading fails. Default: a notice with a retry button. */
  readonly failed?: (retry: () => void) => ReactNode
}

interface State<Props> {
  readonly Part?: ComponentType<Props>
  readonly isFailed?: boolean
}

/**
 * A component that loads when first shown. If loading fails, a fallback with a retry takes its place and the rest of
 * the page goes on. (`React.lazy` caches the failure until the page is closed.)
 */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { placeholder = null, failed }: LazilyOptions = {},
): ComponentType<Props> {
  let loading: Promise<ComponentType<Props>> | undefined
  let loaded: ComponentType<Props> | undefined

  async function begin(): Promise<void> {
    loading ??= load()
    try {
      loaded = await loading
    } finally {
      loading = undefined
    }
  }

  return function Lazily(props: Props): ReactNode {
    const [{ Part, isFailed = false }, setState] = useState<State<Props>>(() =>
      loaded === undefined ? {} : { Part: loaded },
    )
    const isWanted = Part === undefined && !isFailed
    useEffect(() => {
      let isMounted = isWanted
      if (isWanted) {
        begin().then(
          () => {
            if (isMounted && loaded !== undefined) setState({ Part: loaded })
          },
          (error: unknown) => {
            console.error('a part of the page did not load', error)
            if (isMounted) setState({ isFailed: true })
          },
        )
      }
      return () => {
        isMounted = false
      }
    }, [isWanted])
    if (Part !== undefined) return <Part {...props} />
    if (!isFailed) return placeholder
    const retry = (): void => setState({})
    return failed === undefined ? (
      <PartFailed title={say.app.partNotLoaded} retry={retry}>
        {say.app.partNotLoadedAdvice}
      </PartFailed>
    ) : (
      failed(retry)
    )
  }
}

/** In place of a part of the page that failed. */
export function PartFailed({
  className = 'p-4',
  title,
  retry,
  children,
}: {
  readonly className?: 'p-4' | 'p-6'
  readonly title: string
  readonly retry: () => void
  readonly children: ReactNode
}): ReactNode {
  return (
    <div className={`mx-auto max-w-xl ${className}`}>
      <Notice
        kind="error"
        title={title}
        actions={
          <>
            <Button onClick={retry}>{say.common.tryAgain}</Button>
            <Button onClick={() => location.reload()}>{say.common.reloadPage}</Button>
          </>
        }
      >
        {children}
      </Notice>
    </div>
  )
}
