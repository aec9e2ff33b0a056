import { useState, type ReactNode } from 'react'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { lazily } from '../ui/lazily.tsx'
import { Menu, type MenuEntry } from '../ui/menu.tsx'
import { jsonFiles, useFiles } from '../ui/use-files.tsx'

const DeleteAllDialog = lazily(async () => (await import('./list-tools.ts')).DeleteAllDialog)
const ImportDialog = lazily(async () => (await import('./list-tools.ts')).ImportDialog)

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
  const [field, choose] = useFiles(say.history.fileOfConversations, ([file]) => setImported(file), jsonFiles)

  async function exportAll(): Promise<void> {
    await (await import('./list-tools.ts')).saveAll(history, count)
  }

  async function deleteAll(): Promise<void> {
    setAsking(false)
    await (await import('./list-tools.ts')).deleteAll(history)
  }

  const exporting: MenuEntry = {
    label: say.history.exportAll,
    icon: 'download',
    run: () => attempt(say.history.cannotExportAll, exportAll),
  }
  const deleting: MenuEntry = {
    label: say.history.deleteAll,
    icon: 'trash',
    isDanger: true,
    run: () => setAsking(true),
  }
  return (
    <>
      <Menu
        label={say.history.allConversations}
        items={[
          ...(count === 0 ? [] : [exporting]),
          { label: say.history.import, icon: 'upload', run: choose },
          ...(count === 0 ? [] : [deleting]),
        ]}
      />
      {field}
      {/* Keys pressed in a dialog must not reach the list. */}
      <div className="contents" onKeyDown={(event) => event.stopPropagation()}>
        {isAsking ? (
          <DeleteAllDialog
            count={count}
            onClose={() => setAsking(false)}
            onDelete={() => attempt(say.history.cannotDelete, deleteAll)}
          />
        ) : null}
        {imported === undefined ? null : (
          <ImportDialog file={imported} attempt={attempt} onClose={() => setImported(undefined)} />
        )}
      </div>
    </>
  )
}
