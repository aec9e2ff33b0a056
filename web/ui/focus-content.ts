/**
 * Focuses the message field, or the view if no field is shown. Used when the focused element disappears. On touch
 * screens always the view, since the field would open the on-screen keyboard.
 */
export function focusContent(): void {
  const field = matchMedia('(pointer: coarse)').matches ? null : document.querySelector<HTMLElement>('#message')
  const target = field ?? document.querySelector<HTMLElement>('main')
  target?.focus()
}
