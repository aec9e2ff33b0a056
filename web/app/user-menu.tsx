import { useState, type ReactNode } from 'react'
import type { User } from '../../src/http/page-api.ts'
import type { MenuItem } from '../slots.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Menu } from '../ui/menu.tsx'
import { Avatar } from './avatar.tsx'
import { displayNameOf } from './display-name.ts'
import { startAnew, startOthersAnew } from './start-anew.ts'

/** The avatar at the top right; behind it who is signed in, and what extensions add, such as signing out. */
export function UserMenu({ user, items }: { readonly user: User; readonly items: readonly MenuItem[] }): ReactNode {
  const [failure, setFailure] = useState<string>()

  async function run(item: MenuItem): Promise<void> {
    try {
      await item.run()
      startOthersAnew()
      startAnew()
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error))
    }
  }

  return (
    <>
      <Menu
        label={`Account of ${displayNameOf(user)}`}
        trigger={<Avatar user={user} />}
        header={<Profile user={user} />}
        items={items.map((item) => ({ label: item.label, icon: 'leave', run: () => void run(item) }))}
      />
      <Dialog
        title="That did not work"
        isOpen={failure !== undefined}
        onClose={() => setFailure(undefined)}
        footer={<Button onClick={() => setFailure(undefined)}>Close</Button>}
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
