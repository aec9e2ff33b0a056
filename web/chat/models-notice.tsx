import { memo, type ReactNode } from 'react'
import { hrefOf } from '../app/route.ts'
import { isOffered } from '../models/describe-model.ts'
import type { ModelsState } from '../models/models-store.ts'
import { openModelPicker } from '../models/picker-registry.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'

/** Props of {@link ModelsNotice}. */
export interface ModelsNoticeProps {
  readonly state: ModelsState
  readonly model: string | undefined
  readonly onRefresh: () => Promise<void>
}

/** Reports that no model is available, or not the selected one. */
export const ModelsNotice = memo(function ModelsNotice({ state, model, onRefresh }: ModelsNoticeProps): ReactNode {
  if (state.kind === 'loading') return null
  if (state.kind === 'failed') {
    return (
      <Notice
        kind="warn"
        title="The models could not be listed"
        actions={
          <Button icon="retry" onClick={() => void onRefresh()}>
            Try again
          </Button>
        }
      >
        {state.error.message}
      </Notice>
    )
  }
  const { models } = state.answer
  if (models.length === 0) {
    return (
      <Notice
        kind="warn"
        title="There are no models"
        actions={
          <Button icon="retry" onClick={() => void onRefresh()}>
            Look again
          </Button>
        }
      >
        No provider that is on offers one.{' '}
        <a href={hrefOf({ view: 'providers' })} className="text-accent underline">
          Look at the providers
        </a>
      </Notice>
    )
  }
  if (model === undefined || isOffered(models, model)) return null
  return (
    <Notice
      kind="warn"
      title={`No provider lists ${model}`}
      actions={<Button onClick={() => void openModelPicker()}>Choose another model…</Button>}
    >
      You can still ask for it: a provider that does not list its models may have it.
    </Notice>
  )
})
