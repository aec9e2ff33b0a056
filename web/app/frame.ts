import { createContext, type RefObject } from 'react'
import type { Parts } from './parts.ts'

/** The state of the page's frame. */
export interface Frame {
  readonly parts: Parts
  readonly isSidebarOpen: boolean
  readonly sidebarButton: RefObject<HTMLButtonElement | null>
  readonly onSidebar: () => void
  readonly onShortcuts: () => void
}

/** The frame around the views. */
export const FrameContext = createContext<Frame | undefined>(undefined)
