import { useState, type ReactNode } from 'react'
import type { User } from '../../src/http/page/page-api.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import type { MenuAction, MenuItem, MenuQuestion } from '../slots.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Menu, type MenuEntry } from '../ui/menu.tsx'
import { displayNameOf } from './display-name.ts'
import { QuestionDialog } from './question-dialog.tsx'
import { restartOtherTabs, restartPage } from './restart-page.ts'
import { navigate } from './route.ts'

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
      setFailure(messageOf(error))
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

/** Initials: the first letters of the first and the last word. */
function initialsOf(user: Pick<User, 'displayName' | 'userName'>): string {
  const words = displayNameOf(user).trim().split(/\s+/)
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '')
  return letters.join('').toUpperCase()
}

/** A user's picture, or initials if there is no picture or it does not load. */
function Avatar({ user, size = 'size-8' }: { readonly user: User; readonly size?: string }): ReactNode {
  const [failedUrl, setFailedUrl] = useState<string>()
  if (!user.avatarUrl.startsWith('https:') || failedUrl === user.avatarUrl) {
    // The initials are CSS content, so they are no part of an accessible name.
    return (
      <span
        aria-hidden="true"
        data-initials={initialsOf(user)}
        className={
          'inline-flex shrink-0 items-center justify-center rounded-full bg-accent text-xs font-semibold ' +
          `text-on-accent before:content-[attr(data-initials)] ${size}`
        }
      />
    )
  }
  return (
    <img
      src={user.avatarUrl}
      alt=""
      referrerPolicy="no-referrer"
      className={`shrink-0 rounded-full object-cover ${size}`}
      onError={() => setFailedUrl(user.avatarUrl)}
    />
  )
}
