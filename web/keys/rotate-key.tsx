import { useId, useState, type ReactNode } from 'react'
import type { KeyEntry, MadeKeyEntry } from '../../src/http/page/page-api.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { KeyDialog } from './key-dialog.tsx'
import type { KeysState } from './use-keys.ts'

interface RotateKeyProps {
  readonly entry: KeyEntry
  readonly rotate: KeysState['rotate']
  readonly onMade: (made: MadeKeyEntry) => void
  readonly onClose: () => void
}

/** Days for which the old key works on. */
const overlaps = [0, 1, 3, 7] as const

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
    <KeyDialog title={say.keys.replaceAsk} label={say.keys.replaceNow} perform={rotateNow} onClose={onClose}>
      <p className="mb-3 [overflow-wrap:anywhere]">
        {rich(say.keys.replaceHint, { name: <bdi className="font-medium">{entry.name}</bdi>, hint: entry.hint })}
      </p>
      <label htmlFor={id} className="text-sm font-medium">
        {say.keys.oldKey}
      </label>
      <select
        id={id}
        value={days}
        className="min-h-9 w-full rounded-lg border border-muted bg-page px-2 text-base pointer-coarse:min-h-11"
        onChange={({ target }) => setDays(Number(target.value))}
      >
        {overlaps.map((count) => (
          <option key={count} value={count}>
            {count === 0 ? say.keys.endsAtOnce : say.keys.worksFor(count)}
          </option>
        ))}
      </select>
    </KeyDialog>
  )
}
