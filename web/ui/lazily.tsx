import { useEffect, useState, type ComponentType, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'

/** What {@link lazily} shows while there is nothing else. */
export interface LazilyOptions {
  readonly waiting?: ReactNode
  /** In the place of a part that does not load. Default: a notice that says so. */
  readonly failed?: (again: () => void) => ReactNode
}

interface State<Props> {
  readonly Part?: ComponentType<Props>
  readonly isFailed?: boolean
}

/**
 * A part of the page that is loaded when it is first shown. When it does not load, that stands in its place, and it can
 * be tried again: what stands around it goes on. (`React.lazy` keeps a failure for as long as the page is open.)
 */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { waiting = null, failed = noticeOf }: LazilyOptions = {},
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
      let isThere = isWanted
      if (isWanted) {
        begin().then(
          () => {
            if (isThere && loaded !== undefined) setState({ Part: loaded })
          },
          (error: unknown) => {
            console.error('a part of the page did not load', error)
            if (isThere) setState({ isFailed: true })
          },
        )
      }
      return () => {
        isThere = false
      }
    }, [isWanted])
    if (Part !== undefined) return <Part {...props} />
    return isFailed ? failed(() => setState({})) : waiting
  }
}

function noticeOf(again: () => void): ReactNode {
  return (
    <div className="mx-auto max-w-xl p-4">
      <Notice
        kind="error"
        title="This part of the page did not load"
        actions={
          <>
            <Button onClick={again}>Try again</Button>
            <Button onClick={() => location.reload()}>Reload the page</Button>
          </>
        }
      >
        Check that you are connected and that the service runs. If it was updated meanwhile, reload the page.
      </Notice>
    </div>
  )
}
