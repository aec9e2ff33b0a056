import { useState, type ReactNode } from 'react'
import type { FileAttachment } from '../history/conversation.ts'
import { say } from '../texts/say.ts'
import { Dialog } from '../ui/dialog.tsx'
import { formatShortCount } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { tokensOf } from './file-blocks.ts'

export interface FileStripProps {
  readonly files: readonly FileAttachment[]
  /** Absent if files cannot be removed. */
  readonly onRemove?: (id: string) => void
}

/** More would make the dialog slow. */
const shownCharacters = 200_000

/** A row of files with their size in tokens. Each can be read, and removed if `onRemove` is given. */
export function FileStrip({ files, onRemove }: FileStripProps): ReactNode {
  const [shown, setShown] = useState<string>()
  const open = files.find(({ id }) => id === shown)
  if (files.length === 0) return null
  return (
    <>
      <ul aria-label={say.common.files} className="flex max-w-full min-w-0 flex-wrap gap-2">
        {files.map(({ id, name, text }) => (
          <li key={id} className="flex max-w-full min-w-0 items-center rounded-lg border border-line bg-panel text-sm">
            <button
              type="button"
              title={name}
              onClick={() => setShown(id)}
              className="flex min-h-9 min-w-0 items-center gap-2 rounded-lg px-2 hover:bg-hover pointer-coarse:min-h-11"
            >
              <Icon name="file" className="size-4 shrink-0" />
              <span className="sr-only">{say.common.show}</span>
              <bdi className="max-w-60 min-w-0 truncate">{name}</bdi>
              <span className="shrink-0 text-xs text-muted">{say.files.tokens(formatShortCount(tokensOf(text)))}</span>
            </button>
            {onRemove === undefined ? null : (
              <button
                type="button"
                aria-label={say.common.remove(name)}
                title={say.common.remove(name)}
                onClick={() => onRemove(id)}
                className={
                  'inline-flex size-9 shrink-0 items-center justify-center rounded-lg text-muted hover:bg-hover ' +
                  'hover:text-ink pointer-coarse:size-11'
                }
              >
                <Icon name="close" className="size-4" />
              </button>
            )}
          </li>
        ))}
      </ul>
      <Dialog
        title={open?.name ?? say.files.file}
        isOpen={open !== undefined}
        onClose={() => setShown(undefined)}
        size="lg"
      >
        {open === undefined ? null : (
          <>
            <pre dir="auto" className="font-mono text-sm whitespace-pre-wrap wrap-anywhere">
              {open.text.slice(0, shownCharacters)}
            </pre>
            {open.text.length > shownCharacters ? <p className="mt-2 text-sm text-muted">{say.files.rest}</p> : null}
          </>
        )}
      </Dialog>
    </>
  )
}
