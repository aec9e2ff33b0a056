import type { ReactNode } from 'react'
import { hrefOf } from '../app/route.ts'
import { useServices } from '../services.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import type { ModelsState } from './models-store.ts'
import { noFilters } from './search-models.ts'
import type { Picker } from './use-picker.ts'

/** Shown above the list: an error while an older list is available. */
export function ModelsError({
  state,
  onRetry,
}: {
  readonly state: ModelsState
  readonly onRetry: () => void
}): ReactNode {
  if (state.kind !== 'ready' || state.refreshError === undefined) return null
  return (
    <div className="flex flex-wrap items-center gap-x-3 border-b border-line bg-warn-soft px-4 py-1 text-sm">
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        {say.models.outOfDate(state.refreshError.message)}
      </span>
      <Button variant="quiet" icon="retry" onClick={onRetry}>
        {say.common.retry}
      </Button>
    </div>
  )
}

/** Shown instead of an empty list. */
export function NoRows({
  state,
  picker,
  onLeave,
}: {
  readonly state: ModelsState
  readonly picker: Picker
  readonly onLeave: () => void
}): ReactNode {
  if (state.kind === 'loading') return <Skeleton />
  return (
    <div className="flex min-h-40 flex-1 flex-col items-stretch justify-center p-4 text-sm">
      {state.kind === 'failed' ? (
        <Failed error={state.error} />
      ) : (
        <Empty state={state} picker={picker} onLeave={onLeave} />
      )}
    </div>
  )
}

function Failed({ error }: { readonly error: Error }): ReactNode {
  const { models } = useServices()
  return (
    <Notice
      kind="error"
      title={say.models.cannotBeLoaded}
      actions={
        <Button icon="retry" onClick={() => void models.refresh()}>
          {say.common.retry}
        </Button>
      }
    >
      {say.models.cannotBeLoadedAdvice(error.message)}
    </Notice>
  )
}

function Empty({
  state,
  picker,
  onLeave,
}: {
  readonly state: Extract<ModelsState, { kind: 'ready' }>
  readonly picker: Picker
  readonly onLeave: () => void
}): ReactNode {
  if (state.answer.models.length === 0) {
    return (
      <p className="text-center text-muted">
        {rich(say.models.noOffer, {
          providers: (
            <a className="text-accent underline" href={hrefOf({ view: 'providers' })} onClick={onLeave}>
              {say.models.providers}
            </a>
          ),
        })}
      </p>
    )
  }
  return (
    <div className="flex flex-col items-center gap-3 text-muted">
      <p>{say.models.noMatch}</p>
      {picker.filters === noFilters ? null : (
        <Button onClick={() => picker.filter(noFilters)}>{say.common.clearFilters}</Button>
      )}
    </div>
  )
}

function Skeleton(): ReactNode {
  return (
    <div aria-busy="true" className="min-h-0 flex-1 overflow-hidden p-1.5">
      <span className="sr-only">{say.models.loading}</span>
      {[64, 48, 72, 40, 56, 64, 44].map((width, index) => (
        <div key={index} aria-hidden="true" className="flex h-13 animate-pulse flex-col justify-center gap-2 px-9">
          <span className="block h-3 rounded bg-hover" style={{ width: `${width}%` }} />
          <span className="block h-2 w-1/4 rounded bg-hover" />
        </div>
      ))}
    </div>
  )
}
