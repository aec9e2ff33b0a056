/** The comparison. It exports the chat page too, so that the bundler does not split that. */
export * from '../chat/chat-page.ts'
export { CompareView } from './compare-view.tsx'
