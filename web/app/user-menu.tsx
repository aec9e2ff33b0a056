import { useState, type ReactNode } from 'react'
import type { User } from '../../src/http/page/page-api.ts'
import { useServices } from '../services.ts'
import type { MenuAction, MenuItem, MenuQuestion } from '../slots.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Menu, type MenuEntry } from '../ui/menu.tsx'
import { Avatar } from './avatar.tsx'
import { displayNameOf } from './display-name.ts'
import { QuestionDialog } from './question-dialog.tsx'
import { restartPage, restartOtherTabs } from './restart-page.ts'
import { navigate } from './route.ts'

/** Props of {@link UserMenu}. */
interface UserMenuProps {
  readonly user: User
  /** The user may have keys. */
  readonly hasKeys: boolean
  readonly items: readonly MenuItem[]
}

const ownKeys: MenuEntry = { label: say.app.yourKeys, icon: 'key', run: () => navigate({ view: 'keys' }) }

/** The account menu at the top right: the user, and the items of extensions, such as signing out. */
export function UserMenu({ user, hasKeys, items }: UserMenuProps): ReactNode {
  const { boot, synced } = useServices()
  const { isOwner } = boot
  const [failure, setFailure] = useState<string>()
  const [question, setQuestion] = useState<MenuQuestion>()
  const shown = items.filter((item) => isOwner || !('answer' in item) || item.isForOwners !== true)

  async function run(item: MenuAction): Promise<void> {
    try {
      const removeCopy = await synced?.leave()
      await item.run()
      await removeCopy?.()
      restartOtherTabs()
      restartPage()
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error))
    }
  }

  return (
    <>
      <Menu
        label={say.app.accountOf(displayNameOf(user))}
        trigger={<Avatar user={user} />}
        header={<Profile user={user} />}
        items={[
          ...(hasKeys ? [ownKeys] : []),
          ...shown.map((item) => ({
            label: item.label,
            icon: 'leave' as const,
            run: () => ('answer' in item ? setQuestion(item) : void run(item)),
          })),
        ]}
      />
      {question === undefined ? null : <QuestionDialog question={question} onClose={() => setQuestion(undefined)} />}
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
