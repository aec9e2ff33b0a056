import { useRef, type RefObject } from 'react'
import type { Draft, HistoryStore } from '../history/conversation.ts'
import { useServices } from '../services.ts'
import { useAttachments, type Attachments } from './use-attachments.ts'
import { useDraft, type DraftState } from './use-draft.ts'
import { useDrop } from './use-drop.ts'

/** The field for the next message, with its draft and the files attached to it. */
export interface MessageField {
  readonly drafts: DraftState
  readonly attachments: Attachments
  /** Whether files are dragged over the window. */
  readonly isDropOver: boolean
  readonly field: RefObject<HTMLTextAreaElement | null>
  /** Empties the field. @returns the draft that was in it */
  readonly take: () => Draft
}

/** @param id of the draft. @param isReady whether files may be dropped */
export function useMessageField(history: HistoryStore, id: string, isReady: boolean): MessageField {
  const drafts = useDraft(history, id, useServices().boot.user?.id ?? '')
  const attachments = useAttachments(drafts)
  const isDropOver = useDrop(isReady, attachments.add)
  const field = useRef<HTMLTextAreaElement>(null)
  function take(): Draft {
    const draft = drafts.current()
    drafts.clear()
    // What was refused concerned this message.
    attachments.dismiss()
    return draft
  }
  return { drafts, attachments, isDropOver, field, take }
}
