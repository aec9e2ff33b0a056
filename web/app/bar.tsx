import { useContext, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { IconButton } from '../ui/button.tsx'
import { lazily } from '../ui/lazily.tsx'
import { FrameContext } from './frame.ts'

const AccountMenu = lazily(async () => (await import('./account-menu.tsx')).AccountMenu, {
  placeholder: <span className="size-9 pointer-coarse:size-11" />,
  failed: (retry) => <IconButton label={say.app.loadAccountMenu} icon="user" onClick={retry} />,
})

/**
 * The bar of a view: the button of the sidebar while that is closed, the view's title and tools, the account menu.
 *
 * @param isPlain the view has a title and actions, as in Manage. The chat has none of its lines
 */
export function Bar({
  isPlain = false,
  children,
}: {
  readonly isPlain?: boolean
  readonly children: ReactNode
}): ReactNode {
  const frame = useContext(FrameContext)
  if (frame === undefined) return null
  const { isSidebarOpen, sidebarButton, onSidebar } = frame
  const look = isPlain ? 'border-line ps-4 max-lg:ps-2 lg:ps-6 xl:ps-8' : 'border-transparent px-2'
  return (
    <header
      data-bar={isPlain ? 'plain' : ''}
      className={`sticky top-0 z-3 flex h-13 shrink-0 items-center gap-1 border-b bg-page pe-3 max-lg:pe-2 ${look}`}
    >
      {isSidebarOpen ? null : (
        <IconButton
          ref={sidebarButton}
          label={say.app.showSidebar}
          icon="menu"
          aria-expanded={false}
          aria-controls="sidebar"
          onClick={onSidebar}
        />
      )}
      <div className="flex min-w-0 flex-1 items-center gap-1">{children}</div>
      <AccountMenu frame={frame} />
    </header>
  )
}
