import { useId, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react'
import { IconButton } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

/** An item of a menu. */
export interface MenuEntry {
  readonly label: string
  readonly icon?: IconName
  readonly isDanger?: boolean
  /** A line above sets it apart. */
  readonly isApart?: boolean
  /** The key that does the same. */
  readonly keys?: string
  readonly run: () => void
}

/** One of several, of which one is chosen. */
export interface MenuChoice {
  readonly label: string
  readonly options: readonly { readonly label: string; readonly isChosen: boolean; readonly run: () => void }[]
}

export interface MenuProps {
  /** Label of the button. */
  readonly label: string
  readonly icon?: IconName
  /** Content of the button, instead of an icon. */
  readonly trigger?: ReactNode
  /** Shown above the items, as the menu's description: the role `menu` allows only items inside. */
  readonly header?: ReactNode
  /** Above the items, each in one line. The menu stays open when something is chosen. */
  readonly choices?: readonly MenuChoice[]
  readonly items: readonly MenuEntry[]
  /** Of the button. -1 if keys other than Tab reach it. */
  readonly tabIndex?: number
}

const gap = 4

/** A button that opens a menu (WAI-ARIA menu button): arrow keys, Home, End, first letters, Enter, Escape. */
export function Menu({
  label,
  icon = 'more',
  trigger,
  header,
  choices = [],
  items,
  tabIndex = 0,
}: MenuProps): ReactNode {
  const id = useId(),
    headerId = useId()
  const button = useRef<HTMLButtonElement>(null)
  const popover = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)

  const entries = (): readonly HTMLElement[] => [
    ...(popover.current?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? []),
  ]

  function open(at: 'first' | 'last'): void {
    popover.current?.showPopover()
    moveToButton()
    entries()
      .at(at === 'first' ? 0 : -1)
      ?.focus()
  }

  function close(): void {
    popover.current?.hidePopover()
    button.current?.focus()
  }

  function moveToButton(): void {
    const [from, to] = [button.current, popover.current]
    if (from === null || to === null) return
    const { top, bottom, left, right } = from.getBoundingClientRect()
    const { offsetWidth, offsetHeight } = to
    to.style.left = `${Math.max(gap, left + offsetWidth > innerWidth - gap ? right - offsetWidth : left)}px`
    const isBelow = bottom + gap + offsetHeight <= innerHeight
    to.style.top = `${isBelow ? bottom + gap : Math.max(gap, top - offsetHeight - gap)}px`
  }

  function onKeyDown(event: KeyboardEvent): void {
    const all = entries()
    const at = all.findIndex((entry) => entry === document.activeElement)
    const next = nextEntry(event.key, at, all)
    if (event.key === 'Tab' || event.key === 'Escape') close()
    if (event.key === 'Escape' || next !== undefined) event.preventDefault()
    event.stopPropagation()
    next?.focus()
  }

  const attributes = {
    ref: button,
    tabIndex,
    'aria-haspopup': 'menu',
    'aria-expanded': isOpen,
    'aria-controls': id,
    // Read from the popover, since the state lags behind. `popoverTarget` keeps a click here from closing the popover
    // first.
    popoverTarget: id,
    onClick(event: MouseEvent) {
      event.preventDefault()
      if (popover.current?.matches(':popover-open') === true) close()
      else open('first')
    },
    onKeyDown(event: KeyboardEvent) {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
      event.preventDefault()
      open(event.key === 'ArrowDown' ? 'first' : 'last')
    },
  } as const

  return (
    <>
      {trigger === undefined ? (
        <IconButton label={label} icon={icon} {...attributes} />
      ) : (
        <button
          type="button"
          aria-label={label}
          title={label}
          className={
            'inline-flex items-center rounded-lg p-1 hover:bg-hover pointer-coarse:min-h-11 ' +
            'pointer-coarse:min-w-11'
          }
          {...attributes}
        >
          {trigger}
        </button>
      )}
      <div
        ref={popover}
        id={id}
        popover="auto"
        onToggle={(event) => setOpen(event.newState === 'open')}
        className={
          'fixed inset-auto m-0 min-w-48 max-w-[calc(100vw-1rem)] rounded-xl border border-line bg-raised p-1 ' +
          'text-ink shadow-lg'
        }
      >
        {header === undefined ? null : <div id={headerId}>{header}</div>}
        <div
          role="menu"
          tabIndex={-1}
          aria-label={label}
          aria-describedby={header === undefined ? undefined : headerId}
          onKeyDown={onKeyDown}
        >
          {choices.map((choice) => (
            <Choice key={choice.label} {...choice} />
          ))}
          {items.map((item) => (
            <Item key={item.label} {...item} onRun={close} />
          ))}
        </div>
      </div>
    </>
  )
}

function Choice({ label, options }: MenuChoice): ReactNode {
  return (
    <div role="group" aria-label={label} className="flex items-center justify-between gap-4 py-1 ps-3 pe-1 text-sm">
      <span aria-hidden="true">{label}</span>
      <div role="presentation" className="flex rounded-lg border border-line p-0.5">
        {options.map(({ label: text, isChosen, run }) => (
          <button
            key={text}
            type="button"
            role="menuitemradio"
            aria-checked={isChosen}
            tabIndex={-1}
            className={
              'min-h-7 min-w-8 rounded-md border border-transparent px-2 text-xs font-medium hover:bg-hover ' +
              'aria-checked:bg-hover pointer-coarse:min-h-11 pointer-coarse:min-w-11'
            }
            onClick={run}
          >
            {text}
          </button>
        ))}
      </div>
    </div>
  )
}

function Item({
  label,
  icon,
  isDanger = false,
  isApart = false,
  keys,
  run,
  onRun,
}: MenuEntry & { readonly onRun: () => void }): ReactNode {
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={
        'flex min-h-9 w-full items-center gap-2 rounded-lg border border-transparent px-3 text-left text-sm ' +
        `hover:bg-hover focus:bg-hover pointer-coarse:min-h-11 ${isDanger ? 'text-bad' : ''} ${isApart ? apart : ''}`
      }
      onClick={() => {
        onRun()
        run()
      }}
    >
      {icon === undefined ? null : <Icon name={icon} className="size-4" />}
      {label}
      {keys === undefined ? null : (
        <span aria-hidden="true" className="ms-auto text-xs text-muted pointer-coarse:hidden">
          {keys}
        </span>
      )}
    </button>
  )
}

/** A line in the middle of the space above. */
const apart = 'relative mt-2 before:absolute before:-inset-x-1 before:-top-1 before:border-t before:border-line'

function nextEntry(key: string, at: number, all: readonly HTMLElement[]): HTMLElement | undefined {
  switch (key) {
    case 'ArrowDown':
    case 'ArrowRight':
      return all[(at + 1) % all.length]
    case 'ArrowUp':
    case 'ArrowLeft':
      return all.at(at <= 0 ? -1 : at - 1)
    case 'Home':
      return all[0]
    case 'End':
      return all.at(-1)
    default: {
      if (key.length !== 1 || key === ' ') return undefined
      const after = [...all.slice(at + 1), ...all.slice(0, at + 1)]
      return after.find((entry) => (entry.textContent ?? '').trim().toLowerCase().startsWith(key.toLowerCase()))
    }
  }
}
