import { useEffect, useEffectEvent } from 'react'
import { createStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { isComposing } from '../ui/is-composing.ts'
import { isOverlayOpen } from '../ui/is-overlay-open.ts'

/** A keyboard shortcut. */
export interface Shortcut {
  /** Such as `Ctrl+Shift+O`, `Escape` or `?`. `Ctrl` also means ⌘ on a Mac. */
  readonly keys: string
  readonly label: string
  readonly run: () => void
}

/** The registered shortcuts. */
export const shortcuts = createStore<readonly Shortcut[]>([])

/** Whether shortcuts without a modifier are on. WCAG 2.1.4 requires a way to switch them off. */
export const singleKeys = createStore(readSetting())

function readSetting(): boolean {
  try {
    return localStorage.getItem('svc-single-keys') !== 'off'
  } catch {
    return true
  }
}

/** Switches shortcuts without a modifier on or off, and remembers it in this browser. */
export function setSingleKeys(isOn: boolean): void {
  singleKeys.set(isOn)
  try {
    localStorage.setItem('svc-single-keys', isOn ? 'on' : 'off')
  } catch {
    // Storage is forbidden: the setting lasts until the page is closed.
  }
}

/** Registers a shortcut while the component is mounted. A single key does nothing while the person types. */
export function useShortcut(keys: string, label: string, run: () => void): void {
  const latest = useEffectEvent(run)
  useEffect(() => {
    const shortcut: Shortcut = { keys, label, run: () => latest() }
    shortcuts.update((known) => [...known, shortcut])
    return () => shortcuts.update((known) => known.filter((each) => each !== shortcut))
  }, [keys, label])
}

/**
 * Runs the shortcut of a key; the last one registered wins. Returns whether one ran. None runs while a dialog or a menu
 * is open.
 */
export function handleKey(event: KeyboardEvent): boolean {
  if (isComposing(event) || event.defaultPrevented || isOverlayOpen()) return false
  const found = shortcuts.get().findLast(({ keys }) => matches(keys, event))
  if (found === undefined || (isSingle(found.keys) && (!singleKeys.get() || isTyping(event)))) return false
  event.preventDefault()
  found.run()
  return true
}

/** Whether the key by itself types a character, such as `?`. */
export function isSingle(keys: string): boolean {
  return keys.length === 1
}

function matches(keys: string, event: KeyboardEvent): boolean {
  const parts = keys.split('+')
  const key = parts.at(-1) ?? ''
  const wantsControl = parts.includes('Ctrl'),
    wantsShift = parts.includes('Shift')
  if (event.altKey || (event.ctrlKey || event.metaKey) !== wantsControl) return false
  // On some keyboards, a character such as ? needs Shift.
  if (!isSingle(keys) && event.shiftKey !== wantsShift && /^[a-z]$|^.{2,}$/i.test(key)) return false
  return event.key.toLowerCase() === key.toLowerCase()
}

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
}

const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? '')

/** The keys of a shortcut as they are written on a keyboard. */
export function namesOfKeys(keys: string): readonly string[] {
  return keys.split('+').map((key) => {
    if (key === 'Ctrl') return isMac ? '⌘' : say.app.control
    return { ArrowUp: '↑', Escape: say.app.escape, Shift: say.chat.shift }[key] ?? key
  })
}

/** The same, short: `Ctrl ⇧ O`. */
export function shortKeys(keys: string): string {
  return namesOfKeys(keys.replace('Shift', '⇧')).join(' ')
}
