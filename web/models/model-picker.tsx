import { useEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from 'react'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { Icon } from '../ui/icon.tsx'
import { isComposing } from '../ui/is-composing.ts'
import { lazily } from '../ui/lazily.tsx'
import { useModal } from '../ui/use-modal.ts'
import { isOffered } from './offers.ts'
import { pagePickers } from './picker-registry.ts'
import { addRecent, recentModels } from './recent-models.ts'

const loadPanel = () => import('./picker-panel.tsx')
const PickerPanel = lazily(async () => (await loadPanel()).PickerPanel)

export interface ModelPickerProps {
  /** The selected model. */
  readonly model: string | undefined
  readonly onChange: (name: string) => void
}

/** A button that names the selected model and opens the picker. */
export function ModelPicker({ model, onChange }: ModelPickerProps): ReactNode {
  const { boot, models } = useServices()
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const state = useStore(models.state)
  // This renders often while an answer grows, and the list may be long.
  const isUnlisted = useMemo(
    () => model !== undefined && state.kind === 'ready' && !isOffered(state.answer.models, model),
    [model, state],
  )

  useEffect(() => pagePickers.add(() => setOpen(true)), [])
  useEffect(() => {
    if (models.state.get().kind === 'loading') void models.refresh()
  }, [models])
  useEffect(() => {
    // Preloads the panel after the first paint. If that fails, opening the picker tries again.
    if (state.kind !== 'loading') loadPanel().catch(() => undefined)
  }, [state.kind])

  function choose(name: string): void {
    setOpen(false)
    addRecent(recentModels(boot.user?.id), name)
    onChange(name)
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        title={isUnlisted ? say.models.notListedTitle(model ?? '') : model}
        onClick={() => setOpen(true)}
        className={
          'inline-flex min-h-9 max-w-full min-w-0 items-center gap-1.5 rounded-lg px-2.5 py-1.5 text-sm ' +
          'font-medium hover:bg-hover pointer-coarse:min-h-11'
        }
      >
        {isUnlisted ? <Icon name="warn" className="size-4 text-warn" /> : null}
        <span className="truncate">
          {model === undefined ? (
            say.common.chooseModel
          ) : (
            <>
              <span className="sr-only">{say.models.modelIs}</span>
              {model}
            </>
          )}
        </span>
        {isUnlisted ? <span className="sr-only">{say.models.notListed}</span> : null}
        <Icon name="chevron" className="size-4 text-muted" />
      </button>
      {isOpen ? (
        <PickerDialog opener={button} onClose={() => setOpen(false)}>
          <PickerPanel model={model} onChoose={choose} onClose={() => setOpen(false)} />
        </PickerDialog>
      ) : null}
    </>
  )
}

interface PickerDialogProps {
  /** Focused on closing if nothing had the focus before. */
  readonly opener: RefObject<HTMLElement | null>
  readonly onClose: () => void
  readonly children: ReactNode
}

/** The picker's dialog: full screen on phones, else near the top. */
function PickerDialog({ opener, onClose, children }: PickerDialogProps): ReactNode {
  const modal = useModal({ isOpen: true, onClose, opener })
  return (
    <dialog
      {...modal}
      aria-label={say.common.chooseModel}
      className={
        'h-dvh max-h-none w-screen max-w-none border-line bg-panel p-0 text-ink shadow-xl sm:mt-[8vh] ' +
        'sm:h-[min(36rem,80dvh)] sm:w-[calc(100vw-2rem)] sm:max-w-2xl sm:rounded-xl sm:border'
      }
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isComposing(event.nativeEvent)) return
        event.preventDefault()
        onClose()
      }}
    >
      <div className="flex h-full flex-col">{children}</div>
    </dialog>
  )
}
