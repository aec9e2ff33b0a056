import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { Draft, HistoryStore } from '../history/conversation.ts'
import { draftBackup } from './draft-backup.ts'

/** A draft, saved so that it survives a reload. */
export interface DraftState {
  readonly draft: Draft
  /** The latest draft, even before React renders it. */
  readonly current: () => Draft
  readonly change: (change: (draft: Draft) => Draft) => void
  /** Empties and deletes the draft. */
  readonly clear: () => void
}

const saveAfterMs = 400
const empty: Draft = { text: '', images: [] }

/**
 * Reads and saves the draft of a conversation.
 *
 * @param id of the conversation; `new` for a new one
 * @param owner user id; empty without sign-in
 */
export function useDraft(history: HistoryStore, id: string, owner: string): DraftState {
  const [draft, setDraft] = useState(empty)
  const latest = useRef(empty)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  function show(next: Draft): void {
    latest.current = next
    setDraft(next)
  }

  const save = useEffectEvent((at: string) => {
    if (timer.current === undefined) return
    clearTimeout(timer.current)
    timer.current = undefined
    // The list of conversations reports failing storage.
    void history.putDraft(at, isEmpty(latest.current) ? undefined : latest.current).catch(() => undefined)
  })

  const restore = useEffectEvent((saved: Draft, isBackup: boolean) => {
    if (!isEmpty(latest.current)) return
    show(saved)
    if (isBackup) timer.current = setTimeout(() => save(id), saveAfterMs)
  })

  useEffect(() => {
    let isMounted = true
    const backup = draftBackup(owner, id)
    const backedUp = backup.take()
    void history
      .draft(id)
      .catch(() => undefined)
      .then((saved = empty) => {
        if (isMounted) restore({ ...saved, text: backedUp ?? saved.text }, backedUp !== undefined)
      })
    const onHide = (): void => {
      if (timer.current !== undefined) backup.put(latest.current.text)
      save(id)
    }
    addEventListener('pagehide', onHide)
    return () => {
      isMounted = false
      removeEventListener('pagehide', onHide)
      save(id)
    }
  }, [history, id, owner])

  return {
    draft,
    current: () => latest.current,
    change(change) {
      show(change(latest.current))
      clearTimeout(timer.current)
      timer.current = setTimeout(() => save(id), saveAfterMs)
    },
    clear() {
      clearTimeout(timer.current)
      timer.current = undefined
      show(empty)
      void history.putDraft(id, undefined).catch(() => undefined)
    },
  }
}

function isEmpty({ text, images, files = [] }: Draft): boolean {
  return text === '' && images.length === 0 && files.length === 0
}
