import type { RequestEntry } from '../../src/observe/request-entry.ts'
import { ApiError, type ApiClient } from '../api/client.ts'

/** Waits before each attempt. The service notices a closed connection a little later. */
const waitsMs = { afterEnd: [0, 300, 1_500], afterStop: [300, 1_500] } as const

/** Fetches the service's record of a request. Resolves with `undefined` if there is no record. Never rejects. */
export async function requestRecord(
  client: Pick<ApiClient, 'get'>,
  id: string,
  moment: keyof typeof waitsMs,
  wait: (ms: number) => Promise<void>,
): Promise<RequestEntry | undefined> {
  for (const ms of waitsMs[moment]) {
    if (ms > 0) await wait(ms)
    try {
      return await client.get<RequestEntry>(`/api/requests/${id}`)
    } catch (error) {
      // The page's own measurements are used instead.
      if (!(error instanceof ApiError) || error.status !== 404) return undefined
    }
  }
  return undefined
}
