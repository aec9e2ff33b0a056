import { useId, useState, type ReactNode } from 'react'
import type { KeyEntry, MadeKeyEntry } from '../../src/http/page/page-api.ts'
import { KeyDialog } from './key-dialog.tsx'
import type { KeysState } from './use-keys.ts'

/** Props of {@link RotateKey}. */
interface RotateKeyProps {
  readonly entry: KeyEntry
  readonly rotate: KeysState['rotate']
  readonly onMade: (made: MadeKeyEntry) => void
  readonly onClose: () => void
}

const overlaps: readonly (readonly [days: number, text: string])[] = [
  [0, 'ends at once'],
  [1, 'works for one more day'],
  [3, 'works for 3 more days'],
  [7, 'works for 7 more days'],
]

/** Asks for how long the old key works on, and replaces it. */
export function RotateKey({ entry, rotate, onMade, onClose }: RotateKeyProps): ReactNode {
  const id = useId()
  const [days, setDays] = useState(1)

  async function rotateNow(): Promise<void> {
    const made = await rotate(entry.id, days)
    onClose()
    onMade(made)
  }

  return (
    <KeyDialog title="Replace this key?" label="Replace the key" perform={rotateNow} onClose={onClose}>
      <p className="mb-3 [overflow-wrap:anywhere]">
        A new key may do the same as <bdi className="font-medium">{entry.name}</bdi> ({entry.hint}), and counts in the
        same limits.
      </p>
      <label htmlFor={id} className="text-sm font-medium">
        The old key
      </label>
      <select
        id={id}
        value={days}
        className="min-h-9 w-full rounded-lg border border-muted bg-page px-2 text-base pointer-coarse:min-h-11"
        onChange={({ target }) => setDays(Number(target.value))}
      >
        {overlaps.map(([count, text]) => (
          <option key={count} value={count}>
            {text}
          </option>
        ))}
      </select>
    </KeyDialog>
  )
}
