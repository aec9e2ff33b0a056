import { createContext, use } from 'react'
import type { Boot } from '../src/http/page/page-api.ts'
import type { ApiClient } from './api/client.ts'
import type { HistoryStore } from './history/conversation.ts'
import type { SyncedHistory } from './history/server/open-synced-history.tsx'
import type { ModelsStore } from './models/models-store.ts'

/** Services available to every view. */
export interface Services {
  readonly boot: Boot
  readonly client: ApiClient
  readonly history: HistoryStore
  /** Opens a history of the same user besides {@link Services.history}. */
  readonly openHistory: (name: string) => Promise<HistoryStore>
  readonly models: ModelsStore
  /** Conversations are at the service, too. */
  readonly synced?: SyncedHistory
  /** The page was started without the service, from the last visit. */
  readonly isOffline: boolean
}

/** React context of the {@link Services}. */
export const ServicesContext = createContext<Services | undefined>(undefined)

/** Returns the services, in a component. @throws outside of {@link ServicesContext} */
export function useServices(): Services {
  const services = use(ServicesContext)
  if (services === undefined) throw new Error('there are no services here')
  return services
}
