import { memo, type ReactNode } from 'react'
import { hrefOf } from '../app/route.ts'
import type { ModelsState } from '../models/models-store.ts'
import { isOffered } from '../models/offers.ts'
import { openModelPicker } from '../models/picker-registry.ts'
import { say } from '../texts/say.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'

export interface ModelsNoticeProps {
  readonly state: ModelsState
  readonly model: string | undefined
  readonly onRefresh: () => Promise<void>
}

/** Reports that no model is available, or not the selected one. */
export const ModelsNotice = memo(function ModelsNotice({ state, model, onRefresh }: ModelsNoticeProps): ReactNode {
  if (state.kind === 'loading') return null
  const refresh = (text: string): ReactNode => (
    <Button icon="retry" onClick={() => void onRefresh()}>
      {text}
    </Button>
  )
  if (state.kind === 'failed') {
    return (
      <Notice kind="warn" title={say.chat.unlisted} actions={refresh(say.common.tryAgain)}>
        {state.error.message}
      </Notice>
    )
  }
  const { models } = state.answer
  if (models.length === 0) {
    return (
      <Notice
        kind="warn"
        title={say.chat.noModels}
        actions={
          <>
            <ButtonLink href={hrefOf({ view: 'providers' })} variant="primary">
              {say.common.lookAtProviders}
            </ButtonLink>
            {refresh(say.chat.lookAgain)}
          </>
        }
      >
        {say.chat.noModelsAdvice}
      </Notice>
    )
  }
  if (model === undefined || isOffered(models, model)) return null
  return (
    <Notice
      kind="warn"
      title={say.chat.notListed(model)}
      actions={<Button onClick={() => void openModelPicker()}>{say.chat.changesModel}</Button>}
    >
      {say.chat.notListedAdvice}
    </Notice>
  )
})
