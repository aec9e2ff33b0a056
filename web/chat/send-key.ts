import { createStore } from '../store.ts'
import { isComposing } from '../ui/is-composing.ts'

/**
 * Whether a key sends the message: Enter without Shift, outside of an input method's composition. Where Enter begins a
 * new line, with Ctrl or ⌘ only.
 */
export function isSendKey(
  event: Pick<KeyboardEvent, 'key' | 'keyCode' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'isComposing'>,
): boolean {
  if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return false
  return event.ctrlKey || event.metaKey || enterSends.get()
}

const key = 'svc-enter-sends'

/**
 * Whether Enter sends. On screens that are touched it begins a new line, unless the person has chosen: their keyboards
 * have no Shift+Enter.
 */
export const enterSends = createStore(chosen() ?? !isTouched())

function chosen(): boolean | undefined {
  try {
    const stored = localStorage.getItem(key)
    return stored === null ? undefined : stored === 'on'
  } catch {
    return undefined
  }
}

function isTouched(): boolean {
  return typeof matchMedia === 'function' && matchMedia('(pointer: coarse)').matches
}

/** Remembers the person's choice in this browser. */
export function setEnterSends(isOn: boolean): void {
  enterSends.set(isOn)
  try {
    localStorage.setItem(key, isOn ? 'on' : 'off')
  } catch {
    // Storage is forbidden: the choice lasts until the page is closed.
  }
}
