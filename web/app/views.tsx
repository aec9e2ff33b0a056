import type { ReactNode } from 'react'
import { useServices } from '../services.ts'
import { createStore, useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { chooseLanguage, languageChoice, languageNames, type LanguageChoice } from './language.ts'
import { hrefOf, titleOf, useRoute, type Route } from './route.ts'

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
      <nav aria-label={say.app.views} className="grid flex-1 grid-cols-2 gap-x-1">
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
        <IconButton
          label={say.common.keyboardShortcuts}
          icon="keyboard"
          className="max-sm:hidden"
          onClick={onShortcuts}
        />
        <Menu
          label={say.app.language(languageLabels[languageChoice()])}
          icon="globe"
          items={(['browser', 'en', 'de'] as const).map((each) => ({
            label: languageLabels[each],
            ...(each === languageChoice() ? { icon: 'check' as const } : {}),
            run: () => chooseLanguage(each),
          }))}
        />
        <Menu
          label={say.app.theme(themeNames[chosen])}
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

const languageLabels: Readonly<Record<LanguageChoice, string>> = { browser: say.app.likeBrowser, ...languageNames }
const themeNames: Readonly<Record<Theme, string>> = say.app.themes
const themeLabels: Readonly<Record<Theme, string>> = {
  system: say.app.likeSystem,
  light: say.app.light,
  dark: say.app.dark,
}

/** The chosen theme. `system` follows the operating system. */
type Theme = 'system' | 'light' | 'dark'

const key = 'svc-theme'

/** The current theme. web/first.ts sets it before the first paint. */
const theme = createStore<Theme>(readTheme())

function readTheme(): Theme {
  const chosen = document.documentElement.dataset['theme']
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

/** Sets the theme, and remembers it in this browser. */
function chooseTheme(next: Theme): void {
  theme.set(next)
  if (next === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = next
  try {
    if (next === 'system') localStorage.removeItem(key)
    else localStorage.setItem(key, next)
  } catch {
    // Storage is forbidden: the theme lasts until the page is closed.
  }
}
