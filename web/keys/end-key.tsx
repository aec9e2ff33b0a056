import type { ReactNode } from 'react'
import type { KeyEntry } from '../../src/http/page/page-api.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
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
    announce(say.keys.endedNow(entry.name))
    onClose()
    // The button that had the focus is gone.
    focusContent()
  }

  return (
    <KeyDialog title={say.keys.endAsk} label={say.keys.endNow} isDangerous perform={endNow} onClose={onClose}>
      <p className="[overflow-wrap:anywhere]">
        {rich(say.keys.endHint, { name: <bdi className="font-medium">{entry.name}</bdi>, hint: entry.hint })}
      </p>
    </KeyDialog>
  )
}
