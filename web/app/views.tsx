import type { ReactNode } from 'react'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { hrefOf, titleOf, useRoute, type Route } from './route.ts'
import { chooseTheme, theme, type Theme } from './theme.ts'

/** The end of the sidebar: links to the views that this user may see, then theme and shortcuts. */
export function Views({ onShortcuts }: { readonly onShortcuts: () => void }): ReactNode {
  const {
    boot: { isOwner, hasUsage, hasKeys, hasLimits },
  } = useServices()
  const route = useRoute()
  const chosen = useStore(theme)
  const views: readonly (readonly [Route['view'], IconName, boolean?])[] = [
    ['chat', 'chat'],
    ['compare', 'columns'],
    ['providers', 'server'],
    ['requests', 'list'],
    ['usage', 'chart', hasUsage === true],
    ['limits', 'sliders', hasLimits === true],
    ['audit', 'clock', isOwner && hasKeys === true],
  ]
  return (
    <div className="flex shrink-0 items-end gap-1 border-t border-line p-2">
      <nav aria-label="Views" className="grid flex-1 grid-cols-2 gap-x-1">
        {views.map(([view, icon, isShown = true]) =>
          isShown ? (
            <a
              key={view}
              href={hrefOf({ view })}
              aria-current={route.view === view ? 'page' : undefined}
              className={
                'inline-flex min-h-9 items-center gap-2 rounded-lg px-2 text-sm hover:bg-hover ' +
                `pointer-coarse:min-h-11 ${route.view === view ? 'bg-hover font-medium' : 'text-muted'}`
              }
            >
              <Icon name={icon} className="size-4" />
              {titleOf(view)}
            </a>
          ) : null,
        )}
      </nav>
      <div className="flex flex-col">
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
      </div>
    </div>
  )
}

const themeLabels: Readonly<Record<Theme, string>> = { system: 'As the system', light: 'Light', dark: 'Dark' }
