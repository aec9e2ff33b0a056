import { useEffect } from 'react'
import { foundMessage } from '../history/found-message.ts'
import { useStore } from '../store.ts'
import type { ChatController } from './chat-controller.ts'

/** Shows the version with the message that a search found. @param isReady whether the conversation is read */
export function useFoundMessage(chat: ChatController, isReady: boolean): void {
  const found = useStore(foundMessage)
  useEffect(() => {
    if (!isReady || found?.conversationId !== chat.id) return
    foundMessage.set(undefined)
    chat.revealMessage(found.messageId)
  }, [chat, isReady, found])
}
