import type { ReactNode } from 'react'
import { lazily } from '../ui/lazily.tsx'
import { Loading } from '../ui/loading.tsx'
import type { Route } from './route.ts'

const placeholder = <Loading />
const ownerViews = () => import('./owner-views.ts')
const accessViews = () => import('./access-views.ts')
const CompareView = lazily(async () => (await import('../compare/compare-page.ts')).CompareView, { placeholder })
const ProvidersView = lazily(async () => (await import('../providers/providers-view.tsx')).ProvidersView, {
  placeholder,
})
const RequestsView = lazily(async () => (await ownerViews()).RequestsView, { placeholder })
const UsageView = lazily(async () => (await ownerViews()).UsageView, { placeholder })
const KeysView = lazily(async () => (await accessViews()).KeysView, { placeholder })
const LimitsView = lazily(async () => (await accessViews()).LimitsView, { placeholder })
const AuditView = lazily(async () => (await accessViews()).AuditView, { placeholder })

/** Every view but the chat. Each is loaded when it is opened. */
export function OtherView({ route }: { readonly route: Route }): ReactNode {
  switch (route.view) {
    case 'chat':
      return null
    case 'compare':
      return <CompareView />
    case 'providers':
      return <ProvidersView />
    case 'requests':
      return <RequestsView {...(route.id === undefined ? {} : { id: route.id })} />
    case 'usage':
      return <UsageView />
    case 'keys':
      return <KeysView />
    case 'limits':
      return <LimitsView />
    case 'audit':
      return <AuditView />
  }
}
