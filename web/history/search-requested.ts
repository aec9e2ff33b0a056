import { createStore } from '../store.ts'

/** Whether the search field should get the focus as soon as the list is shown. */
export const searchRequested = createStore(false)
