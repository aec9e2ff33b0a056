import type { ReactNode } from 'react'
import type { ProviderEntry } from '../../src/http/page/page-api.ts'
import { useProviders } from '../providers/use-providers.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { Badge } from '../ui/badge.tsx'
import { formatCount } from '../ui/format.ts'
import { manageGroups } from './manage.ts'
import { hrefOf, titleOf, useRoute } from './route.ts'
import { SideRow } from './side-row.tsx'

const refreshMs = 30_000

/** Providers that are switched on and cannot answer: attempts failed, or a setting such as a key is missing. */
function inTrouble(providers: readonly ProviderEntry[]): readonly ProviderEntry[] {
  return providers.filter(({ state }) => state.kind === 'failing' || state.kind === 'unavailable')
}

/** The foot of the chat's sidebar, for owners: the way to Manage, with its worst fact. */
export function ManageRow(): ReactNode {
  const { answer } = useProviders(refreshMs)
  const troubled = inTrouble(answer?.providers ?? [])
  const failing = troubled.filter(({ state }) => state.kind === 'failing').length
  return (
    <SideRow href={hrefOf({ view: 'providers' })} icon="gear" label={say.manage.manage}>
      {troubled.length === 0 ? null : (
        <Badge tone="bad">{failing > 0 ? say.manage.failing(failing) : say.manage.notUsable(troubled.length)}</Badge>
      )}
    </SideRow>
  )
}

/** The views of Manage, in groups. */
export function ManageRows(): ReactNode {
  const { boot } = useServices()
  const route = useRoute()
  const { answer } = useProviders(refreshMs)
  const troubled = inTrouble(answer?.providers ?? []).length
  return (
    <nav aria-label={say.manage.manage} className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
      {manageGroups.map(({ title, entries }) => {
        const shown = entries.filter(({ isShown }) => isShown?.(boot) !== false)
        return shown.length === 0 ? null : (
          <div key={title}>
            <h2 className="px-2 pt-4 pb-1 text-xs font-medium text-muted">{title}</h2>
            {shown.map(({ view, icon }) => (
              <SideRow
                key={view}
                href={hrefOf({ view })}
                icon={icon}
                label={titleOf(view)}
                isCurrent={route.view === view}
              >
                {view === 'providers' && troubled > 0 ? (
                  <Badge tone="bad">
                    {formatCount(troubled)}
                    <span className="sr-only"> {say.manage.inTrouble}</span>
                  </Badge>
                ) : null}
              </SideRow>
            ))}
          </div>
        )
      })}
    </nav>
  )
}
