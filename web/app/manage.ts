import type { Boot } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import type { IconName } from '../ui/icon.tsx'
import type { Route } from './route.ts'

/** A view of the area Manage, in its sidebar. */
export interface ManageEntry {
  readonly view: Exclude<Route['view'], 'chat' | 'compare'>
  readonly icon: IconName
  /** Default: every owner sees it. */
  readonly isShown?: (boot: Boot) => boolean
}

/** The sidebar of Manage. A new view gets a line here, one in route.ts and one in other-views.tsx. */
export const manageGroups: readonly { readonly title: string; readonly entries: readonly ManageEntry[] }[] = [
  {
    title: say.common.models,
    entries: [
      { view: 'providers', icon: 'server' },
      { view: 'models', icon: 'box' },
      { view: 'requests', icon: 'list' },
      { view: 'usage', icon: 'chart', isShown: ({ hasUsage }) => hasUsage === true },
    ],
  },
  {
    title: say.manage.access,
    entries: [
      { view: 'people', icon: 'users', isShown: (boot) => boot.hasPeople === true || maySetUpSignIn(boot) },
      { view: 'keys', icon: 'key', isShown: ({ hasKeys }) => hasKeys === true },
      { view: 'limits', icon: 'shield', isShown: ({ hasLimits }) => hasLimits === true },
      { view: 'audit', icon: 'clock', isShown: ({ hasKeys }) => hasKeys === true },
    ],
  },
]

/** Whether an owner may have people sign in, since no one does. */
export function maySetUpSignIn({ isOwner, isClosed, hasPeople, user }: Boot): boolean {
  return isOwner && !isClosed && hasPeople !== true && user === undefined
}

/** Whether a view is in the area Manage, which only owners have. */
export function isManaged({ view }: Pick<Route, 'view'>, { isOwner }: Pick<Boot, 'isOwner'>): boolean {
  return isOwner && view !== 'chat' && view !== 'compare'
}
