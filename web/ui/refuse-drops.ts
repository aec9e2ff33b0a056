/**
 * Refuses files dropped outside of a drop target: the browser would leave the page and open them. Drop targets call
 * `preventDefault` before the event reaches the window.
 */
export function refuseDrops(page: Pick<Window, 'addEventListener'>): void {
  for (const type of ['dragover', 'drop'] as const) {
    page.addEventListener(type, (event) => {
      if (event.defaultPrevented || event.dataTransfer?.types.includes('Files') !== true) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'none'
    })
  }
}
