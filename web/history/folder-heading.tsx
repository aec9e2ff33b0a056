import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { folderKey, type FolderCommand } from './folders.ts'
import { oneLine } from './one-line.ts'

export interface FolderHeadingProps {
  readonly id: string
  readonly name: string
  /** Number of conversations. */
  readonly count: number
  readonly isOpen: boolean
  /** Key of the row that Tab reaches. */
  readonly tabStop: string | undefined
  /** CSS pixels. */
  readonly height: number
  readonly onCommand: (command: FolderCommand, folder: string) => void
}

/** The heading of a folder opens and closes it. */
export function FolderHeading({ id, name, count, isOpen, tabStop, height, onCommand }: FolderHeadingProps): ReactNode {
  const key = folderKey(name)
  const tabIndex = tabStop === key ? 0 : -1
  const shown = oneLine(name)
  return (
    <div
      data-row={key}
      className="group relative flex items-center rounded-lg text-sm hover:bg-hover"
      style={{ height }}
    >
      <h2 id={id} className="min-w-0 flex-1">
        <button
          type="button"
          data-stop
          aria-expanded={isOpen}
          aria-keyshortcuts="F2 Delete"
          tabIndex={tabIndex}
          title={shown}
          className={
            'flex w-full items-center gap-2 rounded-lg py-2 pl-3 text-left font-medium -outline-offset-2 ' +
            'group-focus-within:pr-10 group-hover:pr-10 pointer-coarse:py-3 pointer-coarse:pr-11'
          }
          onClick={() => onCommand('toggle', name)}
        >
          <Icon name={isOpen ? 'folderOpen' : 'folder'} className="size-4 shrink-0 text-muted" />
          <bdi className="truncate">{shown}</bdi>
          <span className="ml-auto pr-3 text-xs font-normal text-muted group-focus-within:pr-0 group-hover:pr-0">
            <span className="sr-only">{say.folders.count(count)}</span>
            <span aria-hidden="true">{formatCount(count)}</span>
          </span>
        </button>
      </h2>
      <div
        className={
          'absolute top-0 right-0 flex items-center opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 ' +
          'has-[[aria-expanded=true]]:opacity-100 pointer-coarse:opacity-100'
        }
      >
        <Menu
          label={say.folders.moreFor(shown)}
          tabIndex={tabIndex}
          items={[
            { label: say.history.rename, icon: 'edit', run: () => onCommand('rename', name) },
            { label: say.folders.delete, icon: 'trash', isDanger: true, run: () => onCommand('delete', name) },
          ]}
        />
      </div>
    </div>
  )
}
