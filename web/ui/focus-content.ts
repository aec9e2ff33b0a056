/**
 * Puts the focus where a view begins, for when what had it goes away: where one writes, or on the view itself. With
 * fingers always the latter, since a field would bring the keyboard up.
 */
export function focusContent(): void {
  const field = matchMedia('(pointer: coarse)').matches ? null : document.querySelector<HTMLElement>('#message')
  const target = field ?? document.querySelector<HTMLElement>('main')
  target?.focus()
}
