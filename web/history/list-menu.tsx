import { useRef, useState, type ReactNode } from 'react'
import { navigate } from '../app/route.ts'
import { useServices } from '../services.ts'
import { announce } from '../ui/announce.ts'
import { lazily } from '../ui/lazily.tsx'
import { Menu } from '../ui/menu.tsx'
import { clearDeleted } from './deleted.ts'

const DeleteAllDialog = lazily(async () => (await import('./list-tools.ts')).DeleteAllDialog)
const ImportDialog = lazily(async () => (await import('./list-tools.ts')).ImportDialog)

/** Props of {@link ListMenu}. */
export interface ListMenuProps {
  /** Number of conversations. */
  readonly count: number
  /** Runs an action that may fail, and shows why it did. @param what names the failure, as in `Cannot export` */
  readonly attempt: (what: string, work: () => Promise<void>) => void
}

/** Menu for all conversations. */
export function ListMenu({ count, attempt }: ListMenuProps): ReactNode {
  const { history } = useServices()
  const [isAsking, setAsking] = useState(false)
  const [imported, setImported] = useState<File>()
  const field = useRef<HTMLInputElement>(null)

  async function exportAll(): Promise<void> {
    const [{ saveAll }, all] = await Promise.all([import('./list-tools.ts'), history.all()])
    await saveAll(all)
    if (all.length < count) throw new Error(`${count - all.length} of ${count} are damaged and not in the file`)
    announce(`${all.length} conversations exported`)
  }

  async function deleteAll(): Promise<void> {
    setAsking(false)
    clearDeleted()
    await history.clear()
    announce('All conversations deleted')
    navigate({ view: 'chat' })
  }

  return (
    <>
      <Menu
        label="All conversations"
        items={[
          ...(count === 0
            ? []
            : [
                {
                  label: 'Export all',
                  icon: 'download',
                  run: () => attempt('Cannot export everything', exportAll),
                } as const,
              ]),
          { label: 'Import…', icon: 'upload', run: () => field.current?.click() },
          ...(count === 0
            ? []
            : [{ label: 'Delete all…', icon: 'trash', isDanger: true, run: () => setAsking(true) } as const]),
        ]}
      />
      <input
        ref={field}
        type="file"
        accept=".json,application/json"
        hidden
        aria-label="File of conversations"
        onChange={({ target }) => {
          const [file] = target.files ?? []
          // Allows choosing the same file again.
          target.value = ''
          setImported(file)
        }}
      />
      {/* Keys pressed in a dialog must not reach the list. */}
      <div className="contents" onKeyDown={(event) => event.stopPropagation()}>
        {isAsking ? (
          <DeleteAllDialog
            count={count}
            onClose={() => setAsking(false)}
            onDelete={() => attempt('Cannot delete', deleteAll)}
          />
        ) : null}
        {imported === undefined ? null : (
          <ImportDialog file={imported} attempt={attempt} onClose={() => setImported(undefined)} />
        )}
      </div>
    </>
  )
}
