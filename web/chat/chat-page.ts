/** What stands on the page of the chat, loaded in one go. */
export { HistoryList } from '../history/history-list.tsx'
export { UndoBar } from '../history/undo-bar.tsx'
export { ChatView } from './chat-view.tsx'
