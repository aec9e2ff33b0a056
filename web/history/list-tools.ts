/** Dialogs and files of the list, loaded as one chunk. */
export { deleteAll, DeleteAllDialog } from './delete-all-dialog.tsx'
export { FaultNotice, ReadFailed } from './history-faults.tsx'
export { ImportDialog } from './import-dialog.tsx'
export { saveAll, saveJson, saveMarkdown } from './save-conversations.ts'
