import { useId, useRef, useState, type FormEvent, type ReactNode, type RefObject } from 'react'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import type { ConversationHead, HistoryStore } from './conversation.ts'
import { folderNames } from './folder-names.ts'
import { oneLine } from './one-line.ts'
import { folderLengthMax } from './parse-conversation.ts'

/** What is asked about folders. */
export type FolderQuestion =
  | { readonly kind: 'move'; readonly head: ConversationHead }
  | { readonly kind: 'rename' | 'delete'; readonly folder: string }

export interface FolderDialogProps {
  readonly question: FolderQuestion
  readonly heads: readonly ConversationHead[]
  readonly onClose: () => void
  /** @param folder absent: none */
  readonly onMove: (ids: readonly string[], folder: string | undefined) => void
}

/** Asks for a conversation's folder, for a folder's new name, or whether to delete it. */
export function FolderDialog({ question, heads, onClose, onMove }: FolderDialogProps): ReactNode {
  const field = useRef<HTMLInputElement>(null)
  function end(ids: readonly string[], folder: string | undefined): void {
    onClose()
    onMove(ids, folder)
  }
  if (question.kind === 'move')
    return (
      <MoveDialog
        head={question.head}
        folders={folderNames(heads)}
        onClose={onClose}
        onChoose={(folder) => end([question.head.id], folder)}
      />
    )
  const { folder } = question
  const ids = heads.filter((head) => head.folder === folder).map(({ id }) => id)
  return question.kind === 'rename' ? (
    <Dialog title={say.folders.renameTitle} isOpen onClose={onClose} first={field}>
      <NameForm field={field} before={folder} button={say.history.rename} onName={(name) => end(ids, name)} />
    </Dialog>
  ) : (
    <Dialog
      title={say.folders.deleteAsk(oneLine(folder))}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{say.common.cancel}</Button>
          <Button variant="danger" onClick={() => end(ids, undefined)}>
            {say.folders.delete}
          </Button>
        </>
      }
    >
      <p>{say.folders.deleteHint(ids.length)}</p>
    </Dialog>
  )
}

interface MoveDialogProps {
  readonly head: ConversationHead
  readonly folders: readonly string[]
  readonly onClose: () => void
  readonly onChoose: (folder: string | undefined) => void
}

function MoveDialog({ head, folders, onClose, onChoose }: MoveDialogProps): ReactNode {
  const field = useRef<HTMLInputElement>(null),
    firstFolder = useRef<HTMLButtonElement>(null)
  return (
    <Dialog
      title={say.folders.moveTitle(oneLine(head.title))}
      isOpen
      onClose={onClose}
      first={folders.length === 0 ? field : firstFolder}
    >
      {folders.length === 0 ? null : (
        <ul aria-label={say.folders.all} className="m-0 mb-4 flex max-h-64 flex-col gap-1 overflow-y-auto p-1">
          {folders.map((folder, index) => (
            <li key={folder} className="list-none">
              <Button
                {...(index === 0 ? { ref: firstFolder } : {})}
                className="w-full justify-start!"
                icon={folder === head.folder ? 'check' : 'folder'}
                aria-current={folder === head.folder ? 'true' : undefined}
                onClick={() => onChoose(folder)}
              >
                <bdi className="truncate">{oneLine(folder)}</bdi>
              </Button>
            </li>
          ))}
          {head.folder === undefined ? null : (
            <li className="list-none">
              <Button className="w-full justify-start!" icon="close" onClick={() => onChoose(undefined)}>
                {say.folders.takeOut}
              </Button>
            </li>
          )}
        </ul>
      )}
      <NameForm field={field} before="" button={say.folders.make} onName={onChoose} />
    </Dialog>
  )
}

interface NameFormProps {
  readonly field: RefObject<HTMLInputElement | null>
  readonly before: string
  readonly button: string
  readonly onName: (name: string) => void
}

/** A field for a name. An empty one is not taken. */
function NameForm({ field, before, button, onName }: NameFormProps): ReactNode {
  const id = useId()
  const [name, setName] = useState(before)
  function submit(event: FormEvent): void {
    event.preventDefault()
    const clean = oneLine(name).trim()
    if (clean === '') field.current?.focus()
    else onName(clean)
  }
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-2">
      <div className="min-w-48 flex-1">
        <label htmlFor={id} className="mb-1 block text-sm font-medium">
          {before === '' ? say.folders.newFolder : say.common.name}
        </label>
        <input
          ref={field}
          id={id}
          value={name}
          maxLength={folderLengthMax}
          autoComplete="off"
          className={
            'h-9 w-full rounded-lg border border-muted bg-raised px-3 text-sm pointer-coarse:h-11 ' +
            'pointer-coarse:text-base'
          }
          onChange={({ target }) => setName(target.value)}
        />
      </div>
      <Button type="submit" variant="primary">
        {button}
      </Button>
    </form>
  )
}

/** Moves conversations one by one, so that a failure leaves the others where they are. */
export async function moveToFolder(
  history: HistoryStore,
  ids: readonly string[],
  folder: string | undefined,
): Promise<void> {
  for (const id of ids) await history.amend(id, { folder })
  announce(folder === undefined ? say.folders.movedOut(ids.length) : say.folders.moved(ids.length, oneLine(folder)))
}
