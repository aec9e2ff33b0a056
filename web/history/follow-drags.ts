import { rowOf } from './use-row-keys.ts'

/**
 * Lets rows be dragged into groups with `data-folder`, which is empty outside of folders. The group below the pointer
 * has `data-over`. Returns a function that ends it.
 */
export function followDrags(list: HTMLElement, onMove: (id: string, folder: string) => void): () => void {
  const ended = new AbortController()
  let dragged: string | undefined, over: HTMLElement | undefined

  function mark(next: HTMLElement | undefined): void {
    delete over?.dataset['over']
    over = next
    if (next !== undefined) next.dataset['over'] = ''
  }

  function on(
    type: 'dragstart' | 'dragover' | 'dragleave' | 'drop' | 'dragend',
    run: (event: DragEvent) => void,
  ): void {
    list.addEventListener(type, run, { signal: ended.signal })
  }

  on('dragstart', ({ target }) => {
    dragged = target instanceof Element ? rowOf(target) : undefined
  })
  on('dragover', (event) => {
    if (dragged === undefined || !(event.target instanceof Element)) return
    mark(event.target.closest<HTMLElement>('[data-folder]') ?? undefined)
    if (over !== undefined) event.preventDefault()
  })
  on('dragleave', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node) || !list.contains(relatedTarget)) mark(undefined)
  })
  on('drop', (event) => {
    const folder = over?.dataset['folder']
    mark(undefined)
    if (dragged === undefined || folder === undefined) return
    event.preventDefault()
    onMove(dragged, folder)
  })
  on('dragend', () => {
    mark(undefined)
    dragged = undefined
  })
  return () => ended.abort()
}
