import { createContext, useContext, type ReactNode, type RefObject } from 'react'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { IconButton } from '../ui/button.tsx'
import { lazily } from '../ui/lazily.tsx'
import type { Parts } from './parts.ts'

const UserMenu = lazily(async () => (await import('./user-menu.tsx')).UserMenu, {
  placeholder: <span className="size-9 pointer-coarse:size-11" />,
  failed: (retry) => <IconButton label={say.app.loadAccountMenu} icon="user" onClick={retry} />,
})

/** The state of the page's frame. */
export interface Frame {
  readonly parts: Parts
  readonly isSidebarOpen: boolean
  readonly sidebarButton: RefObject<HTMLButtonElement | null>
  readonly onSidebar: () => void
}

/** The frame around the views. */
export const FrameContext = createContext<Frame | undefined>(undefined)

/** The bar of a view: the button of the sidebar, the view's own tools, the account menu. */
export function Bar({ children }: { readonly children: ReactNode }): ReactNode {
  const frame = useContext(FrameContext)
  const {
    boot: { user, hasKeys },
  } = useServices()
  if (frame === undefined) return null
  const { parts, isSidebarOpen, sidebarButton, onSidebar } = frame
  return (
    <header className="sticky top-0 z-3 flex h-13 shrink-0 items-center gap-1 border-b border-line bg-panel px-2">
      <IconButton
        ref={sidebarButton}
        label={isSidebarOpen ? say.common.hideSidebar : say.app.showSidebar}
        icon="menu"
        aria-expanded={isSidebarOpen}
        aria-controls="sidebar"
        onClick={onSidebar}
      />
      <div className="flex min-w-0 flex-1 items-center gap-1">{children}</div>
      {user === undefined ? null : <UserMenu user={user} hasKeys={hasKeys === true} items={parts.userMenu} />}
    </header>
  )
}
