import type { PointerEvent } from 'react'
import type { ProviderEntry, ProviderTest, WantedProviderChange } from '../../src/http/page/page-api.ts'

/** `locked`: there is no file to change. `readonly`: the user may not change it. */
export type RowMode = 'editable' | 'locked' | 'readonly'

export interface ProviderRowProps {
  readonly provider: ProviderEntry
  /** Position in the order of failover, from 1. */
  readonly place: number
  readonly count: number
  readonly mode: RowMode
  readonly test: ProviderTest | 'running' | undefined
  /** Where the row that is being dragged would be dropped: before or after this one. */
  readonly drop: 'before' | 'after' | undefined
  readonly isDragged: boolean
  readonly onChange: (change: WantedProviderChange) => void
  /** Absent: the user may not change the settings of providers. */
  readonly onEdit?: () => void
  /** Absent: the user may not remove providers. */
  readonly onRemove?: () => void
  /** Writes a key and tests the provider. Absent: keys cannot be typed here. */
  readonly onKey?: (key: string) => void
  readonly onTest: () => void
  readonly onGrab: (event: PointerEvent) => void
}
