import { createStore } from '../store.ts'

/** Whether somebody wants to search: the list, which may have to be shown first, puts the focus into its field. */
export const searchWanted = createStore(false)
