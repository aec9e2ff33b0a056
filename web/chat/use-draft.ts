import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { Draft, HistoryStore } from '../history/conversation.ts'
import { rescuedDraft } from './rescued-draft.ts'

/** What is being written, kept so that it survives a reload. */
export interface DraftState {
  readonly draft: Draft
  /** The draft, also between two drawings. */
  readonly current: () => Draft
  readonly change: (change: (draft: Draft) => Draft) => void
  /** Empties it, and forgets it at once. */
  readonly clear: () => void
}

const keepAfterMs = 400
const empty: Draft = { text: '', images: [] }

/**
 * The draft of a conversation. @param id of the conversation; `new` for one that does not exist yet @param owner who
 * writes; empty when nobody signs in
 */
export function useDraft(history: HistoryStore, id: string, owner: string): DraftState {
  const [draft, setDraft] = useState(empty)
  const latest = useRef(empty)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  function show(next: Draft): void {
    latest.current = next
    setDraft(next)
  }

  const keep = useEffectEvent((at: string) => {
    if (timer.current === undefined) return
    clearTimeout(timer.current)
    timer.current = undefined
    // Storage that fails is told of where conversations are listed.
    void history.putDraft(at, isEmpty(latest.current) ? undefined : latest.current).catch(() => undefined)
  })

  const restore = useEffectEvent((kept: Draft, isRescued: boolean) => {
    if (!isEmpty(latest.current)) return
    show(kept)
    if (isRescued) timer.current = setTimeout(() => keep(id), keepAfterMs)
  })

  useEffect(() => {
    let isThere = true
    const lastWords = rescuedDraft(owner, id),
      rescued = lastWords.take()
    void history
      .draft(id)
      .catch(() => undefined)
      .then((kept = empty) => {
        if (isThere) restore({ ...kept, text: rescued ?? kept.text }, rescued !== undefined)
      })
    const onHide = (): void => {
      if (timer.current !== undefined) lastWords.put(latest.current.text)
      keep(id)
    }
    addEventListener('pagehide', onHide)
    return () => {
      isThere = false
      removeEventListener('pagehide', onHide)
      keep(id)
    }
  }, [history, id, owner])

  return {
    draft,
    current: () => latest.current,
    change(change) {
      show(change(latest.current))
      clearTimeout(timer.current)
      timer.current = setTimeout(() => keep(id), keepAfterMs)
    },
    clear() {
      clearTimeout(timer.current)
      timer.current = undefined
      show(empty)
      void history.putDraft(id, undefined).catch(() => undefined)
    },
  }
}

function isEmpty({ text, images }: Draft): boolean {
  return text === '' && images.length === 0
}
