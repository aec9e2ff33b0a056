import {
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
  type RefObject,
} from 'react'
import type { DraftState } from '../chat/use-draft.ts'
import type { ChatSettings } from '../history/conversation.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { isComposing } from '../ui/is-composing.ts'
import { filled, matching, settingsOf, summaryOf, variablesOf, type Preset } from './preset.ts'
import { presetsOf } from './presets-store.ts'
import { VariablesForm } from './variables-form.tsx'

export interface PresetListProps {
  /** Its text is `/` and the beginning of a name. */
  readonly drafts: DraftState
  readonly field: RefObject<HTMLTextAreaElement | null>
  /** Called with the settings of a preset. */
  readonly onSettings: (settings: Partial<ChatSettings>) => void
}

/**
 * The presets for the text in the message field, above it: arrow keys, Enter or Tab, Escape. The field keeps the focus
 * and gets the attributes of a text field with a list (WAI-ARIA: `aria-activedescendant`).
 */
export function PresetList({ drafts, field, onSettings }: PresetListProps): ReactNode {
  const store = presetsOf(useServices())
  const { presets, isLoading } = useStore(store.state)
  const { text } = drafts.draft
  const [active, setActive] = useState<{ readonly text: string; readonly at: number }>()
  const [dismissed, setDismissed] = useState<string>()
  const [asked, setAsked] = useState<Preset>()
  const listId = useId()
  const found = useMemo(() => matching(presets, text.slice(1)), [presets, text])
  const isShown = asked === undefined && dismissed !== text && found.length > 0
  const at = active?.text === text ? active.at : 0
  const isEmpty = !isLoading && presets.length === 0 && text === '/' && dismissed !== text

  useEffect(() => void store.refresh(), [store])

  function choose(preset: Preset): void {
    if (variablesOf(preset).length > 0) setAsked(preset)
    else use(preset, new Map())
  }

  function use(preset: Preset, values: ReadonlyMap<string, string>): void {
    setAsked(undefined)
    onSettings(settingsOf(preset, values))
    drafts.change((draft) => ({ ...draft, text: filled(preset.prompt ?? '', values) }))
    announce(say.presets.inUse(preset.name))
  }

  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (!isShown || isComposing(event) || event.ctrlKey || event.metaKey || event.altKey) return
    const { length } = found
    const preset = found[at]
    if (event.key === 'ArrowDown') setActive({ text, at: (at + 1) % length })
    else if (event.key === 'ArrowUp') setActive({ text, at: (at + length - 1) % length })
    else if (event.key === 'Escape') setDismissed(text)
    else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey && preset !== undefined) choose(preset)
    else return
    event.preventDefault()
    // Neither sends the message nor stops an answer.
    event.stopPropagation()
  })

  useEffect(() => {
    const { current } = field
    current?.addEventListener('keydown', onKeyDown)
    return () => current?.removeEventListener('keydown', onKeyDown)
  }, [field])

  useEffect(() => {
    const { current } = field
    if (!isShown || current === null) return undefined
    const attributes = { 'aria-autocomplete': 'list', 'aria-haspopup': 'listbox', 'aria-controls': listId }
    for (const [name, value] of Object.entries(attributes)) current.setAttribute(name, value)
    return () => {
      for (const name of [...Object.keys(attributes), 'aria-activedescendant']) current.removeAttribute(name)
    }
  }, [field, isShown, listId])

  useEffect(() => {
    if (!isShown) return
    field.current?.setAttribute('aria-activedescendant', `${listId}-${at}`)
    document.getElementById(`${listId}-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at, field, isShown, listId])

  useEffect(() => {
    if (isShown) announce(say.presets.count(found.length))
  }, [found.length, isShown])

  return (
    <>
      {isShown || isEmpty ? (
        <Above field={field}>
          {isEmpty ? (
            <p className="p-2 text-sm text-muted">{say.presets.none}</p>
          ) : (
            <div id={listId} role="listbox" aria-label={say.common.presets}>
              {found.map((preset, index) => (
                <div
                  key={`${preset.id ?? ''}/${preset.name}`}
                  id={`${listId}-${index}`}
                  role="option"
                  aria-selected={index === at}
                  className={
                    'flex min-h-9 items-center gap-2 rounded-lg px-2.5 text-sm pointer-coarse:min-h-11 ' +
                    (index === at ? 'bg-hover' : '')
                  }
                  onPointerMove={() => {
                    if (index !== at) setActive({ text, at: index })
                  }}
                  // The field keeps the focus.
                  onMouseDown={(event) => event.preventDefault()}
                  onClick={() => choose(preset)}
                >
                  <span className="shrink-0 font-medium">/{preset.name}</span>
                  <span className="min-w-0 flex-1 truncate text-muted">{summaryOf(preset)}</span>
                  {preset.isShared ? <span className="shrink-0 text-xs text-muted">{say.common.shared}</span> : null}
                </div>
              ))}
            </div>
          )}
        </Above>
      ) : null}
      {asked === undefined ? null : (
        <VariablesForm
          name={asked.name}
          variables={variablesOf(asked)}
          onUse={(values) => use(asked, values)}
          onClose={() => {
            setAsked(undefined)
            setDismissed(text)
          }}
        />
      )}
    </>
  )
}

/** A box above the form of the field, over everything else. */
function Above({
  field,
  children,
}: {
  readonly field: RefObject<HTMLElement | null>
  readonly children: ReactNode
}): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { current } = box
    const form = field.current?.closest('form')
    if (current === null || form === null || form === undefined) return undefined
    function place(): void {
      const { left, width, top } = form?.getBoundingClientRect() ?? new DOMRect()
      current?.style.setProperty('left', `${left}px`)
      current?.style.setProperty('width', `${width}px`)
      current?.style.setProperty('bottom', `${innerHeight - top + 4}px`)
      current?.style.setProperty('max-height', `${Math.max(80, Math.min(320, top - 8))}px`)
    }
    current.showPopover()
    place()
    const observer = new ResizeObserver(place)
    observer.observe(form)
    addEventListener('resize', place)
    return () => {
      observer.disconnect()
      removeEventListener('resize', place)
    }
  }, [field])
  return (
    <div
      ref={box}
      popover="manual"
      className="fixed inset-auto m-0 overflow-y-auto rounded-xl border border-line bg-raised p-1 text-ink shadow-lg"
    >
      {children}
    </div>
  )
}
