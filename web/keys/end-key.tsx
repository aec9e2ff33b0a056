import type { ReactNode } from 'react'
import type { KeyEntry } from '../../src/http/page/page-api.ts'
import { announce } from '../ui/announce.ts'
import { focusContent } from '../ui/focus-content.ts'
import { KeyDialog } from './key-dialog.tsx'
import type { KeysState } from './use-keys.ts'

/** Props of {@link EndKey}. */
interface EndKeyProps {
  readonly entry: KeyEntry
  readonly end: KeysState['end']
  readonly onClose: () => void
}

/** Asks whether a key ends. */
export function EndKey({ entry, end, onClose }: EndKeyProps): ReactNode {
  async function endNow(): Promise<void> {
    await end(entry.id)
    announce(`The key ${entry.name} has ended`)
    onClose()
    // The button that had the focus is gone.
    focusContent()
  }

  return (
    <KeyDialog title="End this key?" label="End the key" isDangerous perform={endNow} onClose={onClose}>
      <p className="[overflow-wrap:anywhere]">
        Programs that use <bdi className="font-medium">{entry.name}</bdi> ({entry.hint}) are refused from now on. It
        cannot be taken back.
      </p>
    </KeyDialog>
  )
}
