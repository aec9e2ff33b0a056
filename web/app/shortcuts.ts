import { useEffect, useEffectEvent } from 'react'
import { createStore } from '../store.ts'
import { isCovered } from '../ui/is-covered.ts'

/** One shortcut, as the list of them shows it. */
export interface Shortcut {
  /** As in `Ctrl+Shift+O`, `Escape` or `?`. `Ctrl` is ⌘ on a Mac as well. */
  readonly keys: string
  readonly label: string
  readonly run: () => void
}

/** Those that work now. */
export const shortcuts = createStore<readonly Shortcut[]>([])

/** Whether single keys without a modifier work (WCAG 2.1.4: they can be switched off). */
export const singleKeys = createStore(readSetting())

function readSetting(): boolean {
  try {
    return localStorage.getItem('svc-single-keys') !== 'off'
  } catch {
    return true
  }
}

/** Switches single keys on or off, and remembers it. */
export function setSingleKeys(isOn: boolean): void {
  singleKeys.set(isOn)
  try {
    localStorage.setItem('svc-single-keys', isOn ? 'on' : 'off')
  } catch {
    // Storage is forbidden: it holds until the page is closed.
  }
}

/** A shortcut as long as the component is there. A single key does not work while something is being typed. */
export function useShortcut(keys: string, label: string, run: () => void): void {
  const latest = useEffectEvent(run)
  useEffect(() => {
    const shortcut: Shortcut = { keys, label, run: () => latest() }
    shortcuts.update((known) => [...known, shortcut])
    return () => shortcuts.update((known) => known.filter((each) => each !== shortcut))
  }, [keys, label])
}

/**
 * Runs what a key stands for; the latest shortcut wins. Returns whether there was one: none while a dialog or a menu is
 * open.
 */
export function handleKey(event: KeyboardEvent): boolean {
  if (event.isComposing || event.defaultPrevented || isCovered()) return false
  const found = shortcuts.get().findLast(({ keys }) => matches(keys, event))
  if (found === undefined || (isSingle(found.keys) && (!singleKeys.get() || isTyping(event)))) return false
  event.preventDefault()
  found.run()
  return true
}

/** A key that by itself is text, such as `?`. */
export function isSingle(keys: string): boolean {
  return keys.length === 1
}

function matches(keys: string, event: KeyboardEvent): boolean {
  const parts = keys.split('+')
  const key = parts.at(-1) ?? ''
  const wantsControl = parts.includes('Ctrl'),
    wantsShift = parts.includes('Shift')
  if (event.altKey || (event.ctrlKey || event.metaKey) !== wantsControl) return false
  // Shift is part of how a sign like ? is typed.
  if (!isSingle(keys) && event.shiftKey !== wantsShift && /^[a-z]$|^.{2,}$/i.test(key)) return false
  return event.key.toLowerCase() === key.toLowerCase()
}

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
}
