import { createContext, use } from 'react'
import type { Boot } from '../src/http/page-api.ts'
import type { ApiClient } from './api/client.ts'
import type { HistoryStore } from './history/conversation.ts'
import type { ModelsStore } from './models/models-store.ts'

/** What every view may reach. */
export interface Services {
  readonly boot: Boot
  readonly client: ApiClient
  readonly history: HistoryStore
  readonly models: ModelsStore
}

/** Where the services come from. */
export const ServicesContext = createContext<Services | undefined>(undefined)

/** The services, in a component. @throws outside of the page's frame */
export function useServices(): Services {
  const services = use(ServicesContext)
  if (services === undefined) throw new Error('there are no services here')
  return services
}
