import type { ReactNode } from 'react'
import type { VersionPlace } from '../history/tree.ts'
import { formatCount } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import { IconButton } from '../ui/button.tsx'

/** Props of {@link Versions}. */
export interface VersionsProps extends VersionPlace {
  /** Shows the next version, or with -1 the one before. Both begin again at the other end. */
  readonly onStep: (step: 1 | -1) => void
}

/** Below a message: which of its versions is shown, and buttons for the others. */
export function Versions({ version, count, onStep }: VersionsProps): ReactNode {
  return (
    <div role="group" aria-label={say.chat.versions} className="flex items-center text-sm text-muted">
      <IconButton label={say.chat.previousVersion} icon="chevron" className="rotate-90" onClick={() => onStep(-1)} />
      <span className="tabular-nums" aria-hidden="true">
        {version}/{count}
      </span>
      <span className="sr-only">{say.chat.versionOf(formatCount(version), formatCount(count))}</span>
      <IconButton label={say.chat.nextVersion} icon="chevron" className="-rotate-90" onClick={() => onStep(1)} />
    </div>
  )
}
