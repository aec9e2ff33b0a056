/** The chat page, loaded as one chunk. */
export { HistoryList } from '../history/history-list.tsx'
export { UndoBar } from '../history/undo-bar.tsx'
export { ChatView } from './chat-view.tsx'
