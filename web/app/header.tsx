import type { ReactNode, RefObject } from 'react'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { lazily } from '../ui/lazily.tsx'
import { Menu } from '../ui/menu.tsx'
import type { Parts } from './parts.ts'
import { hrefOf, titleOf, useRoute, type Route } from './route.ts'
import { chooseTheme, theme, type Theme } from './theme.ts'

const UserMenu = lazily(async () => (await import('./user-menu.tsx')).UserMenu, {
  placeholder: <span className="size-9 pointer-coarse:size-11" />,
  failed: (retry) => <IconButton label="Load the account menu" icon="user" onClick={retry} />,
})

const views = [
  ['chat', 'chat'],
  ['providers', 'server'],
  ['requests', 'list'],
  ['usage', 'chart'],
] as const satisfies readonly (readonly [Route['view'], IconName])[]

/** Props of {@link Header}. */
export interface HeaderProps {
  readonly parts: Parts
  readonly hasSidebar: boolean
  readonly isSidebarOpen: boolean
  readonly sidebarButton: RefObject<HTMLButtonElement | null>
  readonly onSidebar: () => void
  readonly onShortcuts: () => void
}

/** The top bar: links to the views, then shortcuts, theme and account menu. */
export function Header({
  parts,
  hasSidebar,
  isSidebarOpen,
  sidebarButton,
  onSidebar,
  onShortcuts,
}: HeaderProps): ReactNode {
  const {
    boot: { user, isOwner, hasUsage, hasKeys, hasLimits },
  } = useServices()
  const route = useRoute()
  const chosen = useStore(theme)
  return (
    <header className="flex h-13 shrink-0 items-center gap-1 border-b border-line bg-panel px-2">
      {hasSidebar ? (
        <IconButton
          ref={sidebarButton}
          label={isSidebarOpen ? 'Hide conversations' : 'Show conversations'}
          icon="menu"
          aria-expanded={isSidebarOpen}
          aria-controls="sidebar"
          onClick={onSidebar}
        />
      ) : null}
      <nav aria-label="Views" className="flex gap-1">
        {views.slice(0, hasUsage === true ? 4 : 3).map(([view, icon]) => (
          <a
            key={view}
            href={hrefOf({ view })}
            aria-current={route.view === view ? 'page' : undefined}
            className={
              'inline-flex min-h-9 items-center gap-2 rounded-lg px-2.5 text-sm font-medium hover:bg-hover ' +
              'pointer-coarse:min-h-11 pointer-coarse:min-w-11 pointer-coarse:justify-center ' +
              (route.view === view ? 'bg-hover text-ink' : 'text-muted')
            }
          >
            <Icon name={icon} className="size-4" />
            <span className="max-sm:sr-only">{titleOf(view)}</span>
          </a>
        ))}
      </nav>
      <div className="ml-auto flex items-center gap-1">
        <IconButton label="Keyboard shortcuts" icon="keyboard" className="max-sm:hidden" onClick={onShortcuts} />
        <Menu
          label={`Theme: ${chosen}`}
          icon={chosen === 'dark' ? 'moon' : 'sun'}
          items={(['system', 'light', 'dark'] as const).map((each) => ({
            label: themeLabels[each],
            ...(each === chosen ? { icon: 'check' as const } : {}),
            run: () => chooseTheme(each),
          }))}
        />
        {user === undefined ? null : (
          <UserMenu
            user={user}
            isOwner={isOwner}
            hasKeys={hasKeys === true}
            hasLimits={hasLimits === true}
            items={parts.userMenu}
          />
        )}
      </div>
    </header>
  )
}

const themeLabels: Readonly<Record<Theme, string>> = { system: 'As the system', light: 'Light', dark: 'Dark' }
