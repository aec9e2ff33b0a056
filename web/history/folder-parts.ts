/** Parts of the list that only folders need, loaded as one chunk. */
export { FolderHeading } from './folder-heading.tsx'
export { followDrags } from './follow-drags.ts'
