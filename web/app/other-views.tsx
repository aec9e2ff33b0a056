import type { ReactNode } from 'react'
import type { Route } from './route.ts'
import { lazyView } from './view.tsx'

const ownerViews = () => import('./owner-views.ts')
const accessViews = () => import('./access-views.ts')
const CompareView = lazyView(async () => (await import('../compare/compare-page.ts')).CompareView)
const ProvidersView = lazyView(async () => (await import('../providers/providers-view.tsx')).ProvidersView)
const AddProviderView = lazyView(async () => (await import('../providers/add-view.tsx')).AddView)
const ModelsView = lazyView(async () => (await import('../models/models-view.tsx')).ModelsView)
const RequestsView = lazyView(async () => (await ownerViews()).RequestsView)
const UsageView = lazyView(async () => (await ownerViews()).UsageView)
const KeysView = lazyView(async () => (await accessViews()).KeysView)
const LimitsView = lazyView(async () => (await accessViews()).LimitsView)
const PeopleView = lazyView(async () => (await accessViews()).PeopleView)
const AuditView = lazyView(async () => (await accessViews()).AuditView)

/** Every view but the chat. Each is loaded when it is opened. */
export function OtherView({ route }: { readonly route: Route }): ReactNode {
  switch (route.view) {
    case 'chat':
      return null
    case 'compare':
      return <CompareView />
    case 'providers':
      return route.id === 'add' ? <AddProviderView /> : <ProvidersView />
    case 'models':
      return <ModelsView />
    case 'requests':
      return <RequestsView {...(route.id === undefined ? {} : { id: route.id })} />
    case 'usage':
      return <UsageView />
    case 'keys':
      return <KeysView {...(route.id === undefined ? {} : { id: route.id })} />
    case 'limits':
      return <LimitsView {...(route.id === undefined ? {} : { id: route.id })} />
    case 'people':
      return <PeopleView />
    case 'audit':
      return <AuditView />
  }
}
