import { useEffect, useState, type ReactNode } from 'react'
import { navigate } from '../app/route.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { deleted, clearDeleted, restoreDeleted } from './deleted.ts'

const shownMs = 12_000

/** Offers undo for some seconds after a deletion. Stays while it is hovered or focused. */
export function UndoBar(): ReactNode {
  const { history } = useServices()
  const last = useStore(deleted)
  const [isHeld, setHeld] = useState(false)
  const isMine = last?.history === history
  useEffect(() => {
    if (last === undefined || isHeld) return undefined
    const timer = setTimeout(clearDeleted, shownMs)
    return () => clearTimeout(timer)
  }, [last, isHeld])
  if (last === undefined || !isMine) return null

  async function undo(): Promise<void> {
    setHeld(false)
    try {
      const [first, ...others] = await restoreDeleted()
      announce(others.length === 0 ? say.history.putBack : say.history.putBackCount(others.length + 1))
      if (first !== undefined && others.length === 0) navigate({ view: 'chat', id: first.id })
    } catch (error) {
      announce(say.history.putBackFailed(messageOf(error)))
    }
  }

  const {
    conversations: [first, ...others],
  } = last
  return (
    <aside
      aria-label={say.history.deleted}
      className={
        'fixed inset-x-2 bottom-28 z-20 flex items-center gap-2 rounded-xl border border-line bg-raised py-1 pr-1 ' +
        'pl-3 text-sm shadow-lg sm:right-auto sm:w-[17rem] lg:bottom-2'
      }
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span className="min-w-0 flex-1 truncate">
        {others.length === 0
          ? rich(say.history.deletedTitle, { title: <bdi>{first?.title}</bdi> })
          : say.history.deletedCount(others.length + 1)}
      </span>
      <Button onClick={() => void undo()}>{say.common.undo}</Button>
      <IconButton label={say.common.dismiss} icon="close" onClick={clearDeleted} />
    </aside>
  )
}
