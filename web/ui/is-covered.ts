/** Whether a dialog or a menu is open above the page: it has the keys, and the focus. */
export function isCovered(): boolean {
  return document.querySelector('dialog[open], :popover-open') !== null
}
