/** Whether a dialog or a menu is open. It then owns keys and focus. */
export function isOverlayOpen(): boolean {
  return document.querySelector('dialog[open], :popover-open') !== null
}
