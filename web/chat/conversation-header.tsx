import { memo, type ReactNode } from 'react'
import { Bar } from '../app/bar.tsx'
import { useShortcut } from '../app/shortcuts.ts'
import type { ChatSettings } from '../history/conversation.ts'
import { ModelPicker } from '../models/model-picker.tsx'
import { openModelPicker } from '../models/picker-registry.ts'
import { countSet } from '../parameters/parameters.ts'
import { say } from '../texts/say.ts'
import { IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { lazily } from '../ui/lazily.tsx'

const ParametersPanel = lazily(async () => (await import('../parameters/parameters-panel.tsx')).ParametersPanel, {
  placeholder: <p className="min-h-[60dvh] text-muted">{say.common.loading}</p>,
})

export interface ConversationHeaderProps {
  readonly title: string
  readonly model: string | undefined
  readonly settings: ChatSettings
  readonly onModel: (model: string) => void
  readonly onSettings: (settings: ChatSettings) => void
  readonly isOpen: boolean
  readonly setOpen: (isOpen: boolean) => void
}

/** The bar of a conversation: model, title and settings. Does not render while an answer grows. */
export const ConversationHeader = memo(function ConversationHeader({
  title,
  model,
  settings,
  onModel,
  onSettings,
  isOpen,
  setOpen,
}: ConversationHeaderProps): ReactNode {
  useShortcut('Ctrl+/', say.common.chooseModel, () => void openModelPicker())
  useShortcut('Ctrl+.', say.chat.settingsOfConversation, () => setOpen(true))
  const set = countSet(settings.parameters) + (settings.system.trim() === '' ? 0 : 1)
  return (
    <Bar>
      <ModelPicker model={model} onChange={onModel} />
      <h1 className="min-w-0 flex-1 truncate text-center text-sm text-muted max-sm:sr-only">
        {title === '' ? say.common.newConversation : title}
      </h1>
      <div className="relative ml-auto">
        <IconButton label={say.chat.settings} icon="sliders" onClick={() => setOpen(true)} />
        {set === 0 ? null : (
          <span
            className={
              'pointer-events-none absolute top-0 right-0 flex size-4 items-center justify-center rounded-full ' +
              'bg-accent text-[0.625rem] font-semibold text-on-accent'
            }
          >
            <span className="sr-only">{say.chat.set}</span>
            {set}
          </span>
        )}
      </div>
      <SettingsDialog
        title={say.chat.settingsOfThis}
        settings={settings}
        onSettings={onSettings}
        picker={<ModelPicker model={model} onChange={onModel} />}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
      />
    </Bar>
  )
})

/** The dialog of a system prompt, the model and parameters. */
export function SettingsDialog({
  title,
  settings,
  onSettings,
  picker,
  isOpen,
  onClose,
}: Pick<ConversationHeaderProps, 'title' | 'settings' | 'onSettings' | 'isOpen'> & {
  /** Chooses the model; absent where there is no single one. */
  readonly picker?: ReactNode
  readonly onClose: () => void
}): ReactNode {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose} size="lg">
      <ParametersPanel settings={settings} onChange={onSettings} picker={picker} />
    </Dialog>
  )
}
