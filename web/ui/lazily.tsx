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
  { placeholder = null, failed = failureNotice }: LazilyOptions = {},
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
    return isFailed ? failed(() => setState({})) : placeholder
  }
}

function failureNotice(retry: () => void): ReactNode {
  return (
    <div className="mx-auto max-w-xl p-4">
      <Notice
        kind="error"
        title={say.app.partNotLoaded}
        actions={
          <>
            <Button onClick={retry}>{say.common.tryAgain}</Button>
            <Button onClick={() => location.reload()}>{say.common.reloadPage}</Button>
          </>
        }
      >
        {say.app.partNotLoadedAdvice}
      </Notice>
    </div>
  )
}
