import { useRef, useState, type ReactNode } from 'react'
import { navigate } from '../app/route.ts'
import { useServices } from '../services.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { lazily } from '../ui/lazily.tsx'
import { Menu } from '../ui/menu.tsx'
import { forgetDeleted } from './deleted.ts'
import type { ImportState } from './import-dialog.tsx'
import { saveFile } from './save-file.ts'

const ImportDialog = lazily(async () => (await import('./import-dialog.tsx')).ImportDialog)

/** What {@link ListMenu} is given. */
export interface ListMenuProps {
  /** How many conversations there are. */
  readonly count: number
  /** Runs what may fail, and shows why. @param what it does, as in `Cannot export` */
  readonly attempt: (what: string, work: () => Promise<void>) => void
}

/** What can be done with all conversations. */
export function ListMenu({ count, attempt }: ListMenuProps): ReactNode {
  const { history } = useServices()
  const [isAsking, setAsking] = useState(false)
  const [importing, setImporting] = useState<ImportState>()
  const field = useRef<HTMLInputElement>(null)

  async function exportAll(): Promise<void> {
    const [{ exportJson }, all] = await Promise.all([import('./transfer.ts'), history.all()])
    saveFile(await exportJson(all, new Date()), `svc-conversations-${new Date().toISOString().slice(0, 10)}.json`)
    if (all.length < count) throw new Error(`${count - all.length} of ${count} are damaged and not in the file`)
    announce(`${all.length} conversations exported`)
  }

  async function importFile(file: File): Promise<void> {
    setImporting({ kind: 'reading', name: file.name, done: 0, all: 0 })
    try {
      const { importJson } = await import('./transfer.ts')
      const report = await importJson(file, history, (done, all) => {
        // Who has closed it does not want to see how far it is.
        if (done % 50 === 0) setImporting((shown) => shown && { kind: 'reading', name: file.name, done, all })
      })
      setImporting({ kind: 'done', name: file.name, report })
    } catch (error) {
      setImporting({ kind: 'refused', name: file.name, why: error instanceof Error ? error.message : String(error) })
    }
  }

  async function deleteAll(): Promise<void> {
    setAsking(false)
    forgetDeleted()
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
          // So that the same file can be chosen again.
          target.value = ''
          if (file !== undefined) void importFile(file)
        }}
      />
      {/* Keys pressed in a dialog are not for what the list stands in. */}
      <div className="contents" onKeyDown={(event) => event.stopPropagation()}>
        <DeleteAllDialog
          isOpen={isAsking}
          count={count}
          onClose={() => setAsking(false)}
          onDelete={() => attempt('Cannot delete', deleteAll)}
        />
        {importing === undefined ? null : <ImportDialog state={importing} onClose={() => setImporting(undefined)} />}
      </div>
    </>
  )
}

interface DeleteAllDialogProps {
  readonly isOpen: boolean
  readonly count: number
  readonly onClose: () => void
  readonly onDelete: () => void
}

function DeleteAllDialog({ isOpen, count, onClose, onDelete }: DeleteAllDialogProps): ReactNode {
  const those = count === 1 ? '1 conversation' : `${count} conversations`
  return (
    <Dialog
      title="Delete all conversations?"
      isOpen={isOpen}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="danger" onClick={onDelete}>
            Delete {those}
          </Button>
        </>
      }
    >
      <p>
        {those} will be deleted from this browser, with drafts and pictures. This cannot be undone. They are kept
        nowhere else, unless you export them first.
      </p>
    </Dialog>
  )
}
