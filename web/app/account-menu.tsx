import { useState, type ReactNode } from 'react'
import type { Boot, User } from '../../src/http/page/page-api.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import type { MenuItem } from '../slots.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Menu, type MenuChoice, type MenuEntry } from '../ui/menu.tsx'
import { Avatar } from './avatar.tsx'
import { displayNameOf } from './display-name.ts'
import type { Frame } from './frame.ts'
import { chooseLanguage, languageChoice, languageNames } from './language.ts'
import { maySetUpSignIn } from './manage.ts'
import { restartOtherTabs, restartPage } from './restart-page.ts'
import { navigate } from './route.ts'
import { chooseTheme, theme } from './theme.ts'

/**
 * The menu at the top right: theme and language, own keys and use, the list of keys, and the items of extensions, such
 * as signing out.
 */
export function AccountMenu({ frame: { parts, onShortcuts } }: { readonly frame: Frame }): ReactNode {
  const { boot, synced } = useServices()
  const { user } = boot
  const [failure, setFailure] = useState<string>()
  const choices = [useThemeChoice(), languages]

  async function run(item: MenuItem): Promise<void> {
    try {
      const removeCopy = await synced?.leave()
      await item.run()
      await removeCopy?.()
      restartOtherTabs()
      restartPage()
    } catch (error) {
      setFailure(messageOf(error))
    }
  }

  const ofExtensions = parts.userMenu.map((item, index) => ({
    label: item.label,
    icon: item.icon ?? 'leave',
    isApart: index === 0,
    run: () => void run(item),
  }))
  const ofPages = parts.userLinks.map(({ label, path }): MenuEntry => ({
    ...{ label, icon: 'tool' },
    run: () => location.assign(path),
  }))
  return (
    <>
      <Menu
        {...(user === undefined
          ? { label: say.app.menu, icon: 'gear' }
          : {
              label: say.app.accountOf(displayNameOf(user)),
              trigger: <Avatar user={user} />,
              header: <Profile user={user} />,
            })}
        choices={choices}
        items={[
          ...ownViews(boot).map((item, index) => ({ ...item, isApart: index === 0 })),
          ...(maySetUpSignIn(boot) ? [letSignIn] : []),
          ...ofPages,
          { label: say.app.keyboard, icon: 'keyboard', keys: '?', run: onShortcuts },
          ...ofExtensions,
        ]}
      />
      <Dialog
        title={say.app.didNotWork}
        isOpen={failure !== undefined}
        onClose={() => setFailure(undefined)}
        footer={<Button onClick={() => setFailure(undefined)}>{say.common.close}</Button>}
      >
        <p>{failure}</p>
      </Dialog>
    </>
  )
}

/** Links to a person's own data. Owners find it in Manage, except for their keys. */
function ownViews({ isOwner, hasUsage, hasKeys }: Boot): readonly MenuEntry[] {
  return [
    ...(hasKeys === true ? [ownKeys] : []),
    ...(isOwner ? [] : [ownRequests]),
    ...(isOwner || hasUsage !== true ? [] : [ownUsage]),
  ]
}

const letSignIn: MenuEntry = { label: say.app.letSignIn, icon: 'users', run: () => navigate({ view: 'people' }) }
const ownKeys: MenuEntry = { label: say.app.yourKeys, icon: 'key', run: () => navigate({ view: 'keys' }) }
const ownRequests: MenuEntry = { label: say.app.yourRequests, icon: 'list', run: () => navigate({ view: 'requests' }) }
const ownUsage: MenuEntry = { label: say.app.yourUsage, icon: 'chart', run: () => navigate({ view: 'usage' }) }

function useThemeChoice(): MenuChoice {
  const chosen = useStore(theme)
  return {
    label: say.app.theme,
    options: (['system', 'light', 'dark'] as const).map((each) => ({
      label: say.app.themes[each],
      isChosen: each === chosen,
      run: () => chooseTheme(each),
    })),
  }
}

/** Short names of languages are not translated. */
const languages: MenuChoice = {
  label: say.app.language,
  options: (['browser', 'en', 'de'] as const).map((each) => ({
    label: each === 'browser' ? say.app.likeBrowser : languageNames[each],
    isChosen: each === languageChoice(),
    run: () => chooseLanguage(each),
  })),
}

function Profile({ user }: { readonly user: User }): ReactNode {
  return (
    <div className="flex items-center gap-3 border-b border-line p-3">
      <Avatar user={user} size="size-10" />
      <div className="max-h-[40dvh] max-w-64 min-w-0 overflow-y-auto text-sm [overflow-wrap:anywhere]">
        <p className="font-medium">{displayNameOf(user)}</p>
        <p className="text-muted">{user.userName}</p>
        {user.email === '' ? null : <p className="text-muted">{user.email}</p>}
      </div>
    </div>
  )
}
