import type { HistoryAnswer, HistoryBodies, HistoryVersion } from '../../../src/http/page/page-api.ts'
import { ApiError, type ApiClient } from '../../api/client.ts'
import type { Conversation } from '../conversation.ts'

/** The conversations of the user at the service. */
export interface HistoryClient {
  changes(after: number, isWhole: boolean): Promise<HistoryAnswer>
  /** Some of these conversations, at least one of those that there are. */
  read(ids: readonly string[]): Promise<HistoryBodies['conversations']>
  /** @returns the new version; `conflict`: the service has another one than `base`; `refused`: it is too large */
  write(conversation: Conversation, base: number): Promise<number | 'conflict' | 'refused'>
  /** @returns whether it was removed; `false`: the service has another version than `base` */
  remove(id: string, base: number): Promise<boolean>
  /** Removes all conversations whose last change has at most this number. */
  clear(until: number): Promise<void>
}

/** Ids that the service reads at once. */
export const idsAtOnce = 50

/** The routes below `/api/history`. Rejects as {@link ApiClient.fetch}. */
export function historyClient(client: Pick<ApiClient, 'fetch' | 'get' | 'post'>): HistoryClient {
  const pathOf = (id: string, base: number): string =>
    `/api/history/conversations/${encodeURIComponent(id)}?base=${base}`
  return {
    changes: (after, isWhole) => client.get(`/api/history?after=${after}${isWhole ? '&whole=1' : ''}`),
    async read(ids) {
      return (await client.post<HistoryBodies>('/api/history/read', { ids })).conversations
    },
    async write(conversation, base) {
      try {
        return (await client.post<HistoryVersion>(pathOf(conversation.id, base), conversation)).version
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (error.status === 409) return 'conflict'
        if (error.status === 413 || error.status === 400) return 'refused'
        throw error
      }
    },
    async remove(id, base) {
      try {
        await client.fetch(pathOf(id, base), { method: 'DELETE' })
        return true
      } catch (error) {
        if (error instanceof ApiError && error.status === 409) return false
        throw error
      }
    },
    async clear(until) {
      await client.fetch(`/api/history?until=${until}`, { method: 'DELETE' })
    },
  }
}
